import { ChainCursor, type Deposit, ReconciliationPass } from '../../db/entities/index.ts';
import type { ChainStop, Standstill } from '../../domain/chain-stop.ts';
import { wrongClock } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';
import { unmovedHead } from './unseen.ts';

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
const COMPARE_FINAL =
  'compare what each endpoint names as final with an explorer, take the one that is wrong out of the RPC URLs and restart the worker';
const LOOK_AT_WORKER =
  'see that a worker runs and reaches PostgreSQL and its RPC endpoints ("doctor" tells); it goes on from there by itself';

type Settled = Pick<Deps, 'settings'>;

/**
 * Every part of every watched chain that stands still, from rows alone: so also when the watcher does
 * not answer, or is not there, and noted nothing. A failure that lasts less than half a minute is none.
 */
export async function standstills(deps: Deps): Promise<Standstill[]> {
  const em = deps.orm.em.fork();
  const now = deps.now().getTime();
  const [cursors, passes] = await Promise.all([
    em.find(ChainCursor, {}, { orderBy: { network: 'asc' } }),
    em.find(ReconciliationPass, {}),
  ]);
  const stopped = cursors.flatMap((cursor) => {
    const pass = passes.find(({ network }) => network === cursor.network);
    const first = firstRead(cursor, now) ?? unmovedHead(deps, cursor);
    const parts = [
      first,
      secondRead(deps, cursor, now),
      rollBackOf(cursor, now),
      finality(deps, cursor, now),
      reconciliation(deps, cursor, pass, now),
    ];
    return parts.filter((part) => part !== undefined);
  });
  return [...stopped, ...wrongClock(cursors, deps.now())];
}

/**
 * Why a deposit's block cannot get on, if a part of the
 * watching has stopped before it; undefined if none has. Pure.
 */
export function stoppedWhy(cursor: ChainCursor, deposit: Pick<Deposit, 'blockNumber'>): string | undefined {
  const { stops, network } = cursor;
  const rollBack = stops['roll-back'];
  if (rollBack)
    return `the roll-back of ${network} stands at block ${cursor.scannedNumber}: ${rollBack.reason}`;
  const second = stops['second read'];
  if (second && deposit.blockNumber > cursor.rereadNumber) {
    return `the second read of ${network} stands at block ${cursor.rereadNumber}: ${second.reason}`;
  }
  const first = stops['first read'];
  if (first) return `the first read of ${network} stands at block ${cursor.scannedNumber}: ${first.reason}`;
  return undefined;
}

/** A stop that was met once may be a hiccup; this returns only one that was met again and lasts. */
function lasting(stop: ChainStop | undefined, now: number): ChainStop | undefined {
  return stop && stop.tries > 1 && now - new Date(stop.since).getTime() >= STANDS_AFTER_MS ? stop : undefined;
}

function firstRead(cursor: ChainCursor, now: number): Standstill | undefined {
  const at = { network: cursor.network, part: 'first read' as const, number: cursor.scannedNumber };
  const stop = lasting(cursor.stops['first read'], now);
  if (stop)
    return { ...at, sinceMs: now - new Date(stop.since).getTime(), reason: stop.reason, action: stop.action };
  const silentMs = now - cursor.polledAt.getTime();
  const stillMs = now - cursor.scannedMovedAt.getTime();
  const sinceMs = cursor.headNumber > cursor.scannedNumber ? Math.max(silentMs, stillMs) : silentMs;
  return sinceMs < STANDS_AFTER_MS
    ? undefined
    : { ...at, sinceMs, reason: cursor.fault ?? null, action: LOOK_AT_WORKER };
}

function secondRead({ settings }: Settled, cursor: ChainCursor, now: number): Standstill | undefined {
  const at = { network: cursor.network, part: 'second read' as const, number: cursor.verifiedNumber };
  const stop = lasting(cursor.stops['second read'], now);
  if (stop)
    return { ...at, sinceMs: now - new Date(stop.since).getTime(), reason: stop.reason, action: stop.action };
  if (cursor.finalizedNumber <= cursor.verifiedNumber) return undefined;
  // In a backlog nothing is verified before the run of blocks reaches
  // one that is final: then it is the first read that has to move.
  const movedAt = Math.max(
    cursor.verifiedMovedAt.getTime(),
    cursor.scannedNumber < cursor.finalizedNumber ? cursor.scannedMovedAt.getTime() : 0,
  );
  const sinceMs = now - movedAt;
  // What is final moves in steps: until the first of many blocks is read, it has not moved since the step
  // before.
  const stepMs = STANDS_AFTER_BLOCKS * settings.blockIntervalMs[cursor.network];
  if (sinceMs < Math.max(STANDS_AFTER_MS, stepMs)) return undefined;
  // What is final was read twice all the same: the chain we
  // keep does not fit the RPC endpoints' word on what is final.
  const isRead =
    cursor.rereadNumber >= cursor.finalizedNumber && now - cursor.polledAt.getTime() < STANDS_AFTER_MS;
  if (!isRead || cursor.fault != null)
    return { ...at, sinceMs, reason: cursor.fault ?? null, action: LOOK_AT_WORKER };
  const reason = `the blocks up to ${cursor.rereadNumber} are read, and the chain that is watched does not run through what its endpoints name as final`;
  return { ...at, sinceMs, reason, action: COMPARE_FINAL };
}

function rollBackOf(cursor: ChainCursor, now: number): Standstill | undefined {
  const stop = lasting(cursor.stops['roll-back'], now);
  if (!stop) return undefined;
  const at = { network: cursor.network, part: 'roll-back' as const, number: cursor.scannedNumber };
  return { ...at, sinceMs: now - new Date(stop.since).getTime(), reason: stop.reason, action: stop.action };
}

/**
 * Blocks come, and none of them becomes final: nothing
 * completes, although every part of the watching goes on.
 */
function finality({ settings }: Settled, cursor: ChainCursor, now: number): Standstill | undefined {
  const sinceMs = now - cursor.finalizedMovedAt.getTime();
  const behind = Math.min(FINALITY_BEHIND, FINALITY_BEHIND_MS / settings.blockIntervalMs[cursor.network]);
  if (cursor.headNumber <= cursor.finalizedNumber + behind || sinceMs <= FINALITY_AFTER_MS) return undefined;
  const reason = `blocks come up to ${cursor.headNumber}, and its endpoints, or one of two, name none after ${cursor.finalizedNumber} as final`;
  const action =
    'see with an explorer whether the chain itself is not final; if it is, take the endpoint that stands still out of the RPC URLs (the log names it), or add one that tells which block is final ("doctor" says which do), and restart the worker';
  return {
    network: cursor.network,
    part: 'finality',
    number: cursor.finalizedNumber,
    sinceMs,
    reason,
    action,
  };
}

function reconciliation(
  { settings }: Settled,
  cursor: ChainCursor,
  pass: ReconciliationPass | undefined,
  now: number,
): Standstill | undefined {
  const at = {
    network: cursor.network,
    part: 'reconciliation' as const,
    number: pass?.startedNumber ?? cursor.verifiedNumber,
  };
  const stop = lasting(cursor.stops.reconciliation, now);
  if (stop)
    return { ...at, sinceMs: now - new Date(stop.since).getTime(), reason: stop.reason, action: stop.action };
  const sinceMs = now - (pass?.movedAt ?? pass?.startedAt ?? cursor.createdAt).getTime();
  return sinceMs < settings.comparedEveryMs[cursor.network] + PASS_LATE_MS
    ? undefined
    : { ...at, sinceMs, reason: pass?.fault ?? null, action: LOOK_AT_WORKER };
}
