import type { Middleware } from 'koa';
import type { Refusal } from './api/wire.ts';
import type { Gateway } from './compose.ts';
import { ChainCursor } from './db/entities/index.ts';
import type { Outcome } from './domain/webhook.ts';
import type { Metrics } from './metrics.ts';
import { readAlarms } from './services/alarms.ts';
import type { ChainReport } from './services/chain/report.ts';
import { countDifferences } from './services/chain/round.ts';
import type { Deps } from './services/deps.ts';
import { listLoopRuns } from './services/loop-runs.ts';
import { readOutbox } from './services/outbox.ts';
import { QuotaReached } from './services/quotas.ts';
import type { WebhookTransport } from './services/webhooks/transport.ts';

const NO_ROUTE = '(none)';

/**
 * Times every request by its route pattern, so that ids in paths do not become series. The status is the one that was sent, `aborted`
 * where the caller left before anything was: read when the answer leaves, because until then whatever is around may set another.
 */
export function observeHttp(metrics: Metrics): Middleware {
  return async (context, next) => {
    const startedAt = performance.now();
    const { method, res } = context;
    let isCounted = false;
    const count = (): void => {
      if (isCounted) return;
      isCounted = true;
      const route = String(context['_matchedRoute'] ?? NO_ROUTE);
      const status = res.headersSent ? String(res.statusCode) : 'aborted';
      metrics.httpSeconds.observe({ method, route, status }, (performance.now() - startedAt) / 1_000);
    };
    res.once('finish', count).once('close', count);
    try {
      await next();
    } finally {
      // The answer to a request that waited behind another one is never told that their connection is gone.
      if (context.req.socket.destroyed) count();
    }
  };
}

/** Counts the requests that a quota refused. */
export function observeQuotas(metrics: Metrics): Middleware {
  return async (_context, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof QuotaReached) metrics.quotaRefusals.inc({ quota: error.quota, mode: error.mode });
      throw error;
    }
  };
}

/** Counts what is refused before any route sees it. */
export function observeRefusal(metrics: Metrics): (refusal: Refusal) => void {
  return ({ method, status }) => metrics.httpSeconds.observe({ method: method ?? '(none)', route: NO_ROUTE, status: String(status) }, 0);
}

/** The same transport, counted. */
export function observeTransport(transport: WebhookTransport, metrics: Metrics): WebhookTransport {
  return {
    post: async (input) => {
      const outcome = await transport.post(input);
      metrics.webhookAttempts.inc({ class: classOf(outcome) });
      metrics.webhookSeconds.observe(outcome.durationMs / 1_000);
      return outcome;
    },
  };
}

/** What a watcher of this process reports, as metrics. Heights are read from the database instead, where every process sees them. */
export function observeChain(metrics: Metrics): ChainReport {
  return {
    foundLate: ({ network, deposits }) => metrics.foundLate.inc({ network }, deposits),
    differences: ({ network, count }) => metrics.balanceDifferences.set({ network }, count),
  };
}

function classOf(outcome: Outcome): string {
  if (outcome.kind === 'error') {
    if (outcome.code === 'TARGET_REFUSED') return 'refused_target';
    return outcome.code === 'TIMEOUT' ? 'timeout' : 'connection';
  }
  return outcome.status === 429 ? '429' : `${Math.floor(outcome.status / 100)}xx`;
}

/**
 * Reads what the database knows better than any process: heights, open deposits, alarms, the outbox and the loops. Each part by itself:
 * one that cannot be read keeps its last figures and is counted in `gateway_metrics_unread_total`. Never throws.
 */
export async function refreshMetrics({ deps, metrics }: Pick<Gateway, 'deps' | 'metrics'>): Promise<void> {
  const parts = { heights: readHeights, open: readOpenDeposits, alarms: readAlarmCounts, outbox: readOutboxAge, loops: readLoops };
  await Promise.all(
    Object.entries(parts).map(async ([part, read]) => {
      try {
        await read(deps, metrics);
      } catch (error) {
        metrics.metricsUnread.inc({ part });
        deps.log.warn({ err: error, part }, 'metrics of the database could not be read');
      }
    }),
  );
}

async function readHeights(deps: Deps, metrics: Metrics): Promise<void> {
  const now = deps.now().getTime();
  for (const cursor of await deps.orm.em.fork().find(ChainCursor, {})) {
    const { network, scannedNumber, headNumber, finalizedNumber, verifiedNumber } = cursor;
    metrics.scanHeight.set({ network }, scannedNumber);
    metrics.headHeight.set({ network }, headNumber);
    metrics.finalizedHeight.set({ network }, finalizedNumber);
    metrics.verifiedHeight.set({ network }, verifiedNumber);
    metrics.scanLagBlocks.set({ network }, Math.max(0, headNumber - scannedNumber));
    const stillMs = finalizedNumber > verifiedNumber ? now - cursor.verifiedMovedAt.getTime() : 0;
    metrics.verifiedAge.set({ network }, Math.max(0, stillMs) / 1_000);
    metrics.balanceDifferences.set({ network }, await countDifferences(deps, network));
  }
}

async function readOpenDeposits(deps: Deps, metrics: Metrics): Promise<void> {
  const open = await deps.orm.em
    .fork()
    .execute<{ network: string; status: string; count: string }[]>(
      `select network, status, count(*) as count from deposits where status in ('detected', 'confirming') and not simulated group by 1, 2`,
    );
  metrics.openDeposits.reset();
  for (const row of open) metrics.openDeposits.set({ network: row.network, state: row.status }, Number(row.count));
}

async function readAlarmCounts(deps: Deps, metrics: Metrics): Promise<void> {
  const alarms = await readAlarms(deps);
  for (const { kind, count } of alarms) {
    if (count === undefined) metrics.metricsUnread.inc({ part: `alarms: ${kind}` });
    else metrics.alarms.set({ kind }, count);
  }
  // What cannot be read keeps its last count: an alarm never ends because the database was too busy to say so.
  const { values } = await metrics.alarms.get();
  metrics.needsOperator.set(values.reduce((sum, { value }) => sum + value, 0));
}

async function readOutboxAge(deps: Deps, metrics: Metrics): Promise<void> {
  const { oldestMs, quarantined } = await readOutbox(deps);
  metrics.outboxOldest.set(oldestMs / 1_000);
  metrics.outboxQuarantined.set(quarantined.length);
}

async function readLoops(deps: Deps, metrics: Metrics): Promise<void> {
  const loops = await listLoopRuns(deps);
  metrics.loopAge.reset();
  for (const { name, ageMs } of loops) metrics.loopAge.set({ loop: name }, ageMs / 1_000);
}
