import type { AddressKey } from '../../chains/address-key.ts';
import { assetOf, type Currency, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import { depositIdOf } from '../deposits/identity.ts';

/** The place of a balance: all that is needed to ask what should lie there. */
export type Place = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly currency: Currency;
};

/** The live deposit that a transaction makes at a place. */
export function depositIdAt({ network, addressKey, currency }: Place, transactionHash: string): string {
  return depositIdOf({ mode: 'live', network, transactionHash, addressKey, currency });
}

/** An amount at a place, as people read it: with its currency. */
export function amountAt({ network, currency }: Place, units: bigint): string {
  return `${formatUnits(units, assetOf(network, currency).decimals)} ${currency}`;
}
