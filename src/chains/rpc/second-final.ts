// What a second endpoint names as final, so that the word of a single one does not decide alone.

import { within } from '../../base/async/within.ts';
import type { FinalBlock, NamedBlock } from '../reader.ts';
import type { Pool, Session } from './types.ts';

export type SecondFinalOptions<S extends Session> = {
  readonly pool: Pool<S>;
  /** The newest block of an endpoint, or the newest that it calls final; undefined where it names none. */
  readonly ask: (session: S, which: 'newest' | 'final') => Promise<NamedBlock | undefined>;
  readonly now: () => number;
  /**
   * Called when nobody confirms what is final, when two name
   * blocks far apart, and when that is over. Names hosts only.
   */
  readonly report?: ((message: string) => void) | undefined;
};

/**
 * New blocks come first: no endpoint is waited for any longer than this, and one that did
 * not answer in time is left alone for a while.
 */
const WAIT_MS = 500;
const REST_MS = 10_000;
/** Nothing is verified during this time: what a slow endpoint does not call final yet may be an orphan. */
const PATIENCE_MS = 5_000;
/** The wait is not longer than this while the answer before can still be used. */
const SHORT_WAIT_MS = 75;
/** An answer counts as a second witness for this long. */
const FRESH_MS = 10_000;
/**
 * Healthy endpoints are at most this far apart. An endpoint that does not even have the block that the first
 * one calls final is behind, and says nothing about it.
 */
const NEAR_BLOCKS = 3;
/**
 * An answer that is being asked for again counts until it is this far behind; two
 * endpoints this far apart mean that something is wrong.
 */
const LATE_BLOCKS = 12;
/**
 * Where a second endpoint names a height this far above, that height is invented or the first endpoint is far
 * behind: what the first one names is no less final for that.
 */
const AHEAD_BLOCKS = 20;

/**
 * What an endpoint named as final, up to which height it has
 * blocks at least, and what the first one named when it was asked.
 */
type Witness = {
  readonly block: NamedBlock;
  readonly knowsUpTo: number;
  readonly besideNumber: number;
  readonly atMs: number;
};
type Words = 'alone' | 'together' | 'apart';

export interface SecondFinal {
  /**
   * The block that the endpoint with this place in the list named, together with the block that
   * another one names; alone where no other names one.
   */
  beside(first: NamedBlock, endpoint: number, signal: AbortSignal): Promise<FinalBlock>;
}

/** Makes the second witness of a pool. With one endpoint it asks nobody. */
export function createSecondFinal<S extends Session>(options: SecondFinalOptions<S>): SecondFinal {
  const { pool, now, report } = options;
  let last: Witness | undefined;
  let asking: Promise<void> | undefined;
  let restUntil = Number.NEGATIVE_INFINITY;
  const say = sayings(pool.name, report);
  let asked: number | undefined;
  let aloneSince: number | undefined;

  const question = async (first: NamedBlock, endpoint: number, signal: AbortSignal): Promise<void> => {
    const far: Witness[] = [];
    // An endpoint that stands still or runs ahead decides only where no other one is near:
    // else it alone could stop what two others name.
    const nearOn = async (session: S): Promise<Witness | undefined> => {
      const seen = await witnessOn(session, first, options);
      if (!seen || Math.abs(seen.block.number - first.number) <= NEAR_BLOCKS) return seen;
      far.push(seen);
      return undefined;
    };
    const near = await pool.elsewhere(endpoint, nearOn, signal).catch(() => undefined);
    const seen = near ?? far.find((one) => isWitness(one, first)) ?? far[0];
    if (seen) last = { ...seen, atMs: now() };
    else restUntil = now() + REST_MS;
  };

  const witnessFor = (first: NamedBlock): NamedBlock | undefined => {
    if (!last || now() - last.atMs >= FRESH_MS || last.block.host === first.host) return undefined;
    return isWitness(last, first) ? last.block : undefined;
  };

  return {
    async beside(first, endpoint, signal) {
      if (pool.status().length < 2) return first;
      // As long as it is near, the answer before this one still is the lower of two. It is also
      // asked again where the first endpoint has not moved.
      const isOld =
        !last || first.number - last.block.number > NEAR_BLOCKS || now() - last.atMs > FRESH_MS / 2;
      const isNews = isOld || first.number === asked;
      asked = first.number;
      if (isNews && !asking && now() >= restUntil) {
        asking = question(first, endpoint, signal).finally(() => {
          asking = undefined;
        });
        const isAtHand = witnessFor(first) !== undefined;
        const inTime = await within(
          isAtHand ? SHORT_WAIT_MS : WAIT_MS,
          asking.then(() => true),
          () => false,
        );
        if (!inTime && !isAtHand) restUntil = now() + REST_MS;
      }
      const second = witnessFor(first);
      if (second) aloneSince = undefined;
      else aloneSince ??= now();
      if (asking && aloneSince !== undefined && now() - aloneSince < PATIENCE_MS)
        return { ...first, isAwaited: true };
      say(first, second);
      if (!second) return first;
      return second.number < first.number ? { ...second, second: first } : { ...first, second };
    },
  };
}

/**
 * What one endpoint names as final, beside the block that the first one named; undefined where it names none.
 */
async function witnessOn<S extends Session>(
  session: S,
  first: NamedBlock,
  { ask, now }: Pick<SecondFinalOptions<S>, 'ask' | 'now'>,
): Promise<Witness | undefined> {
  const block = await ask(session, 'final');
  if (!block) return undefined;
  const isNear = block.number >= first.number - NEAR_BLOCKS;
  const knowsUpTo = isNear ? block.number : ((await ask(session, 'newest'))?.number ?? block.number);
  return { block, knowsUpTo, besideNumber: first.number, atMs: now() };
}

/**
 * Whether the witness says anything about the block that the first one names: it does not where it
 * is behind that block, nor where it is far above it.
 */
function isWitness({ block, knowsUpTo, besideNumber }: Witness, first: NamedBlock): boolean {
  const isBehind = knowsUpTo < besideNumber - NEAR_BLOCKS || knowsUpTo < first.number - LATE_BLOCKS;
  return !isBehind && block.number <= first.number + AHEAD_BLOCKS;
}

/** Reports what became of the second witness, where that changed. */
function sayings(
  name: string,
  report: SecondFinalOptions<Session>['report'],
): (first: NamedBlock, second: NamedBlock | undefined) => void {
  let words: Words = 'together';
  return (first, second) => {
    const isFar = second && Math.abs(second.number - first.number) > LATE_BLOCKS;
    const said: Words = second ? (isFar ? 'apart' : 'together') : 'alone';
    if (said === words) return;
    words = said;
    if (!second)
      report?.(
        `${name}: what is final is believed of ${first.host} alone, because no second endpoint tells it in time`,
      );
    else if (isFar)
      report?.(
        `${name}: ${first.host} names block ${first.number} as final and ${second.host} block ${second.number}: nothing is completed above the lower one, nor before the chain has both; where that lasts, compare them with an explorer`,
      );
    else report?.(`${name}: what is final is confirmed by a second endpoint again`);
  };
}
