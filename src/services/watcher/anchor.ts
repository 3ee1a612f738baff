import type { BlockRef, ChainReader, FinalBlock, HeightView, NamedBlock } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { Deps } from '../deps.ts';
import { hashAt, type Place } from './branch.ts';
import { keptHash, lowestKept } from './kept-blocks.ts';

/**
 * What a block that was named as final says about the kept chain: that it
 * runs through this block, that it has another block there, or nothing new.
 */
export type Judgement =
  | { readonly kind: 'anchors' | 'nothing new' }
  | { readonly kind: 'differs'; readonly block: NamedBlock };

/**
 * Endpoints contradict each other, or themselves, about what
 * is final. Nothing is verified or withdrawn on such words.
 */
export class FinalityContradiction extends Error {
  override readonly name = 'FinalityContradiction';
  readonly action =
    'compare the block with an explorer and take the endpoint that is on the wrong branch out of the RPC URLs; once all that are left agree, it goes on by itself';
}

/**
 * No kept block is in the chain any more: the RPC endpoints serve
 * another chain, or it was rewritten deeper than anything we kept.
 */
export class NoCommonBlock extends Error {
  override readonly name = 'NoCommonBlock';
  readonly action = 'check that the RPC URLs belong to the configured chain and are in sync';
}

const LINKS_AT_ONCE = 12;
/** More than an hour of the chain: after a longer outage an operator compares by hand. */
const MAX_LINKS = 10_000;

/**
 * Compares a block that was named as final with the one that was kept at its height. When two RPC endpoints
 * named one each, the kept chain has to run through both of them, and the lower one is the anchor: above it
 * only one of them has said anything. While another endpoint's word is still awaited, nothing anchors.
 */
export async function judgeFinal(deps: Deps, cursor: ChainCursor, final: FinalBlock): Promise<Judgement> {
  let isKnown = final.isAwaited !== true;
  for (const block of final.second ? [final, final.second] : [final]) {
    const ours =
      block.number > cursor.scannedNumber ? undefined : await keptHash(deps, cursor.network, block.number);
    if (ours !== undefined && ours !== block.hash) return { kind: 'differs', block };
    isKnown &&= ours !== undefined;
  }
  return { kind: isKnown && final.number > cursor.anchoredNumber ? 'anchors' : 'nothing new' };
}

/**
 * The height up to which the chain must be scanned before it can
 * be said whether it runs through everything that was named.
 */
export function topOf(final: FinalBlock): number {
  return Math.max(final.number, final.second?.number ?? final.number);
}

/**
 * The block to go back to when finality itself broke: below one that was named as final before.
 * That is believed only when all RPC endpoints agree and none is silent, and only when the final
 * block that one of them named links down, parent by parent, to another block than ours: answers
 * of two nodes behind one address cannot make such a chain. Throws {@link FinalityContradiction}
 * when it is not proven, {@link NoCommonBlock} when nothing that we kept is left.
 */
export async function belowBrokenFinality(
  deps: Deps,
  reader: ChainReader,
  cursor: ChainCursor,
  { final, signal }: { readonly final: NamedBlock; readonly signal: AbortSignal },
): Promise<Place> {
  const { network } = cursor;
  const number = Math.min(final.number, cursor.anchoredNumber);
  const ours =
    (number === cursor.anchoredNumber ? cursor.anchoredHash : undefined) ??
    (await keptHash(deps, network, number));
  const views = await reader.views(number, signal);
  const linked = await linkedDown(reader, final, number, signal);
  const agreed = views.every(
    ({ finalized, block }) => finalized && finalized.number >= number && hashOf(block) === linked,
  );
  if (linked === undefined || linked === ours || views.length < reader.endpoints || !agreed)
    throw new FinalityContradiction(
      `${final.host} names ${final.hash} as final at block ${final.number} of ${network}; at block ${number} the chain that was watched holds ${ours}, which was final before, and the endpoints have ${saidBy(views, reader.endpoints)}`,
    );
  deps.log.error(
    { network, block: number, ours, theirs: linked },
    'finality broke: every endpoint has another chain than the one that was final',
  );
  return await sharedBelow(deps, reader, { cursor, host: final.host, number, signal });
}

/**
 * The hash of the ancestor of `from` at a height, by the links
 * from parent to parent; undefined when these are not shown.
 */
async function linkedDown(
  reader: ChainReader,
  from: BlockRef,
  number: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (from.number - number > MAX_LINKS) return undefined;
  let at: { number: number; hash: string; parentHash: string | undefined } = from;
  while (at.number > number) {
    const numbers = Array.from(
      { length: Math.min(LINKS_AT_ONCE, at.number - number) },
      (_, index) => at.number - 1 - index,
    );
    for (const header of await Promise.all(numbers.map((one) => reader.header(one, signal)))) {
      if (!header || header.hash !== at.parentHash)
        return at.number - 1 === number ? at.parentHash : undefined;
      at = header;
    }
  }
  return at.hash;
}

async function sharedBelow(
  deps: Deps,
  reader: ChainReader,
  {
    cursor,
    host,
    number,
    signal,
  }: {
    readonly cursor: ChainCursor;
    readonly host: string;
    readonly number: number;
    readonly signal: AbortSignal;
  },
): Promise<Place> {
  const { network } = cursor;
  const lowest = await lowestKept(deps, network);
  for (let at = number - 1; lowest && at >= lowest.number; at -= 1) {
    const ours = await keptHash(deps, network, at);
    if (ours !== undefined && ours === (await hashAt(reader, host, at, signal)))
      return { number: at, hash: ours };
  }
  // Everything we ever scanned was replaced, down to where we
  // began: we stand on the parent of the first block again.
  if (lowest && lowest.number === cursor.firstBlock)
    return { number: lowest.number - 1, hash: lowest.parentHash };
  throw new NoCommonBlock(
    `${network}: none of the scanned blocks (down to ${lowest?.number ?? cursor.scannedNumber}) is in the chain that the endpoints serve`,
  );
}

const hashOf = (block: HeightView['block']): string => (typeof block === 'string' ? block : block.hash);

function saidBy(views: readonly HeightView[], endpoints: number): string {
  const said = views.map(({ host, block }) => `${hashOf(block)} (${host})`);
  const silent = endpoints - views.length;
  return [...said, ...(silent > 0 ? [`no answer (${silent} of ${endpoints})`] : [])].join(', ');
}
