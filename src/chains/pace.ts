// How often a chain is asked, and how far back. Types only: the figures are each chain's own.

/**
 * When the head is worth asking for: gaps between two
 * questions, and the longest time a block is believed to take.
 */
export type HeadPace = {
  readonly closestMs: number;
  readonly widestMs: number;
  readonly longestBlockMs: number;
};

/** After which time what is final is asked for again: while a final block is due, and while none is. */
export type FinalPace = { readonly outstandingMs: number; readonly quietMs: number };

/** How the comparison of balances is paced. */
export type PassPace = {
  /** From the start of one pass to the start of the next. */
  readonly everyMs: number;
  /** Addresses compared at a time, at most 500. */
  readonly batchAddresses: number;
};

/** What a chain's speed, and what its endpoints let anybody ask, make of the work of a watcher. */
export type ReaderPace = {
  readonly head: HeadPace;
  readonly final: FinalPace;
  /**
   * Finality can move while the head stands, and readiness
   * wants a sign of life: a whole look at least this often.
   */
  readonly wholeLookMs: number;
  /**
   * A read this far below the final block was made when no
   * endpoint in use could still be importing the block.
   */
  readonly finalForLongBlocks: number;
  readonly reconcile: PassPace;
  /** Up to so many blocks below the final one, endpoints still tell the balances of a height. */
  readonly balanceBlocks: number;
  /**
   * Blocks read one by one, at most, in search of a payment where
   * no endpoint keeps old balances: some hours of the chain.
   */
  readonly searchBlocks: number;
};
