// What the parts of the double tell each other.
import type { AddressKey } from '../../src/chains/address-key.ts';
import type { Header, Result } from './ids.ts';
import type { Message } from './messages.ts';

/** A transaction as it was signed; what it says is in `message`. */
export type Signed = {
  readonly id: string;
  readonly raw: Buffer;
  readonly signatures: readonly string[];
  readonly message: Message;
  readonly type: string;
  /** What its only contract says. */
  readonly value: Message;
  readonly owner: AddressKey;
};

/** Hex without 0x. */
export type Log = { readonly address: AddressKey; readonly topics: readonly string[]; readonly data: string };
export type Internal = {
  readonly caller: AddressKey;
  readonly to: AddressKey;
  readonly sun: bigint;
  readonly note: 'call' | 'create' | 'suicide';
  readonly rejected: boolean;
};

/** What a transaction did and cost, in sun. */
export type Outcome = {
  readonly result: Result;
  /** Code ran, so that the receipt says how it ended. */
  readonly isCall: boolean;
  readonly contract?: AddressKey | undefined;
  readonly output: string;
  readonly logs: readonly Log[];
  readonly internals: readonly Internal[];
  readonly reason?: string | undefined;
  readonly netUsage: bigint;
  readonly netFee: bigint;
  /** All that the code took. */
  readonly energy: bigint;
  /** What of it came from a stake; the rest was burned. */
  readonly energyUsage: bigint;
  readonly energyFee: bigint;
  readonly systemFee: bigint;
};

export type Executed = {
  readonly signed: Signed;
  readonly outcome: Outcome;
  /** The transactions of the EVM node that make it true, with how each ends. */
  readonly evm: readonly { readonly hash: string; readonly succeeds: boolean }[];
};

export type Block = {
  readonly header: Header;
  readonly id: string;
  readonly transactions: readonly Executed[];
  /** Where the accounts stood behind it. */
  readonly mark: number;
  readonly signature: () => string;
};

/** A broadcast that is refused, with the node's code and words. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The refusal of what a contract says. */
export function invalid(words: string): Refusal {
  return new Refusal('CONTRACT_VALIDATE_ERROR', words);
}
