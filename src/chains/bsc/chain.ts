import type { Chain, ChainPrices } from '../chain.ts';
import { CHAIN_NAMES } from '../names.ts';
import { BSC_ADDRESSES } from './addresses.ts';
import { BSC_PACE } from './pace.ts';
import { BSC_SETTINGS, type BscSettings } from './settings.ts';
import { BSC_TEST_NET } from './test-net.ts';

/**
 * Chainlink's USD feeds (8 decimals) on BNB Chain's main net, as data.chain.link lists them. BNB is written
 * about every minute, TRX about every 10 minutes, USDT as rarely as once a day while it stays at a dollar.
 */
export const BSC_PRICES: ChainPrices = {
  feeds: {
    BNB: { address: '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE', maxAgeMs: 600_000 },
    TRX: { address: '0xF4C5e535756D11994fCBB12Ba8adD0192D9b88be', maxAgeMs: 1_200_000 },
    USDT: { address: '0xB97Ad0E74fa7d920791E90258A6E2085088b4320', maxAgeMs: 90_000_000 },
  },
  cacheMs: 30_000,
  costly: false,
};

/**
 * BNB Chain: 0.45 s blocks, addresses with the checksum of EIP-55,
 * payments as EIP-681 writes the call of the token contract.
 */
export const BSC: Chain<BscSettings> = {
  network: 'bsc',
  name: CHAIN_NAMES.bsc,
  label: 'BNB Chain (BEP-20)',
  blockMs: 450,
  // Some 60,000 gas at 0.05 to 1 gwei.
  transferFee: 'cents',
  comparedEveryMs: BSC_PACE.reconcile.everyMs,
  coinType: 60,
  watchedBy: 'BSC_RPC_URLS',
  identifiedBy: 'BSC_RPC_URLS, BSC_CHAIN_ID or BSC_USDT_CONTRACT',
  settings: BSC_SETTINGS,
  testNet: BSC_TEST_NET,
  addresses: BSC_ADDRESSES,
  prices: BSC_PRICES,
  hashHasPrefix: true,
  explorerPaths: { transaction: '/tx/', address: '/address/' },
  simulatedPayout: {
    feeUnits: 50_000_000_000_000n,
    destination: '0x000000000000000000000000000000000000dEaD',
  },
  paysOut: true,
  addressUri: ({ address, chainId }) => `ethereum:${address}@${chainId}`,
  paymentUri: ({ address, contract, units, chainId }) =>
    `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=${units}`,
  transfers: async (settings) => (await import('./transfer.ts')).bscTransfers(settings),
  // Most of what imports this list needs facts only: the reader is loaded only by what watches the chain.
  open: async (settings, io) => (await import('./open.ts')).openBsc(settings, io),
};
