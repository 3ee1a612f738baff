import type { PassPace } from '../../chains/pace.ts';
import type { ChainReader, FinalBlock } from '../../chains/reader.ts';
import type { Spending } from '../../chains/spending.ts';
import type { ChainReport } from './report.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

/**
 * What a watcher remembers of blocks that hold an unproven amount: how
 * often it tried, and when it tries again (milliseconds since 1970).
 */
export type ProofTries = Map<number, { readonly tries: number; readonly atMs: number }>;

/** A chain with what one watcher remembers of it between two polls; all of it can be lost without harm. */
export type WatchedChain = {
  readonly reader: ChainReader;
  readonly watched: WatchedAddresses;
  readonly report?: ChainReport | undefined;
  /** How the reconciliation is paced; unset means as the reader says. */
  readonly pace?: PassPace | undefined;
  /** Absent where nothing is paid out on it. */
  readonly spending?: Spending | undefined;
  wakeFor?: string;
  /** Blocks that hold something of ours and were not final when they were read. */
  awaited?: readonly number[];
  /** Blocks in which coins came to or left a wallet that pays for gas, and that are not verified yet. */
  gasMoved?: readonly number[];
  /** A final block above what is scanned: the next place where the kept chain can prove itself. */
  named?: FinalBlock;
  proofs?: ProofTries;
};
