// How money of ours is sent on a chain: what a transfer would take, and the sending of what was signed.
import type { Transfer } from './transfer.ts';

/** A transfer that is thought of. Of a coin `units` are what is paid out of, its own fee included. */
export type SpendOrder = Pick<Transfer, 'from' | 'to' | 'kind' | 'units'>;

/** Why a transfer is not to be signed at present; each goes by itself. */
export type SpendRefusal =
  /** The token or the receiver would undo it: found before anything is spent. */
  | 'refuses'
  /** The chain's price for computing is above what is allowed. */
  | 'gas_price'
  /** It would cost as much as it moves. */
  | 'worthless';

export type Quote =
  | {
      readonly kind: 'terms';
      /** In the chain's own form, as `Transfers.terms` reads them. */
      readonly terms: Readonly<Record<string, string | number>>;
      /** What is sent: of a coin less what it keeps back for its fee. */
      readonly units: bigint;
      /** The most that it can cost, in base units of the coin. */
      readonly mostUnits: bigint;
    }
  | { readonly kind: 'refused'; readonly code: SpendRefusal; readonly reason: string };

/** The sending side of a chain, over its configured endpoints. */
export type Spending = {
  /**
   * What a transfer takes now: it is tried on the chain's state without being sent. `above` are the terms
   * that a replacement has to outbid: those of the attempt in the same place that pays most. The coins of an
   * address are not looked at, but where they go to a contract: nodes try that only with the coins there.
   * Throws where no endpoint gives a whole answer, which is never called a refusal.
   */
  quote(
    order: SpendOrder,
    options: { readonly above?: Readonly<Record<string, string | number>> | undefined },
    signal: AbortSignal,
  ): Promise<Quote>;
  /**
   * Sends signed bytes to every endpoint. What each said, for a log; none of it proves anything. Never throws
   * for an answer, nor where an endpoint is away; only the signal's reason. Takes 5 s at most.
   */
  broadcast(raw: Uint8Array, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * How many endpoints say that a transaction in a block failed, how many that it succeeded, and how many
   * were asked. Never throws for an answer, nor where an endpoint is away.
   */
  outcomes(
    hash: string,
    signal: AbortSignal,
  ): Promise<{ readonly failed: number; readonly succeeded: number; readonly asked: number }>;
  /** How long a transaction may wait for a block before it is sent again, and before it is outbid. */
  readonly resendMs: number;
  readonly outbidMs: number;
};
