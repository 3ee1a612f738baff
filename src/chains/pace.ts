// How often a chain is asked, and how far back. Types only: the figures are each chain's own.

/**
 * When to ask for the head: the gaps between two questions, and the longest time a block is believed to take.
 */
export type HeadPace = {
  readonly closestMs: number;
  readonly widestMs: number;
  readonly longestBlockMs: number;
};

/** After which time the final block is asked for again: while a newer one is due, and while none is. */
export type FinalPace = { readonly outstandingMs: number; readonly quietMs: number };

/** How reconciliation passes are paced. */
export type PassPace = {
  /** From the start of one pass to the start of the next. */
  readonly everyMs: number;
  /** Addresses compared at a time, at most 500. */
  readonly batchAddresses: number;
};

/** The pace of a watcher, set by the chain's speed and by the limits of its endpoints. */
export type ReaderPace = {
  readonly head: HeadPace;
  readonly final: FinalPace;
  /**
   * The longest time between two whole polls: finality can move while the head stands
   * still, and readiness needs a sign of life.
   */
  readonly wholeLookMs: number;
  /**
   * A read this far below the final block was made when no
   * endpoint in use could still be importing the block.
   */
  readonly finalForLongBlocks: number;
  readonly reconcile: PassPace;
  /** For this many blocks below the final one, endpoints still tell the balances at a height. */
  readonly balanceBlocks: number;
  /**
   * How many blocks at most are read one by one in search of a payment where no endpoint
   * keeps old balances: some hours of the chain.
   */
  readonly searchBlocks: number;
};
