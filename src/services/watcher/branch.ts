import type { ChainReader, HeightView } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { Deps } from '../deps.ts';
import { keptHash } from './kept-blocks.ts';

/** A block of a chain: all that is needed to continue from it. */
export type Place = { readonly number: number; readonly hash: string };

/**
 * How the kept chain relates to the one that the best RPC endpoint sees. `stands`: that endpoint has
 * our newest block, or knows nothing better. `parts`: it has another one; `ancestor` is the highest
 * block that both have, not below the anchor. `broken`: not even the anchored block is in what it sees.
 */
export type Branch =
  | { readonly kind: 'stands' }
  | { readonly kind: 'parts'; readonly ancestor: Place }
  | { readonly kind: 'broken' };

/** What is known of the branches does not decide anything now; asking again may. */
export class BranchUnclear extends Error {
  override readonly name = 'BranchUnclear';
}

/**
 * Asks every RPC endpoint what it has at our newest height, and believes the one that is furthest ahead. An
 * endpoint whose finality is behind our anchor only lags, and is not believed: it moves nothing. Only when
 * every endpoint is behind (a chain that became shorter) is the furthest one believed all the same, because
 * down to the anchor a wrong step costs only a detour. Throws {@link BranchUnclear} and the reader's errors.
 */
export async function findBranch(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  signal: AbortSignal,
): Promise<Branch> {
  if (cursor.scannedNumber < cursor.firstBlock) return await originOf(reader, cursor, signal);
  const views = await reader.views(cursor.scannedNumber, signal);
  const best = furthest(views, cursor, reader.endpoints);
  if (!best || best.block === 'not there') return { kind: 'stands' };
  const top = best.block === 'above its head' ? best.head : best.block;
  if ((await keptHash(deps, cursor.network, top.number)) === top.hash) return { kind: 'stands' };
  if (top.number <= cursor.anchoredNumber) {
    // A head at or below the anchor says how far that endpoint is behind, and nothing
    // about what lies above. Another block at our own height says more: when nothing
    // was scanned above the anchor, it is the anchored block itself that was replaced.
    return { kind: best.block === 'above its head' ? 'stands' : 'broken' };
  }
  return await searchDown(deps, reader, { cursor, host: best.host, top: top.number, signal });
}

/** The hash that an RPC endpoint has at a height. Throws {@link BranchUnclear} when it does not say. */
export async function hashAt(
  reader: ChainReader,
  host: string,
  number: number,
  signal: AbortSignal,
): Promise<string> {
  const view = (await reader.views(number, signal)).find(
    (one) => one.host === host && typeof one.block !== 'string',
  );
  if (!view || typeof view.block === 'string')
    throw new BranchUnclear(`${host} does not tell what it has at block ${number} of ${reader.network}`);
  return view.block.hash;
}

/** The endpoint that is furthest ahead; among equals, the one that has our newest block. */
function furthest(
  views: readonly HeightView[],
  cursor: ChainCursor,
  endpoints: number,
): HeightView | undefined {
  const upToDate = views.filter(({ finalized, head }) =>
    finalized ? finalized.number >= cursor.anchoredNumber : head.number > cursor.scannedNumber,
  );
  const believed = upToDate.length > 0 ? upToDate : views.length === endpoints ? views : [];
  const has = ({ block }: HeightView): number =>
    typeof block !== 'string' && block.hash === cursor.scannedHash ? 1 : 0;
  return believed.toSorted((a, b) => b.head.number - a.head.number || has(b) - has(a))[0];
}

/**
 * When nothing was scanned yet, the chain is the one that the furthest RPC
 * endpoint has: the block above which we began may have been replaced.
 */
async function originOf(reader: ChainReader, cursor: ChainCursor, signal: AbortSignal): Promise<Branch> {
  const best = furthest(await reader.views(cursor.firstBlock, signal), cursor, reader.endpoints);
  if (!best || typeof best.block === 'string')
    throw new BranchUnclear(`no endpoint of ${cursor.network} tells the first block to read`);
  return { kind: 'parts', ancestor: { number: cursor.scannedNumber, hash: best.block.parentHash } };
}

type Search = {
  readonly cursor: ChainCursor;
  readonly host: string;
  readonly top: number;
  readonly signal: AbortSignal;
};

/** Goes down from `top`, which differs, in doubling steps, then searches the last step by halving. */
async function searchDown(
  deps: Deps,
  reader: ChainReader,
  { cursor, host, top, signal }: Search,
): Promise<Branch> {
  const { network, anchoredNumber, anchoredHash } = cursor;
  const shared = async (number: number): Promise<Place | undefined> => {
    const ours = number === anchoredNumber ? anchoredHash : await keptHash(deps, network, number);
    return ours != null && ours === (await hashAt(reader, host, number, signal))
      ? { number, hash: ours }
      : undefined;
  };
  let differs = top;
  let ancestor: Place | undefined;
  for (let step = 1; !ancestor && differs > anchoredNumber; step *= 2) {
    const number = Math.max(anchoredNumber, differs - step);
    // Before the first block that was watched nothing was ever
    // named as final: what lies below is not ours to judge.
    if (number < cursor.firstBlock) {
      const first = (await reader.views(cursor.firstBlock, signal)).find((view) => view.host === host)?.block;
      if (!first || typeof first === 'string')
        throw new BranchUnclear(`${host} does not tell the first block of ${network} that was read`);
      ancestor = { number, hash: first.parentHash };
    } else ancestor = await shared(number);
    if (!ancestor) differs = number;
  }
  if (!ancestor) return { kind: 'broken' };
  while (differs - ancestor.number > 1) {
    const middle = ancestor.number + Math.floor((differs - ancestor.number) / 2);
    const found = await shared(middle);
    if (found) ancestor = found;
    else differs = middle;
  }
  return { kind: 'parts', ancestor };
}
