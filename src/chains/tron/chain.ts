import type { Chain } from '../chain.ts';
import { CHAIN_NAMES } from '../names.ts';
import { TRON_ADDRESSES } from './addresses.ts';
import { TRON_SETTINGS, type TronSettings } from './settings.ts';

/**
 * Tron: 3 s blocks, addresses in base58check over the same 20 bytes that an EVM derives from the public
 * key. It has no standard for payments; wallets took the form with amount and token over from Bitcoin.
 */
export const TRON: Chain<TronSettings> = {
  network: 'tron',
  name: CHAIN_NAMES.tron,
  label: 'Tron (TRC-20)',
  blockMs: 3_000,
  coinType: 195,
  watchedBy: 'TRON_API_URLS',
  identifiedBy: 'TRON_API_URLS or TRON_USDT_CONTRACT',
  settings: TRON_SETTINGS,
  addresses: TRON_ADDRESSES,
  hashHasPrefix: false,
  paymentUri: ({ address, contract, amount }) => `tron:${address}?amount=${amount}&token=${contract}`,
};
