import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { Transfer } from '../../chains/reader.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import { idFrom } from '../named-id.ts';

export type DepositKey = {
  readonly mode: Mode;
  readonly network: Network;
  readonly transactionHash: string;
  readonly addressKey: AddressKey;
  readonly currency: Currency;
};

/**
 * The id of a deposit: a UUID (version 8: free form) made from its identity, so that the same
 * transfer can only ever become the same deposit, whichever caller records it and however often.
 */
export function depositIdOf(key: DepositKey): string {
  return idFrom(['deposit', key.mode, key.network, key.transactionHash, key.addressKey, key.currency]);
}

/** The id of the deposit that a transfer on a chain is, or becomes. */
export function idOfTransfer(
  network: Network,
  { txHash, to, currency }: Pick<Transfer, 'txHash' | 'to' | 'currency'>,
): string {
  return depositIdOf({
    mode: 'live',
    network,
    transactionHash: txHash,
    addressKey: addressKeyOf(network, to),
    currency,
  });
}
