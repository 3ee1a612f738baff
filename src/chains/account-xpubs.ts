import type { Mode, Network } from '../domain/assets.ts';

/** The account-level extended public keys of one mode (m/44'/COIN'/a', BIP-44; a = 0 live, 1 test). */
export type AccountXpubs = Readonly<Record<Network, string>>;

export type XpubVariable = `WALLET_XPUB_${'' | 'TEST_'}${Uppercase<Network>}`;

/** The variable that gives one of them. */
export function xpubVariable(mode: Mode, network: Network): XpubVariable {
  return `WALLET_XPUB_${mode === 'test' ? 'TEST_' : ''}${network.toUpperCase() as Uppercase<Network>}`;
}
