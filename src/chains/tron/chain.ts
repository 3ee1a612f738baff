import type { Chain, ChainPrices } from '../chain.ts';
import { CHAIN_NAMES } from '../names.ts';
import { TRON_ADDRESSES } from './addresses.ts';
import { TRON_PACE } from './pace.ts';
import { TRON_SETTINGS, type TronSettings } from './settings.ts';
import { TRON_TEST_NET } from './test-net.ts';

/** 25 hours: no feed of Chainlink is written more rarely than once a day. */
const LONGEST_MS = 90_000_000;

/**
 * Chainlink's USD feeds (8 decimals) on Tron's main net, as data.chain.link lists them; there is none for
 * BNB. How often they are written while a price stands still is not known: what is younger than the longest
 * heartbeat is not called old.
 */
export const TRON_PRICES: ChainPrices = {
  feeds: {
    TRX: { address: 'TC6o8AakUg4Xz9nHY9qXpJNsgF7CQkwBqF', maxAgeMs: LONGEST_MS },
    USDT: { address: 'TH58iiFuwwvsoLxpETQmGDe2kpaNxo3NnW', maxAgeMs: LONGEST_MS },
  },
  // Two feeds cost at most 2,880 requests a day, of the 8,000 that following leaves of a free key.
  cacheMs: 60_000,
  costly: true,
};

/**
 * Tron: 3 s blocks, addresses in base58check over the same 20 bytes that an EVM derives from the public
 * key. It has no standard for payments; wallets took the form with amount and token over from Bitcoin.
 */
export const TRON: Chain<TronSettings> = {
  network: 'tron',
  name: CHAIN_NAMES.tron,
  label: 'Tron (TRC-20)',
  blockMs: 3_000,
  // 65,000 energy, or 130,000 to an address that holds none yet, at 100 sun each: 6.5 to 13 TRX.
  transferFee: 'dollars',
  comparedEveryMs: TRON_PACE.reconcile.everyMs,
  coinType: 195,
  watchedBy: 'TRON_API_URLS',
  identifiedBy: 'TRON_API_URLS or TRON_USDT_CONTRACT',
  settings: TRON_SETTINGS,
  testNet: TRON_TEST_NET,
  addresses: TRON_ADDRESSES,
  prices: TRON_PRICES,
  hashHasPrefix: false,
  explorerPaths: { transaction: '/#/transaction/', address: '/#/address/' },
  simulatedPayout: { feeUnits: 1_100_000n, destination: 'T9yD14Nj9j7xAB4dbGeiX9h8upfCg3PBbY' },
  paysOut: true,
  addressUri: ({ address }) => `tron:${address}`,
  paymentUri: ({ address, contract, amount }) => `tron:${address}?amount=${amount}&token=${contract}`,
  transfers: async (settings) => (await import('./transfer/transfer.ts')).tronTransfers(settings),
  // Most of what imports this list needs facts only: the reader is loaded only by what watches the chain.
  open: async (settings, io) => (await import('./open.ts')).openTron(settings, io),
};
