import { ChainCursor, ChainRequests } from '../db/entities/index.ts';
import { poolUse } from '../db/pool-use.ts';
import { ASSETS, type Asset, MODES, NETWORKS } from '../domain/assets.ts';
import { formatUnits } from '../domain/money.ts';
import { readMoneyAtRest, readOpenDeposits } from '../services/ledger/money-at-rest.ts';
import { listLoopRuns } from '../services/loop-runs.ts';
import { ALARM_LABELS, readAlarms } from '../services/operations/conditions/conditions.ts';
import { readOutbox } from '../services/outbox/state.ts';
import { readPayoutFigures } from '../services/payouts/figures.ts';
import { countDifferences } from '../services/reconciliation/pass.ts';
import { withinTime } from '../services/time-limit.ts';
import { readDueDeliveries, readUnwellEndpoints } from '../services/webhooks/waiting.ts';
import type { Gateway } from './compose.ts';
import type { Metrics } from './metrics.ts';

/** What the figures are read from; a process without one of these parts reports nothing about it. */
export type Observed = Pick<Gateway, 'deps' | 'metrics'> &
  Partial<Pick<Gateway, 'link' | 'chains' | 'pools' | 'mainOrm' | 'healthOrm' | 'listOrm'>>;

/** Shorter than a scrape of Prometheus, which gives up after ten seconds. */
const PART_WITHIN_MS = 4_000;
/**
 * Each alarm is read separately, so that those that were read are reported
 * within the time limit for all of them.
 */
const ALARM_WITHIN_MS = 3_500;
/** An endpoint that has not been asked for longer than this is reported as neither well nor failing. */
const ENDPOINT_TOLD_WITHIN_MS = 5 * 60_000;
const USD_MICRO_DECIMALS = 6;

const PARTS = {
  heights: readHeights,
  money: readMoney,
  open_deposits: readOpen,
  payouts: readPayouts,
  webhooks: readWebhooks,
  endpoints: readEndpoints,
  alarms: readAlarmCounts,
  outbox: readOutboxAge,
  loops: readLoops,
  temporal: readTemporal,
} as const;

/**
 * Reads what PostgreSQL and Temporal know better than any process, and what this process knows of its
 * connections. Takes about four seconds at most, whatever does not answer, and never throws. Each part is
 * read separately: one that cannot be read keeps its last figures, is counted in
 * `gateway_metrics_unread_total`, and `gateway_metrics_read_timestamp_seconds` says how old it is.
 */
export async function refreshMetrics(observed: Observed): Promise<void> {
  const { deps, metrics } = observed;
  tellEndpoints(observed);
  await Promise.all(
    Object.entries(PARTS).map(async ([part, read]) => {
      metrics.metricsUnread.inc({ part }, 0);
      try {
        const complete = await withinTime({ limitMs: PART_WITHIN_MS }, () => read(observed), tooSlow);
        if (complete) metrics.metricsRead.set({ part }, deps.now().getTime() / 1_000);
        else metrics.metricsRead.inc({ part }, 0);
      } catch (error) {
        metrics.metricsRead.inc({ part }, 0);
        metrics.metricsUnread.inc({ part });
        deps.log.warn({ err: error, part }, 'a part of the metrics could not be read');
      }
    }),
  );
  // Last, so that the connections that the reading itself takes are free again.
  await tellPools(observed);
}

function tooSlow(cause: Error): Error {
  return new Error(`it took longer than ${PART_WITHIN_MS} ms`, { cause });
}

/** Covers the chains that this installation watches: a chain that was switched off stands still by choice. */
async function readHeights({ deps, metrics }: Observed): Promise<boolean> {
  const now = deps.now().getTime();
  const cursors = await deps.orm.em.fork().find(ChainCursor, {});
  const today = new Date(now).toISOString().slice(0, 10);
  const counted = await deps.orm.em.fork().find(ChainRequests, { day: today });
  const differences = await Promise.all(
    NETWORKS.map(async (network) => [network, await countDifferences(deps, network)] as const),
  );
  const { scanHeight, headHeight, finalizedHeight, verifiedHeight, scanLagBlocks } = metrics;
  const { chainRequests, verifiedAge } = metrics;
  const heights = [scanHeight, headHeight, finalizedHeight, verifiedHeight, scanLagBlocks];
  for (const gauge of [...heights, chainRequests, verifiedAge]) gauge.reset();
  for (const cursor of cursors) {
    const { network, scannedNumber, headNumber, finalizedNumber, verifiedNumber } = cursor;
    if (!deps.settings.payments.watchedNetworks.includes(network)) continue;
    chainRequests.set({ network }, counted.find((row) => row.network === network)?.used ?? 0);
    scanHeight.set({ network }, scannedNumber);
    headHeight.set({ network }, headNumber);
    finalizedHeight.set({ network }, finalizedNumber);
    verifiedHeight.set({ network }, verifiedNumber);
    scanLagBlocks.set({ network }, Math.max(0, headNumber - scannedNumber));
    const stillMs = finalizedNumber > verifiedNumber ? now - cursor.verifiedMovedAt.getTime() : 0;
    verifiedAge.set({ network }, Math.max(0, stillMs) / 1_000);
  }
  for (const [network, count] of differences) metrics.balanceDifferences.set({ network }, count);
  return true;
}

async function readMoney({ deps, metrics }: Observed): Promise<boolean> {
  tellMoney(metrics, ['completed', 'settled', 'held'], await readMoneyAtRest(deps));
  return true;
}

async function readOpen({ deps, metrics }: Observed): Promise<boolean> {
  const now = deps.now().getTime();
  const rows = await readOpenDeposits(deps);
  const states = ['detected', 'confirming'] as const;
  tellMoney(metrics, states, rows);
  for (const network of NETWORKS)
    for (const state of states) {
      const waiting = rows.filter((row) => row.network === network && row.state === state);
      const count = waiting.reduce((sum, row) => sum + row.count, 0);
      metrics.openDeposits.set({ network, state }, count);
      const oldestMs = Math.max(0, ...waiting.map(({ since }) => now - since.getTime()));
      metrics.depositOldest.set({ network, state }, oldestMs / 1_000);
    }
  return true;
}

type Sum = Pick<Asset, 'network' | 'currency'> & { readonly state: string; readonly units: bigint };

/** Of each asset and state, also where there is none. */
function tellMoney({ money }: Metrics, states: readonly string[], rows: readonly Sum[]): void {
  for (const { network, currency, decimals } of ASSETS)
    for (const state of states) {
      const found = rows.find(
        (row) => row.network === network && row.currency === currency && row.state === state,
      );
      money.set({ network, asset: currency, state }, +formatUnits(found?.units ?? 0n, decimals));
    }
}

async function readPayouts({ deps, metrics }: Observed): Promise<boolean> {
  const { waiting, signer, gas, costs } = await readPayoutFigures(deps);
  for (const { network, code, count } of waiting) metrics.payoutsWaiting.set({ network, code }, count);
  for (const gauge of [metrics.gasBalance, metrics.gasPayoutsLeft, metrics.settledCost]) gauge.reset();
  for (const { network, amount, payoutsLeft, isUsed } of gas) {
    if (amount !== null) metrics.gasBalance.set({ network }, +amount);
    if (payoutsLeft !== null && isUsed) metrics.gasPayoutsLeft.set({ network }, payoutsLeft);
  }
  for (const { network, microUsd } of costs)
    metrics.settledCost.set({ network }, +formatUnits(microUsd, USD_MICRO_DECIMALS));
  if (!signer) return true;
  metrics.signerSeen.set(signer.seenAt.getTime() / 1_000);
  if (signer.signedAt) metrics.signerSigned.set(signer.signedAt.getTime() / 1_000);
  metrics.signerSealed.set(signer.sealedCode == null ? 0 : 1);
  return true;
}

async function readWebhooks({ deps, metrics }: Observed): Promise<boolean> {
  for (const { mode, count, oldestMs } of await readDueDeliveries(deps)) {
    metrics.webhooksDue.set({ mode }, count);
    metrics.webhooksDueOldest.set({ mode }, oldestMs / 1_000);
  }
  return true;
}

async function readEndpoints({ deps, metrics }: Observed): Promise<boolean> {
  for (const { mode, failing, disabled, mostFailures } of await readUnwellEndpoints(deps)) {
    metrics.webhookEndpoints.set({ mode, state: 'failing' }, failing);
    metrics.webhookEndpoints.set({ mode, state: 'disabled' }, disabled);
    metrics.endpointFailures.set({ mode }, mostFailures);
  }
  return true;
}

async function readAlarmCounts({ deps, metrics }: Observed): Promise<boolean> {
  for (const kind of ALARM_LABELS) metrics.metricsUnread.inc({ part: `alarms: ${kind}` }, 0);
  const alarms = await readAlarms(deps, (reading) =>
    withinTime({ limitMs: ALARM_WITHIN_MS }, () => reading, tooSlow),
  );
  for (const { kind, count } of alarms) {
    if (count === undefined) metrics.metricsUnread.inc({ part: `alarms: ${kind}` });
    else metrics.alarms.set({ kind }, count);
  }
  // A count that cannot be read keeps its last value: an alarm never ends
  // because the database was too busy to say so.
  const { values } = await metrics.alarms.get();
  if (values.length > 0) metrics.needsOperator.set(values.reduce((sum, { value }) => sum + value, 0));
  return alarms.every(({ count }) => count !== undefined);
}

async function readOutboxAge({ deps, metrics }: Observed): Promise<boolean> {
  const { oldestMs, quarantined } = await readOutbox(deps);
  metrics.outboxOldest.set(oldestMs / 1_000);
  metrics.outboxQuarantined.set(quarantined.length);
  return true;
}

async function readLoops({ deps, metrics }: Observed): Promise<boolean> {
  const loops = await listLoopRuns(deps);
  metrics.loopAge.reset();
  for (const { name, ageMs } of loops) metrics.loopAge.set({ loop: name }, ageMs / 1_000);
  return true;
}

async function readTemporal({ deps, link, metrics }: Observed): Promise<boolean> {
  if (!link) return true;
  for (const { queue, kind, pollers, ...waiting } of await link.backlogs(
    deps.settings.payments.watchedNetworks,
  )) {
    metrics.pollers.set({ queue, kind }, pollers);
    for (const mode of MODES) {
      metrics.backlog.set({ queue, kind, mode }, waiting[mode].count);
      metrics.backlogAge.set({ queue, kind, mode }, waiting[mode].ageSeconds);
    }
  }
  return true;
}

/**
 * Only a worker asks its endpoints all the time; another process would
 * report for ever what it heard at its start.
 */
function tellEndpoints({ chains, pools, metrics }: Observed): void {
  if (!chains || !pools) return;
  for (const [network, chain] of chains) {
    const counts = { well: 0, failing: 0, not_asked: 0 };
    for (const { problem, toldMsAgo } of chain.endpoints()) {
      const isKnown = toldMsAgo !== null && toldMsAgo < ENDPOINT_TOLD_WITHIN_MS;
      counts[isKnown ? (problem === null ? 'well' : 'failing') : 'not_asked'] += 1;
    }
    for (const [state, count] of Object.entries(counts)) metrics.rpcEndpoints.set({ network, state }, count);
  }
}

async function tellPools({ mainOrm, listOrm, healthOrm, pools, metrics }: Observed): Promise<void> {
  for (const [pool, orm] of Object.entries({ main: mainOrm, lists: listOrm, health: healthOrm, ...pools })) {
    if (!orm) continue;
    const { inUse, idle, waiting, size } = await poolUse(orm);
    metrics.poolConnections.set({ pool, state: 'in_use' }, inUse);
    metrics.poolConnections.set({ pool, state: 'idle' }, idle);
    metrics.poolWaiting.set({ pool }, waiting);
    metrics.poolSize.set({ pool }, size);
  }
}
