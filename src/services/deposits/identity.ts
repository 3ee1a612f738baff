import { createHash } from 'node:crypto';
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { Transfer } from '../../chains/reader.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';

export type DepositKey = {
  readonly mode: Mode;
  readonly network: Network;
  readonly transactionHash: string;
  readonly addressKey: AddressKey;
  readonly currency: Currency;
};

/**
 * The id of a deposit: a UUID (version 8: free form) made from its identity, so that the same transfer can only ever become the same
 * deposit, whoever records it and however often.
 */
export function depositIdOf(key: DepositKey): string {
  return idFrom(['deposit', key.mode, key.network, key.transactionHash, key.addressKey, key.currency]);
}

/** The id of the deposit that a transfer on a chain is, or becomes. */
export function idOfTransfer(network: Network, { txHash, to, currency }: Pick<Transfer, 'txHash' | 'to' | 'currency'>): string {
  return depositIdOf({ mode: 'live', network, transactionHash: txHash, addressKey: addressKeyOf(network, to), currency });
}

/** The UUID (version 8) of a thing that is known by words alone: the same words, the first of them its kind, always give the same id. */
export function idFrom(words: readonly [kind: string, ...names: string[]]): string {
  const name = words.join('\n');
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
