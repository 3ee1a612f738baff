// How money of ours is sent on a chain: what a transfer would take, and the sending of what was signed.
import type { AddressKey } from './address-key.ts';
import type { BlockRef } from './reader.ts';
import type { Transfer } from './transfer.ts';

type Terms = Readonly<Record<string, string | number>>;

/** A transfer that is thought of. Of a coin `units` are what is paid out of, its own fee included. */
export type SpendOrder = Pick<Transfer, 'from' | 'to' | 'units'> & { readonly kind: 'native' | 'token' };

/** Why a transfer is not to be signed at present; each goes by itself. */
export type SpendRefusal =
  /** The token or the receiver would undo it: found before anything is spent. */
  | 'refuses'
  /** The chain's price for computing is above what is allowed. */
  | 'gas_price'
  /** It would cost as much as it moves. */
  | 'worthless'
  /** What may be asked of the endpoints in a day is needed for reading the chain. */
  | 'requests';

export type Quote =
  | {
      readonly kind: 'terms';
      /** In the chain's own form, as `Transfers.terms` reads them. */
      readonly terms: Terms;
      /** What is sent: of a coin less what it keeps back for its fee. */
      readonly units: bigint;
      /** The most that it can cost, in base units of the coin. */
      readonly mostUnits: bigint;
    }
  | { readonly kind: 'refused'; readonly code: SpendRefusal; readonly reason: string };

/** What endpoints say of a transaction in blocks: a host for each that says so. */
export type Outcomes = {
  readonly failed: readonly string[];
  readonly succeeded: readonly string[];
  /** Those of whose kept chain a block holds it, however it ended: some do not know how. */
  readonly held: readonly string[];
  readonly absent: readonly string[];
  readonly asked: readonly string[];
};

/**
 * Where a transaction is looked for. In the block that is said to hold it: an endpoint denies it that shows
 * another block of the kept chain at that height, or this one without it. Whoever keeps neither says nothing:
 * nodes drop their index of transactions, and whole blocks, after a time. Or in all blocks up to the time at
 * which it could land no more, on a chain where this ends it; elsewhere nobody says anything of that.
 */
export type Sought = Pick<BlockRef, 'number' | 'hash'> | Date;

/** What it takes that an address pays for computing with energy which a wallet of ours has staked for. */
export type Loan = {
  /** What the address has now, and takes at most. By the word of one of several endpoints it has nothing. */
  readonly has: bigint;
  readonly needs: bigint;
  /** The part of the stake to lend, in base units of the coin: all that it needs, whatever it has. */
  readonly units: bigint;
  /** The part that can be lent at present; nothing by the word of one of several endpoints. */
  readonly lendable: bigint;
  /** The coins that the address needs all the same. */
  readonly coinUnits: bigint;
  /** Whether the chain knows the address: one that it does not is lent nothing. */
  readonly isKnown: boolean;
  /** The most that lending and taking back cost the lender together. */
  readonly mostUnits: bigint;
};

/** Lending of what a stake gives, on a chain where that pays for computing. */
export type Lending = {
  /**
   * Looks at a loan for a token's transfer with these terms, by two endpoints, where there are two: of what
   * they say the worse counts. Throws where no endpoint gives a whole answer.
   */
  look(
    parties: { readonly lender: AddressKey; readonly borrower: AddressKey },
    terms: Terms,
    signal: AbortSignal,
  ): Promise<Loan>;
  /** The terms of the transaction that lends or takes back. */
  terms(signal: AbortSignal): Promise<Terms>;
  /**
   * What a wallet has lent an address in final blocks, in base units of the coin: the most that any of two
   * endpoints says, where there are two. Undefined where one of several says alone that there is none.
   */
  lent(
    parties: { readonly lender: AddressKey; readonly borrower: AddressKey },
    signal: AbortSignal,
  ): Promise<bigint | undefined>;
};

/** The sending side of a chain, over its configured endpoints. */
export type Spending = {
  /**
   * What a transfer takes now: it is tried on the chain's state without being sent. `above` are the terms
   * that a replacement has to outbid: those of the attempt in the same place that pays most. `careful`: a
   * transfer has failed of late, so nothing is counted on that an address may have free, and two endpoints
   * have to take it, where there are two; of what they say that it takes, the dearer counts. The coins of an
   * address are not looked at, but where they go to a contract: nodes try that only with the coins there.
   * Throws where no endpoint gives a whole answer, which is never called a refusal.
   */
  quote(
    order: SpendOrder,
    options: {
      readonly above?: Terms | undefined;
      readonly careful?: boolean | undefined;
    },
    signal: AbortSignal,
  ): Promise<Quote>;
  /**
   * Sends signed bytes to every endpoint. What each said, for a log; none of it proves anything. Never throws
   * for an answer, nor where an endpoint is away; only the signal's reason. Takes 5 s at most.
   */
  broadcast(raw: Uint8Array, signal: AbortSignal): Promise<readonly string[]>;
  /** What each endpoint says of a transaction. Never throws for an answer, nor where an endpoint is away. */
  outcomes(hash: string, sought: Sought, signal: AbortSignal): Promise<Outcomes>;
  /**
   * The least that a transfer of the token has taken of late, in base units of the coin; undefined where none
   * was tried. Absent where asking costs nothing.
   */
  readonly leastTokenCost?: (() => bigint | undefined) | undefined;
  /** Absent on a chain where nothing can be lent. */
  readonly lending?: Lending | undefined;
  /** Whether tokens are paid out on what is lent; else they burn coins, and loans are only taken back. */
  readonly lends?: boolean | undefined;
  /** How long a transaction may wait for a block before it is sent again, and before it is outbid. */
  readonly resendMs: number;
  readonly outbidMs: number;
  /** So much more coins than a transfer needs are sent for it, in percent: its cost may rise until then. */
  readonly topUpMarginPercent: bigint;
  /** How soon it is worth looking whether something is final by now. */
  readonly finalLookMs: number;
  /** The same for what an address or a wallet lacks: each look takes requests. */
  readonly shortLookMs: number;
};
