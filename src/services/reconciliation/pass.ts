import { BEFORE_ALL_KEYS } from '../../chains/address-key.ts';
import type { PassPace } from '../../chains/pace.ts';
import type { ChainReader } from '../../chains/reader.ts';
import {
  BalanceDifference,
  type ChainCursor,
  DepositAddress,
  ReconciliationPass,
} from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Network } from '../../domain/assets.ts';
import { fitted, MAX_REASON } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';
import { readCursor } from '../watcher/cursor.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { addressesAhead, MAX_REMEMBERED, nextAddresses, stillLeftOut, UNEXPLAINED } from './ahead.ts';
import { proveByAgreement, unprovenAt } from './balance-proof.ts';
import { compareBatch } from './differences.ts';
import { assetKey } from './expected-balances.ts';
import { explanationsOf } from './explained.ts';
import { type Found, foundBalances, isComparable } from './found.ts';
import { searchDifferences } from './search.ts';

/** What one step did, and how long to wait before the next one. */
export type PassStep = {
  readonly did: 'nothing' | 'compared' | 'finished';
  readonly checked: number;
  readonly waitMs: number;
  /** Why nothing was done, where that is no matter of time alone. */
  readonly missing?: string;
};

const LOOK_AGAIN_MS = 5_000;
/** And after this time where no requests were to spare. */
const NO_REQUESTS_MS = 60_000;
const MAX_LISTED = 1_000;

/**
 * One step of the reconciliation: compares one batch of balances at a height that was read twice with
 * what the ledger says lies there, and after the last batch searches what differs. Progress is a row,
 * so that a restart goes on. Throws the reader's errors, and an error when a search failed; the step
 * is then done again, and the pass ends without that search when the next one is due. Every credit it
 * leads to is an ordinary deposit with the transaction's own identity, so a repeat cannot double it.
 */
export async function reconcileStep(
  deps: Deps,
  chain: WatchedChain,
  pace: PassPace,
  signal: AbortSignal,
): Promise<PassStep> {
  const { reader } = chain;
  const { network } = reader;
  const cursor = await readCursor(deps, network);
  if (!cursor || !isComparable(reader, cursor)) return { did: 'nothing', checked: 0, waitMs: LOOK_AGAIN_MS };
  const pass = await openPass(deps, chain, cursor, pace);
  if (typeof pass === 'number') return { did: 'nothing', checked: 0, waitMs: pass };
  const position = pass.position ?? BEFORE_ALL_KEYS;
  const { batchAddresses: limit } = pace;
  const next = await nextAddresses(deps.orm.em.fork(), pass, { position, limit });
  const { addresses, named, isAhead } = next;
  const parts = await foundBalances(deps, reader, addresses, { cursor, pace, signal });
  if (!parts) return await withoutRequests(deps, reader, pass, pace);
  const asked = addresses.map(({ addressKey }) => addressKey);
  const compared = parts.flatMap((part) => part.addresses.map(({ addressKey }) => addressKey));
  const aheadDone = pass.aheadDone + (isAhead ? named.length : 0);
  const leftOut = stillLeftOut(pass.leftOut, { named, asked, compared });
  const moved = await deps.orm.em.fork().transactional(async (em) => {
    for (const part of parts) await compareFound(em, deps, pass, part);
    return await em.nativeUpdate(ReconciliationPass, standOf(pass), {
      position: isAhead ? position : (asked.at(-1) ?? position),
      aheadDone,
      leftOut,
      ...(leftOut.length === MAX_REMEMBERED ? { startedNumber: pass.agreedNumber } : {}),
      checked: pass.checked + compared.length,
      movedAt: deps.now(),
      fault: null,
    });
  });
  const checked = compared.length;
  // Somebody else took this step meanwhile: whoever takes the next one sees where the pass is.
  if (moved === 0) return { did: 'compared', checked: 0, waitMs: 0 };
  if (isAhead) {
    // What fails here is searched again after the last batch.
    if (aheadDone === pass.aheadKeys.length) await searchDifferences(deps, chain, signal);
    return { did: 'compared', checked, waitMs: 0 };
  }
  if (addresses.length === limit) return { did: 'compared', checked, waitMs: 0 };
  const { failed, of, reason } = await searchDifferences(deps, chain, signal);
  const fault = failed === 0 ? null : `${failed} of ${of} differences could not be searched: ${reason}`;
  // The same step is tried again until the next pass is due: a search
  // that never succeeds must not end the comparison of all others.
  if (fault !== null && deps.now().getTime() - pass.startedAt.getTime() < pace.everyMs)
    throw new Error(fault);
  await closePass(deps, chain, pass, fault);
  return { did: 'finished', checked, waitMs: 0 };
}

/**
 * Where a step began. It moves a pass on only from there: two processes that take the same step, or a step of
 * a pass that is over, must never skip an address.
 */
const standOf = ({ network, startedAt, position, aheadAt, aheadDone }: ReconciliationPass) => ({
  network,
  startedAt,
  position,
  aheadAt,
  aheadDone,
});

async function compareFound(em: Em, deps: Deps, pass: ReconciliationPass, part: Found): Promise<void> {
  const { network, agreedNumber } = pass;
  const { blockNumber } = part;
  const addressKeys = part.addresses.map((row) => row.addressKey);
  const unproven = await unprovenAt(em, { network, addressKeys, blockNumber });
  const agreeing = await compareBatch(em, deps, { ...part, network, agreedNumber });
  await proveByAgreement(
    em,
    deps,
    unproven.filter((one) => agreeing.has(one.addressKey)),
  );
}

/** The pass waits for requests to spare; one that stands still for longer than it may take is told. */
async function withoutRequests(
  deps: Deps,
  { pace }: ChainReader,
  pass: ReconciliationPass,
  { everyMs }: PassPace,
): Promise<PassStep> {
  const missing = `the requests that a day allows leave none for the comparison of balances: ${pace.toReadMore}`;
  if (deps.now().getTime() - (pass.movedAt ?? pass.startedAt).getTime() > everyMs)
    await notePassFault(deps, pass.network, missing);
  return { did: 'nothing', checked: 0, waitMs: NO_REQUESTS_MS, missing };
}

/**
 * Runs a whole pass at once, whatever the clock says. A pass that is under way is
 * ended first, because its comparisons may be old. `progress` is called with how
 * many addresses are done, of how many. Returns how many could not be compared,
 * because they are paid all the time. Throws as {@link reconcileStep} does.
 */
export async function reconcileNow(
  deps: Deps,
  chain: WatchedChain,
  options: { readonly signal: AbortSignal; readonly progress: (checked: number, total: number) => void },
): Promise<number> {
  const { signal, progress } = options;
  const { network } = chain.reader;
  const cursor = await readCursor(deps, network);
  if (!cursor) throw new Error(`${network} was never watched: a running worker begins with it`);
  const em = deps.orm.em.fork();
  const position = (await em.findOne(ReconciliationPass, network))?.position;
  let passes = position == null ? 1 : 2;
  const left =
    position == null ? 0 : await em.count(DepositAddress, { network, addressKey: { $gt: position } });
  const total = left + (await em.count(DepositAddress, { network }));
  let checked = 0;
  for (;;) {
    signal.throwIfAborted();
    const step = await reconcileStep(deps, chain, { ...chain.reader.pace.reconcile, everyMs: 0 }, signal);
    if (step.did === 'nothing')
      throw new Error(
        step.missing ??
          `${network} is being caught up with: balances can be compared when the watcher has reached the head`,
      );
    checked += step.checked;
    progress(checked, Math.max(total, checked));
    if (step.did === 'finished') passes -= 1;
    if (passes === 0)
      return (await deps.orm.em.fork().findOne(ReconciliationPass, network))?.leftOut.length ?? 0;
  }
}

export type Listed = {
  readonly kept: BalanceDifference;
  /**
   * What explains it as far as the gateway knows: an alarm
   * about a deposit of this address, which says what to do.
   */
  readonly explained: readonly string[];
};

/**
 * The balances that do not agree with the ledger, oldest first, at most 1,000, and how many there
 * are. Only what lay on an address before it was our address is left out: that is in no ledger.
 */
export async function listDifferences(
  deps: Deps,
  network?: Network,
): Promise<{ readonly listed: readonly Listed[]; readonly total: number }> {
  const where = { ...(network ? { network } : {}), ...UNEXPLAINED };
  const options = { orderBy: { notedAt: 'asc', addressKey: 'asc' }, limit: MAX_LISTED } as const;
  const [rows, total] = await deps.orm.em.fork().findAndCount(BalanceDifference, where, options);
  const explained = await explanationsOf(deps, rows);
  return {
    listed: rows.map((kept) => ({
      kept,
      explained: explained.get(assetKey(kept.addressKey, kept.currency)) ?? [],
    })),
    total,
  };
}

/**
 * How many balances were searched and still do not agree with the ledger: an operator has to look at them.
 */
export async function countDifferences(deps: Deps, network?: Network): Promise<number> {
  return await deps.orm.em
    .fork()
    .count(BalanceDifference, { ...(network ? { network } : {}), searched: true, ...UNEXPLAINED });
}

/**
 * The running pass; a new one if the last began long enough ago; otherwise how long to wait, in milliseconds.
 */
async function openPass(
  deps: Deps,
  { reader }: WatchedChain,
  cursor: ChainCursor,
  { everyMs }: PassPace,
): Promise<ReconciliationPass | number> {
  const { network } = cursor;
  const em = deps.orm.em.fork();
  const pass = await em.findOne(ReconciliationPass, network);
  const now = deps.now();
  if (pass && pass.position != null) {
    // A pass may take longer than the time between two: what is new must not wait for its end.
    const isDue = everyMs > 0 && (pass.aheadAt ?? pass.startedAt).getTime() + everyMs <= now.getTime();
    if (!isDue || reader.balances || pass.aheadDone < pass.aheadKeys.length) return pass;
    const sinceNumber = pass.aheadNumber ?? pass.startedNumber;
    await em.nativeUpdate(
      ReconciliationPass,
      standOf(pass),
      await aheadOf(em, { pass, sinceNumber, cursor, now }),
    );
    return await deps.orm.em.fork().findOneOrFail(ReconciliationPass, network);
  }
  const dueInMs = pass ? pass.startedAt.getTime() + everyMs - now.getTime() : 0;
  if (dueInMs > 0) return Math.min(dueInMs, LOOK_AGAIN_MS);
  const agreedNumber = pass?.startedNumber ?? cursor.firstBlock - 1;
  const begun = {
    network,
    startedNumber: cursor.verifiedNumber,
    startedAt: now,
    position: BEFORE_ALL_KEYS,
    agreedNumber,
    checked: 0,
  };
  const sinceNumber = pass?.aheadNumber ?? agreedNumber;
  return await em.upsert(ReconciliationPass, {
    ...begun,
    ...(reader.balances ? {} : await aheadOf(em, { pass, sinceNumber, cursor, now })),
    finishedAt: pass?.finishedAt ?? null,
    movedAt: now,
    fault: null,
  });
}

type Ahead = {
  readonly pass: ReconciliationPass | null;
  readonly sinceNumber: number;
  readonly cursor: ChainCursor;
  readonly now: Date;
};

async function aheadOf(em: Em, { pass, sinceNumber, cursor, now }: Ahead) {
  const { network, verifiedNumber: aheadNumber } = cursor;
  const leftOut = pass?.leftOut ?? [];
  const aheadKeys = await addressesAhead(em, { network, leftOut, sinceNumber });
  return { aheadKeys, aheadDone: 0, aheadAt: now, aheadNumber, leftOut };
}

async function closePass(
  deps: Deps,
  { reader, report }: WatchedChain,
  pass: ReconciliationPass,
  fault: string | null,
): Promise<void> {
  const { network } = reader;
  const em = deps.orm.em.fork();
  const now = deps.now();
  const { leftOut } = await em.findOneOrFail(ReconciliationPass, network);
  const end = {
    position: null,
    // The next pass searches from where this one began only if every address was compared.
    ...(leftOut.length > 0 ? { startedNumber: pass.agreedNumber } : {}),
    finishedAt: now,
    movedAt: now,
    fault: fault === null ? null : fitted(fault, MAX_REASON),
  };
  await em.nativeUpdate(ReconciliationPass, { network, startedAt: pass.startedAt }, end);
  report?.differences?.({ network, count: await em.count(BalanceDifference, { network, ...UNEXPLAINED }) });
}

/** Keeps why the pass does not go on, for operators. */
export async function notePassFault(deps: Deps, network: Network, fault: string): Promise<void> {
  await deps.orm.em
    .fork()
    .nativeUpdate(ReconciliationPass, { network }, { fault: fitted(fault, MAX_REASON) });
}
