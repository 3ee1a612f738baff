import type { FinalPace, ReaderPace } from '../pace.ts';

/**
 * A block comes every 3 s by the chain's own clock and is final 19 later. A provider's free key pays for
 * 100,000 requests a day, of which following takes most: a question that finds nothing is as dear as one that
 * finds a block, and what is final is asked for every 15 blocks: {@link finalPaceOf}.
 */
export const TRON_PACE: ReaderPace = {
  head: {
    closestMs: 300,
    widestMs: 1_500,
    longestBlockMs: 9_000,
    byTheClock: { everyMs: 3_000, earlierMs: 5 },
  },
  final: { outstandingMs: 45_000, quietMs: 60_000, blocks: 14 },
  wholeLookMs: 3_000,
  finalForLongBlocks: 20,
  backlogPollMs: 6_000,
  faultPauseMs: 3_000,
  longestFaultPauseMs: 9_000,
  reconcile: { everyMs: 24 * 60 * 60_000, batchAddresses: 20 },
  balanceBlocks: 64,
  searchBlocks: 1_200,
  toReadMore: 'raise TRON_REQUESTS_PER_DAY where the key allows more, or use a node of your own',
};

/**
 * From so many requests a day on every block is read a second time: 28,800 heads with their bodies, as many
 * infos twice, what is final every 45 s, bodies of blocks that touch us, and what is asked in vain.
 */
export const READS_ALL_REQUESTS = 92_000;

/** With what is final asked for every other block, of two endpoints where there are two. */
const FINAL_SOON_REQUESTS = READS_ALL_REQUESTS + 2 * 14_400;
/** From so many on it is: as much is left for all else as a little below. */
const FINAL_SOON_FROM = 150_000;

/** How soon it is seen that a block is final, where a day allows so many requests. */
export function finalPaceOf(requestsPerDay: number): FinalPace {
  const { final } = TRON_PACE;
  return requestsPerDay < FINAL_SOON_FROM ? final : { ...final, outstandingMs: 6_000, blocks: 1 };
}

/** What following takes of a day. */
export function reservedOf(requestsPerDay: number): number {
  if (requestsPerDay >= FINAL_SOON_FROM) return FINAL_SOON_REQUESTS;
  return requestsPerDay >= READS_ALL_REQUESTS ? READS_ALL_REQUESTS : READS_TOUCHING_REQUESTS;
}

/** Two days of the chain: a pass that begins each day finds what came since the one before. */
const MOST_SEARCHED = 60_000;

/**
 * How many blocks a search may read where a day allows so many requests: an hour of them within a free key,
 * and with more a quarter of what is beyond that, so that following never waits for a search.
 */
export function searchBlocksOf(requestsPerDay: number): number {
  const beyond = Math.floor((requestsPerDay - 100_000) / 4);
  return Math.min(MOST_SEARCHED, Math.max(TRON_PACE.searchBlocks, beyond));
}

/**
 * How soon what a payout lacks is asked for again, in milliseconds: each look takes sixteen requests, and
 * half of what reading leaves of a day is for payouts that can go on.
 */
export function shortLookOf(requestsPerDay: number, reserved: number): number {
  const spare = Math.max(1, requestsPerDay - reserved) / 2;
  return Math.round(Math.min(10 * 60_000, Math.max(30_000, (86_400_000 * 16) / spare)));
}

/** What following takes in a day where only blocks that touch us are read a second time. */
export const READS_TOUCHING_REQUESTS = 75_000;

const figure = (requests: number): string => requests.toLocaleString('en-US');

/**
 * What a day's requests allow, in words, with what is given up where they are few; `problem` where there are
 * days on which they do not even last for following.
 */
export function readWithin(requestsPerDay: number): { readonly allows: string; readonly problem?: string } {
  if (requestsPerDay >= READS_ALL_REQUESTS) return { allows: 'every block is read twice' };
  const allows = `only blocks that touch your addresses are read twice, because reading each twice takes ${figure(READS_ALL_REQUESTS)}; a deposit that an endpoint hides in its first answer is found by the comparison of balances only`;
  if (requestsPerDay >= READS_TOUCHING_REQUESTS) return { allows };
  const problem = `following takes up to ${figure(READS_TOUCHING_REQUESTS)}, so the chain may stand still until midnight (UTC)`;
  return { allows, problem };
}
