import { UsageError } from '../base/errors.ts';
import type { AddressKey } from '../chains/address-key.ts';
import type { Network } from '../domain/assets.ts';

/**
 * The key of an address that an option names. Throws a UsageError that names the option for every text that
 * is not a whole address in the network's own spelling: a mistyped one must not become another one.
 */
export async function addressGiven(option: string, network: Network, text: string): Promise<AddressKey> {
  const { chainOf } = await import('../chains/index.ts');
  const { parse, form } = chainOf(network).addresses;
  const key = parse(text.trim());
  if (key === undefined)
    throw new UsageError(`${option} must be ${form}, with a right checksum; copy it again`);
  return key;
}

/** The hash of a transaction that an option names, as the network's reader spells it. Throws a UsageError. */
export async function hashGiven(option: string, network: Network, text: string): Promise<string> {
  const { hashForm, transactionHashOf } = await import('../chains/addresses.ts');
  const hash = transactionHashOf(network, text.trim());
  if (hash === undefined) throw new UsageError(`${option} must be ${hashForm(network)}; copy it again`);
  return hash;
}
