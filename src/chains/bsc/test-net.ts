import type { TestNet } from '../chain.ts';

/** The public test net of BNB Chain. Where each fact is from stands in docs/testnet.md. */
export const BSC_TEST_NET: TestNet = {
  name: 'bsc-testnet',
  title: 'BNB Smart Chain Testnet',
  identity: {
    BSC_CHAIN_ID: '97',
    BSC_USDT_CONTRACT: '0x337610d27c682E347C9cD60BD4b3b107C9d34dDd',
  },
  defaults: {
    BSC_RPC_URLS: 'https://bsc-testnet-dataseed.bnbchain.org',
    BSC_RPC_REQUESTS_PER_SECOND: '33',
    BSC_CONFIRMATIONS: '15',
  },
  coinPrice: 'BNB=600',
};
