import type { ReaderPace } from '../pace.ts';

/**
 * A block takes 0.45 s and is final two later; requests cost
 * little, and nodes keep the state of about a hundred blocks.
 */
export const BSC_PACE: ReaderPace = {
  head: { closestMs: 75, widestMs: 1_000, longestBlockMs: 5_000 },
  final: { outstandingMs: 1_000, quietMs: 3_000, blocks: 1, awaitedAtOnce: true },
  wholeLookMs: 1_000,
  finalForLongBlocks: 128,
  backlogPollMs: 2_000,
  faultPauseMs: 1_000,
  longestFaultPauseMs: 1_000,
  reconcile: { everyMs: 60 * 60_000, batchAddresses: 200 },
  balanceBlocks: 64,
  searchBlocks: 20_000,
  toReadMore: 'add an RPC endpoint that keeps old balances',
};
