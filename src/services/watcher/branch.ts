import type { ChainReader, HeightView } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { Deps } from '../deps.ts';
import { keptHash } from './kept-blocks.ts';

/** A block of a chain: enough to stand on. */
export type Place = { readonly number: number; readonly hash: string };

/**
 * How the kept chain relates to the one that the best endpoint sees. `stands`: that endpoint has our
 * newest block, or does not know better. `parts`: it has another one; `ancestor` is the highest block
 * that both have, not below the anchor. `broken`: not even the anchored block is in what it sees.
 */
export type Branch =
  | { readonly kind: 'stands' }
  | { readonly kind: 'parts'; readonly ancestor: Place }
  | { readonly kind: 'broken' };

/** What is known of the branches does not decide anything now; asked again, it may. */
export class BranchUnclear extends Error {
  override readonly name = 'BranchUnclear';
}

/**
 * Asks every endpoint what it has at our newest height, and follows the one that is furthest. An
 * endpoint whose finality is behind our anchor is behind, not right: it moves nothing. Only where every
 * endpoint is behind (a chain that became shorter) the furthest is believed all the same, because down
 * to the anchor a wrong step costs a detour only. Throws {@link BranchUnclear} and the reader's errors.
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
    // about what lies above. Another block where we stand is more than that: where nothing
    // was scanned above the anchor, it is the anchored block itself that was replaced.
    return { kind: best.block === 'above its head' ? 'stands' : 'broken' };
  }
  return await searchDown(deps, reader, { cursor, host: best.host, top: top.number, signal });
}

/** The hash that an endpoint has at a height. Throws {@link BranchUnclear} where it does not tell. */
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

/** Among equals, the one that has what we have. */
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
 * Where nothing was scanned yet, the chain is the one that the
 * furthest endpoint has: what we began above may have been replaced.
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

/** Goes down from `top`, which differs, in doubling steps, and halves the last one. */
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
    // Where following began, nothing was ever named as final: what lies below is not ours to judge.
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
