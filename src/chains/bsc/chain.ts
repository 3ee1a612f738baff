import type { Chain } from '../chain.ts';
import { CHAIN_NAMES } from '../names.ts';
import { BSC_ADDRESSES } from './addresses.ts';
import { BSC_SETTINGS, type BscSettings } from './settings.ts';

/**
 * BNB Chain: 0.45 s blocks, addresses with the checksum of EIP-55,
 * payments as EIP-681 writes the call of the token contract.
 */
export const BSC: Chain<BscSettings> = {
  network: 'bsc',
  name: CHAIN_NAMES.bsc,
  label: 'BNB Chain (BEP-20)',
  blockMs: 450,
  coinType: 60,
  watchedBy: 'BSC_RPC_URLS',
  identifiedBy: 'BSC_RPC_URLS, BSC_CHAIN_ID or BSC_USDT_CONTRACT',
  settings: BSC_SETTINGS,
  addresses: BSC_ADDRESSES,
  hashHasPrefix: true,
  paymentUri: ({ address, contract, units, chainId }) =>
    `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=${units}`,
  // Most of what imports this list needs facts only: the reader is loaded only by what watches the chain.
  open: async (settings, io) => (await import('./open.ts')).openBsc(settings, io),
};
