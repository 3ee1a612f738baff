// How often a chain is asked, and how far back. Types only: the figures are each chain's own.

/**
 * When to ask for the head: the gaps between two questions, and the longest time a block is believed to take.
 */
export type HeadPace = {
  readonly closestMs: number;
  readonly widestMs: number;
  readonly longestBlockMs: number;
  /**
   * Set for a chain whose blocks come by the clock and whose questions are costly: the next question comes
   * after `everyMs`, less `earlierMs` where the last one found a block at once, so that nearly every question
   * finds one. Unset: blocks are expected at the interval that was seen.
   */
  readonly byTheClock?: { readonly everyMs: number; readonly earlierMs: number };
};

/**
 * When the final block is asked for again: after which time while a newer one is due, and while none is; and
 * at once when it must have moved by more than this many blocks. `awaitedAtOnce`: also when a block must be
 * final by now that holds something of ours.
 */
export type FinalPace = {
  readonly outstandingMs: number;
  readonly quietMs: number;
  readonly blocks: number;
  readonly awaitedAtOnce?: true;
};

/** How reconciliation passes are paced. */
export type PassPace = {
  /** From the start of one pass to the start of the next. */
  readonly everyMs: number;
  /** Addresses compared at a time, at most 500. */
  readonly batchAddresses: number;
  /** After which time a difference is looked at again where no balances of the past are kept. */
  readonly lookAgainMs?: number;
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
  /** How long a poll reads on in a backlog before the head is asked for again. */
  readonly backlogPollMs: number;
  /**
   * The pause after a poll that failed, and after one of many in a row: each asks for more than one that
   * succeeds, and trouble that lasts is no shorter for being asked about often.
   */
  readonly faultPauseMs: number;
  readonly longestFaultPauseMs: number;
  readonly reconcile: PassPace;
  /** For this many blocks below the final one, endpoints still tell the balances at a height. */
  readonly balanceBlocks: number;
  /**
   * How many blocks at most are read one by one in search of a payment where no endpoint
   * keeps old balances: some hours of the chain.
   */
  readonly searchBlocks: number;
  /** What an operator does so that more may be read than following takes; the rest of a sentence. */
  readonly toReadMore: string;
};

/** Adds requests to the sum of a day (written as 2026-01-31) and returns the new sum. */
export type AddRequests = (use: { readonly day: string; readonly used: number }) => Promise<number>;

/** Counts requests that all processes share. */
export interface RequestCount {
  /**
   * From now on requests are taken from the sum of all processes, some at a time and before they are sent: so
   * that sum is never less than what was sent, whoever sends it and however a process ends. While `add`
   * throws or does not answer they are counted here alone, and added next time.
   */
  sharedBy(add: AddRequests): void;
}
