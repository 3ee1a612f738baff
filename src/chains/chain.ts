import type { Network } from '../domain/assets.ts';
import type { AddressKey } from './address-key.ts';

/** How a chain writes what is 20 bytes everywhere. */
export type ChainAddresses = {
  /** What an address looks like, for an operator who wrote something else. */
  readonly form: string;
  /** The key of a complete address in the chain's own spelling, its checksum included; undefined for every other text. */
  parse(text: string): AddressKey | undefined;
  /** The key of an address that is known to be one, as the chain's reader spells it. Throws on a text that is none. */
  key(address: string): AddressKey;
  /** The address as merchants see it. */
  format(key: AddressKey): string;
  /** The address as the chain's reader spells it: one spelling for each key. */
  spell(key: AddressKey): string;
};

/** What a payer's wallet has to be told. `units` are base units, `amount` the same as a decimal string in coins. */
export type PaymentRequest = {
  readonly address: string;
  readonly contract: string;
  readonly units: bigint;
  readonly amount: string;
  /** EIP-155; of chains that have none, ignored. */
  readonly chainId: number;
};

/** What is true of a chain whatever is configured: the one place where its differences from the others are written down. */
export type Chain = {
  readonly network: Network;
  /** As wallets call it, with the name of its token standard. */
  readonly label: string;
  /** The time between two blocks, in milliseconds: pauses between looks depend on it, and nothing else. */
  readonly blockMs: number;
  /** SLIP-44. */
  readonly coinType: number;
  /** The variable that makes the gateway watch it. */
  readonly watchedBy: string;
  readonly addresses: ChainAddresses;
  /** Whether transaction hashes begin with 0x. */
  readonly hashHasPrefix: boolean;
  /** What a wallet reads from a QR code. */
  paymentUri(request: PaymentRequest): string;
};
