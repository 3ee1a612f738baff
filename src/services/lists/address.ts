import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, normaliseAddress } from '../../chains/addresses.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { Refusal } from '../refusal.ts';

/**
 * The address that a list is filtered by, in any spelling of its network: 0x in any case, where mixed case
 * has a right checksum, or base58 as it is. Throws a {@link Refusal} for a text that is no address.
 */
export function addressAsked(text: string): { readonly network: Network; readonly key: AddressKey } {
  const network = NETWORKS.find((candidate) => normaliseAddress(candidate, text) !== undefined);
  if (!network)
    throw new Refusal('INVALID', 'address must be a complete address of one of the networks.', 'address');
  return { network, key: addressKeyOf(network, text) };
}
