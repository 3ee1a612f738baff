import { ChainCursor, ReconciliationPass } from '../../../db/entities/index.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import type { ChainPart, ChainStop, Standstill } from '../../../domain/chain-stop.ts';
import { wrongClock } from '../../../domain/chain-stop.ts';
import type { Deps } from '../../deps.ts';
import type { Condition, ConditionKind } from './condition.ts';

/**
 * What comes and goes by itself is over sooner: an RPC endpoint that is left
 * alone for a while, a watcher that is handed over, a block that is late.
 */
const STANDS_AFTER_MS = 30_000;
/** And what is asked for only every so many blocks of a slow chain. */
const STANDS_AFTER_BLOCKS = 30;
/** A reconciliation pass may begin late, and a large one takes a while. */
const PASS_LATE_MS = 2 * 60 * 60_000;
/**
 * Without fast finality the chain still becomes final within two minutes (BEP-126); beyond that it stalls.
 */
const FINALITY_AFTER_MS = 3 * 60_000;
/**
 * Finality follows the head at some distance also when all is well: less than these blocks, and than this
 * time.
 */
const FINALITY_BEHIND = 100;
const FINALITY_BEHIND_MS = 2 * 60_000;
/** Longer than a worker takes from its start to its first poll. */
const READ_WITHIN_MS = 30_000;
const COMPARE_FINAL =
  'compare what each endpoint names as final with an explorer, take the one that is wrong out of the RPC URLs and restart the worker; "doctor" names them';
const LOOK_AT_WORKER =
  'see that a worker runs and reaches PostgreSQL and its RPC endpoints ("doctor" tells); it goes on from there by itself';

/** A part of the watching of a chain that stands still; the comparison with the ledger is in `balances`. */
export const chain: ConditionKind = {
  name: 'chain',
  label: 'chain',
  well: 'every part of every watched chain goes on',
  group: 'chains',
  read: async (deps) => {
    const [never, standing] = await Promise.all([neverRead(deps), watchedStandstills(deps)]);
    const others = standing.filter(({ part }) => part !== 'reconciliation');
    // Readiness has a reason of its own for a chain that was never read.
    const unread = never.map((one) => ({ ...conditionOf(one), urgent: false }));
    return { found: [...unread, ...others.map(conditionOf)] };
  },
};

/** A standstill as a condition. */
export function conditionOf(one: Standstill): Condition {
  const { network, part, number, sinceMs, reason, action } = one;
  const row = {
    network,
    part,
    block_number: number,
    for_seconds: Math.floor(sinceMs / 1_000),
    reason,
    action,
  };
  return {
    key: `chain:${network}:${part}`,
    severity: 'critical',
    urgent: true,
    reason: describeStandstill(one),
    action,
    row,
  };
}

/** One sentence: "the second read of bsc stands at 1200 for 45 s: …". */
export function describeStandstill({ part, network, number, sinceMs, reason }: Standstill): string {
  if (part === 'block time') return `the clock is not that of ${network}: ${reason}`;
  return `the ${part} of ${network} stands at ${number} for ${Math.floor(sinceMs / 1_000)} s${reason === null ? '' : `: ${reason}`}`;
}

/** What stands of the chains that this installation watches: one that was switched off stands by choice. */
export async function watchedStandstills(deps: Deps): Promise<Standstill[]> {
  const { watchedNetworks } = deps.settings.payments;
  return (await standstills(deps)).filter(({ network }) => watchedNetworks.includes(network));
}

/**
 * Every part of every chain that stands still, from rows alone: so also when the watcher does
 * not answer, or is not there, and noted nothing. A failure that lasts less than half a minute is none.
 */
export async function standstills(deps: Deps): Promise<Standstill[]> {
  const em = deps.orm.em.fork();
  const [cursors, passes] = [
    await em.find(ChainCursor, {}, { orderBy: { network: 'asc' } }),
    await em.find(ReconciliationPass, {}),
  ];
  const stopped = cursors.flatMap((cursor) => {
    const watching = { deps, cursor, now: deps.now().getTime() };
    const pass = passes.find(({ network }) => network === cursor.network);
    const parts = [
      firstRead(watching) ?? unmovedHead(watching),
      secondRead(watching),
      lasting(watching, 'roll-back', cursor.scannedNumber),
      finality(watching),
      reconciliation(watching, pass),
    ];
    return parts.filter((part) => part !== undefined);
  });
  return [...stopped, ...wrongClock(cursors, deps.now())];
}

/** One chain, as its row tells at a moment. */
type Watching = {
  readonly deps: Pick<Deps, 'now' | 'settings'>;
  readonly cursor: ChainCursor;
  readonly now: number;
};
type Found = Standstill | undefined;

/** A stop that was met once may be a hiccup; this returns only one that was met again and lasts. */
function lasting({ cursor, now }: Watching, part: ChainPart, number: number): Found {
  const stop: ChainStop | undefined = cursor.stops[part];
  const sinceMs = stop ? now - new Date(stop.since).getTime() : 0;
  if (!stop || stop.tries <= 1 || sinceMs < STANDS_AFTER_MS) return undefined;
  return { network: cursor.network, part, number, sinceMs, reason: stop.reason, action: stop.action };
}

function firstRead(watching: Watching): Found {
  const { network, scannedNumber: number, headNumber, polledAt, scannedMovedAt, fault } = watching.cursor;
  const stop = lasting(watching, 'first read', number);
  if (stop) return stop;
  const silentMs = watching.now - polledAt.getTime();
  const stillMs = watching.now - scannedMovedAt.getTime();
  const sinceMs = headNumber > number ? Math.max(silentMs, stillMs) : silentMs;
  if (sinceMs < STANDS_AFTER_MS) return undefined;
  return { network, part: 'first read', number, sinceMs, reason: fault ?? null, action: LOOK_AT_WORKER };
}

/**
 * A chain whose newest block has been the same for too long, although it is read:
 * its RPC endpoints stand still, so nobody sees what is paid. Undefined when the
 * chain may stand still without an alarm, as a local one for development does.
 */
function unmovedHead({ deps, cursor, now }: Watching): Found {
  const { headMovesWithinMs } = deps.settings;
  const sinceMs = now - cursor.movedAt.getTime();
  if (headMovesWithinMs === undefined || sinceMs < headMovesWithinMs) return undefined;
  return {
    network: cursor.network,
    part: 'first read',
    number: cursor.scannedNumber,
    sinceMs,
    reason: `its endpoints show no block after ${cursor.headNumber}`,
    action:
      'add an RPC endpoint that is in sync and restart the worker; "doctor" tells how old the newest block is',
  };
}

function secondRead(watching: Watching): Found {
  const { deps, cursor, now } = watching;
  const { network, verifiedNumber: number, finalizedNumber, rereadNumber } = cursor;
  const stop = lasting(watching, 'second read', number);
  if (stop) return stop;
  if (finalizedNumber <= number) return undefined;
  // In a backlog nothing is verified before the run of blocks reaches
  // one that is final: then it is the first read that has to move.
  const movedAt = Math.max(
    cursor.verifiedMovedAt.getTime(),
    cursor.scannedNumber < finalizedNumber ? cursor.scannedMovedAt.getTime() : 0,
  );
  const sinceMs = now - movedAt;
  // What is final moves in steps: until the first of many blocks is read, it has not moved since the step
  // before.
  const stepMs = STANDS_AFTER_BLOCKS * deps.settings.blockIntervalMs[network];
  if (sinceMs < Math.max(STANDS_AFTER_MS, stepMs)) return undefined;
  const at = { network, part: 'second read', number, sinceMs } as const;
  // What is final was read twice all the same: the chain we
  // keep does not fit the RPC endpoints' word on what is final.
  const isRead = rereadNumber >= finalizedNumber && now - cursor.polledAt.getTime() < STANDS_AFTER_MS;
  if (!isRead || cursor.fault != null) return { ...at, reason: cursor.fault ?? null, action: LOOK_AT_WORKER };
  const reason = `the blocks up to ${rereadNumber} are read, and the chain that is watched does not run through what its endpoints name as final`;
  return { ...at, reason, action: COMPARE_FINAL };
}

/**
 * Blocks come, and none of them becomes final: nothing
 * completes, although every part of the watching goes on.
 */
function finality({ deps, cursor, now }: Watching): Found {
  const { network, headNumber, finalizedNumber: number, finalizedMovedAt } = cursor;
  const sinceMs = now - finalizedMovedAt.getTime();
  const behind = Math.min(FINALITY_BEHIND, FINALITY_BEHIND_MS / deps.settings.blockIntervalMs[network]);
  if (headNumber <= number + behind || sinceMs <= FINALITY_AFTER_MS) return undefined;
  const reason = `blocks come up to ${headNumber}, and its endpoints, or one of two, name none after ${number} as final`;
  const action =
    'see with an explorer whether the chain itself is not final; if it is, take the endpoint that stands still out of the RPC URLs (the log names it), or add one that tells which block is final ("doctor" says which do), and restart the worker';
  return { network, part: 'finality', number, sinceMs, reason, action };
}

function reconciliation(watching: Watching, pass: ReconciliationPass | undefined): Found {
  const { deps, cursor, now } = watching;
  const { network, verifiedNumber, createdAt } = cursor;
  const number = pass?.startedNumber ?? verifiedNumber;
  const stop = lasting(watching, 'reconciliation', number);
  if (stop) return stop;
  const sinceMs = now - (pass?.movedAt ?? pass?.startedAt ?? createdAt).getTime();
  if (sinceMs < deps.settings.comparedEveryMs[network] + PASS_LATE_MS) return undefined;
  const reason = pass?.fault ?? null;
  return { network, part: 'reconciliation', number, sinceMs, reason, action: LOOK_AT_WORKER };
}

/**
 * The chains that should be watched and were never read once, either since workers run over this
 * database or since somebody was given an address to pay to. A fresh installation has neither.
 */
async function neverRead(deps: Deps): Promise<Standstill[]> {
  const em = deps.orm.em.fork();
  const cursors = await em.find(ChainCursor, {});
  const unread = deps.settings.payments.watchedNetworks.filter(
    (network) => !cursors.some((cursor) => cursor.network === network),
  );
  const found: Standstill[] = [];
  for (const network of unread) {
    const row = await firstRow(
      em,
      sql<{ at: string | null }>`select least((select min(known_since) from loop_runs),
         (select created_at from deposit_addresses where network = ${network} and mode = 'live'
           order by created_xid limit 1))::text as at`,
    );
    const sinceMs = row?.at ? deps.now().getTime() - new Date(row.at).getTime() : 0;
    if (sinceMs < READ_WITHIN_MS) continue;
    const reason = 'it was never read: no worker watches it, or no RPC endpoint answers';
    const action =
      'start a worker with the same settings, and see what "doctor" and its log say of the endpoints';
    found.push({ network, part: 'first read', number: 0, sinceMs, reason, action });
  }
  return found;
}
