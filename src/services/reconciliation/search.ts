import type { NamedTransaction } from '../../chains/reader.ts';
import { BalanceDifference } from '../../db/entities/index.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { readInOrder } from '../watcher/reads/in-order.ts';
import { loadWatched } from '../watcher/watched-addresses.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import {
  attributeTo,
  expectedAt,
  explains,
  namesAmount,
  placeOf,
  recordShown,
  riseIn,
  scanPast,
} from './attribute.ts';
import { settleDifference } from './differences.ts';
import { unitsOf } from './expected-balances.ts';

/** Differences that are searched after one pass; the others wait for the next pass. */
const MAX_SEARCHED = 200;
/** Blocks at which one balance may have changed without an explanation. */
const MAX_STEPS = 20;
/** Searches that run at the same time; they share the budget of the RPC endpoints. */
const AT_A_TIME = 4;
const TRIES = 2;
const NOTHING_FOUND = 'no single transaction explains it';

/**
 * How a search went: `failed` is how many were not searched to their
 * end, `reason` says why one of them was not. They are searched again.
 */
export type Searched = { readonly failed: number; readonly of: number; readonly reason: string };

/**
 * Looks for the transactions behind rises that the ledger does not know. If an RPC endpoint keeps
 * old balances, the block is found by halving; else every block of the window is read. What it finds
 * becomes a deposit only with its transaction's hash, and only if exactly one transaction explains
 * the amount. Everything else is recorded as uncredited for the operator. Several are searched at a
 * time, and one that fails holds up no other: it is tried once more, then in the next pass.
 */
export async function searchDifferences(
  deps: Deps,
  chain: WatchedChain,
  signal: AbortSignal,
): Promise<Searched> {
  const { network } = chain.reader;
  const where = { network, searched: false };
  const open = await deps.orm.em
    .fork()
    .find(BalanceDifference, where, { orderBy: { notedAt: 'asc' }, limit: MAX_SEARCHED });
  if (open.length === 0) return { failed: 0, of: 0, reason: '' };
  await loadWatched(deps, chain.watched);
  let left: readonly BalanceDifference[] = open;
  let reason = '';
  for (let tries = 0; tries < TRIES && left.length > 0; tries++) {
    const failed: BalanceDifference[] = [];
    const fail = (some: readonly BalanceDifference[], error: unknown): void => {
      signal.throwIfAborted();
      failed.push(...some);
      reason = error instanceof Error ? error.message : String(error);
      deps.log.warn(
        { err: error, network, differences: some.length },
        'a difference could not be searched; trying again',
      );
    };
    const unseen = await searchEach(deps, chain, left, { fail, signal });
    if (unseen.length > 0)
      await searchByBlocks(deps, chain, unseen, signal).catch((error: unknown) => fail(unseen, error));
    left = failed;
  }
  return { failed: left.length, of: open.length, reason };
}

type Fail = (some: readonly BalanceDifference[], error: unknown) => void;

/** Searches by old balances; returns the differences for which no RPC endpoint keeps them. */
async function searchEach(
  deps: Deps,
  chain: WatchedChain,
  open: readonly BalanceDifference[],
  { fail, signal }: { readonly fail: Fail; readonly signal: AbortSignal },
): Promise<BalanceDifference[]> {
  const unseen: BalanceDifference[] = [];
  const waiting = [...open];
  const searchOn = async (): Promise<void> => {
    for (let kept = waiting.shift(); kept; kept = waiting.shift()) {
      signal.throwIfAborted();
      try {
        const fell = kept.differenceUnits <= kept.knownUnits;
        const searched = fell ? { beforeUnits: undefined } : await searchByBalance(deps, chain, kept, signal);
        if (!searched) unseen.push(kept);
        else
          await settleDifference(deps, kept, {
            reason: NOTHING_FOUND,
            beforeUnits: searched.beforeUnits,
            report: chain.report,
          });
      } catch (error) {
        fail([kept], error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, searchOn));
  return unseen;
}

/**
 * Finds by halving the blocks at which the balance and the ledger parted. Undefined when no
 * RPC endpoint keeps balances that old. `beforeUnits` is what lay there already when the
 * window begins although the address was never found to differ: it was not our address then.
 */
async function searchByBalance(
  deps: Deps,
  chain: WatchedChain,
  kept: BalanceDifference,
  signal: AbortSignal,
): Promise<{ beforeUnits: bigint | undefined } | undefined> {
  const differenceAt = async (blockNumber: number): Promise<bigint | undefined> => {
    const [balance] =
      (await chain.reader.balances?.([kept.addressKey], Math.max(0, blockNumber), signal)) ?? [];
    if (!balance) return undefined;
    return unitsOf(balance, kept.network, kept.currency) - (await expectedAt(deps, kept, blockNumber));
  };
  let low = kept.sinceNumber;
  let base = await differenceAt(low);
  const done = {
    beforeUnits:
      base === undefined || base <= kept.knownUnits ? undefined : kept.beforeUnits + base - kept.knownUnits,
  };
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const top = await differenceAt(kept.foundNumber);
    if (base === undefined || top === undefined) return undefined;
    if (top === base) return done;
    let high = kept.foundNumber;
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      const there = await differenceAt(middle);
      if (there === undefined) return undefined;
      if (there === base) low = middle;
      else high = middle;
    }
    const there = await differenceAt(high);
    if (there === undefined) return undefined;
    if (there > base) await attribute(deps, chain, { kept, blockNumber: high, signal });
    low = high;
    base = await differenceAt(high);
  }
  return done;
}

type Rise = { readonly kept: BalanceDifference; readonly blockNumber: number; readonly signal: AbortSignal };

/**
 * The balance proves that more than the ledger knows reached the
 * address in this block: this finds in which of its transactions.
 */
async function attribute(
  deps: Deps,
  chain: WatchedChain,
  { kept, blockNumber, signal }: Rise,
): Promise<void> {
  const block = await scanPast(chain.reader, chain, {
    number: blockNumber,
    naming: [kept.addressKey],
    signal,
  });
  await recordShown(deps, chain, kept, block);
  // A trace shows everything that is passed on: if there was one, a mere mention proves nothing.
  if (!block.untraced || kept.currency !== NATIVE_CURRENCY[kept.network]) return;
  const roseUnits = await riseIn(chain.reader, placeOf(kept), blockNumber, signal);
  if (roseUnits === undefined) return;
  const left =
    roseUnits - (await expectedAt(deps, kept, blockNumber)) + (await expectedAt(deps, kept, blockNumber - 1));
  const named = only(block.named ?? []) ?? only((block.named ?? []).filter((one) => namesAmount(one, left)));
  if (!named || left <= 0n) return;
  await attributeTo(deps, chain, {
    place: placeOf(kept),
    block,
    txHash: named.txHash,
    proof: { basis: 'balance', roseUnits },
  });
}

/** A transaction that names an address, in a block that no trace was shown of. */
export type Seen = { readonly blockNumber: number; readonly named: NamedTransaction };

/**
 * Reads every block of the windows once for all differences together.
 * Without old balances only an amount named in calldata is a proof.
 */
async function searchByBlocks(
  deps: Deps,
  chain: WatchedChain,
  open: readonly BalanceDifference[],
  signal: AbortSignal,
): Promise<void> {
  const inReach = open.filter((kept) => isInReach(chain, kept));
  const seen = inReach.length > 0 ? await readWindow(deps, chain, inReach, signal) : [];
  for (const kept of open) {
    let reason = NOTHING_FOUND;
    if (!inReach.includes(kept)) reason = tooMany(chain, kept);
    else if (kept.currency === NATIVE_CURRENCY[kept.network])
      await attributeNamed(deps, chain, kept, { seen, signal });
    await settleDifference(deps, kept, { reason, report: chain.report });
  }
}

/**
 * Every transaction that may have brought a difference: those of its window that name the
 * address, in blocks that no trace was shown of. What the blocks do show is recorded on
 * the way. Undefined when the window is too long to be read. Throws the reader's errors.
 */
export async function candidatesFor(
  deps: Deps,
  chain: WatchedChain,
  kept: BalanceDifference,
  signal: AbortSignal,
): Promise<Seen[] | undefined> {
  return isInReach(chain, kept) ? await readWindow(deps, chain, [kept], signal) : undefined;
}

function isInReach({ reader }: WatchedChain, kept: BalanceDifference): boolean {
  return kept.foundNumber - kept.sinceNumber <= reader.pace.searchBlocks;
}

/** What is in reach later does not help here: what was searched is not searched again. */
function tooMany({ reader }: WatchedChain, kept: BalanceDifference): string {
  const { searchBlocks, toReadMore } = reader.pace;
  const blocks = kept.foundNumber - kept.sinceNumber;
  return `${blocks} blocks may hold it, and a search reads ${searchBlocks} at most: find it with an explorer and run "gateway deposit claim --tx HASH --network ${kept.network}"; for later ones ${toReadMore}`;
}

async function readWindow(
  deps: Deps,
  chain: WatchedChain,
  open: readonly BalanceDifference[],
  signal: AbortSignal,
): Promise<Seen[]> {
  const first = Math.max(0, Math.min(...open.map((kept) => kept.sinceNumber)) + 1);
  const last = Math.max(...open.map((kept) => kept.foundNumber));
  const naming = [...new Set(open.map((kept) => kept.addressKey))];
  const seen: Seen[] = [];
  const read = (number: number) => chain.reader.scan(number, chain.watched.index, signal, naming);
  for await (const [blockNumber, reading] of readInOrder(first, last, read)) {
    const block = await reading;
    if (!block) throw new Error(`no endpoint of ${chain.reader.network} has block ${blockNumber} any more`);
    for (const kept of open) {
      if (blockNumber <= kept.sinceNumber || blockNumber > kept.foundNumber) continue;
      if ([...block.transfers, ...(block.own ?? [])].some((transfer) => explains(kept, transfer)))
        await recordShown(deps, chain, kept, block);
    }
    if (block.untraced) seen.push(...(block.named ?? []).map((named) => ({ blockNumber, named })));
  }
  return seen;
}

async function attributeNamed(
  deps: Deps,
  chain: WatchedChain,
  kept: BalanceDifference,
  { seen, signal }: { readonly seen: readonly Seen[]; readonly signal: AbortSignal },
): Promise<void> {
  const left = kept.chainUnits - (await expectedAt(deps, kept, kept.foundNumber)) - kept.knownUnits;
  if (left <= 0n) return;
  const candidate = only(
    seen.filter(
      ({ blockNumber, named }) =>
        named.addressKey === kept.addressKey &&
        blockNumber > kept.sinceNumber &&
        blockNumber <= kept.foundNumber &&
        namesAmount(named, left),
    ),
  );
  if (!candidate) return;
  const block = await scanPast(chain.reader, chain, {
    number: candidate.blockNumber,
    naming: [kept.addressKey],
    signal,
  });
  const named = (block.named ?? []).find((one) => one.txHash === candidate.named.txHash);
  if (named && block.untraced)
    await attributeTo(deps, chain, {
      place: placeOf(kept),
      block,
      txHash: named.txHash,
      proof: { basis: 'candidate' },
    });
}

function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}
