import type { TestNet } from '../chain.ts';

/** Nile, Tron's public test net. Where each fact is from stands in docs/testnet.md. */
export const TRON_TEST_NET: TestNet = {
  name: 'tron-nile',
  title: 'Tron Nile',
  identity: { TRON_USDT_CONTRACT: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf' },
  defaults: {
    TRON_API_URLS: 'https://nile.trongrid.io',
    TRON_CONFIRMATIONS: '19',
  },
  coinPrice: 'TRX=0.3',
};
