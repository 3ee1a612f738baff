import type { Currency, Network } from '../../domain/assets.ts';

/** What the watcher tells the process's metrics. Every member may be missing; none may throw. */
export type ChainReport = {
  /** After every poll: the last block whose deposits are recorded, the newest and the newest final block. */
  heights?(at: {
    readonly network: Network;
    readonly scanned: number;
    readonly head: number;
    readonly finalized: number;
  }): void;
  /**
   * Deposits that only a later read, the reconciliation or
   * an operator found. Anything but 0 deserves an alarm.
   */
  foundLate?(found: { readonly network: Network; readonly deposits: number }): void;
  /** After every reconciliation pass: how many balances differ from the ledger and are not explained. */
  differences?(open: { readonly network: Network; readonly count: number }): void;
  /**
   * A balance that does not agree with the ledger, once for each
   * change of it. Positive: more on the chain than in the ledger.
   */
  difference?(found: {
    readonly network: Network;
    readonly currency: Currency;
    readonly units: bigint;
  }): void;
};
