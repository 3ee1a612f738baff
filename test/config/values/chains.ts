import { USDT_BSC } from '../../support/repository/config-samples.ts';
import { address, type Rows, URLS_BAD, whole } from './samples.ts';

export const CHAIN_ROWS = {
  BSC_RPC_URLS: {
    good: [
      [
        'https://a/key/, http://127.0.0.1:8545',
        (c) => c.chains.bsc.urls,
        ['https://a/key', 'http://127.0.0.1:8545'],
      ],
    ],
    bad: [...URLS_BAD, 'https://a,wss://b'],
  },
  BSC_RPC_REQUESTS_PER_SECOND: whole((c) => c.chains.bsc.rpcRequestsPerSecond, 1, 10_000),
  BSC_CHAIN_ID: whole((c) => c.chains.bsc.chainId, 1, 4_294_967_295),
  BSC_USDT_CONTRACT: {
    good: [[USDT_BSC.toLowerCase(), (c) => c.chains.bsc.usdtContract, USDT_BSC]],
    bad: [USDT_BSC.replace('fF', 'Ff'), USDT_BSC.slice(0, -1), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  },
  BSC_CONFIRMATIONS: whole((c) => c.chains.bsc.confirmations, 1, 1_000),
  BSC_MAX_GAS_PRICE_GWEI: {
    good: [['0.05', (c) => c.chains.bsc.maxGasPriceWei, 50_000_000n]],
    bad: ['0', '-1', '1e9', '0.0000000001', '10001', '.5', '5.', '1,5'],
  },
  BSC_MIN_GAS_PRICE_GWEI: {
    good: [
      ['0', (c) => c.chains.bsc.minGasPriceWei, 0n],
      ['0.05', (c) => c.chains.bsc.minGasPriceWei, 50_000_000n],
    ],
    bad: ['-1', '1e9', '0.0000000001', '10001', '.5'],
  },
  BSC_EXPLORER_URL: address((c) => c.chains.bsc.explorerUrl),
  BSC_MAX_GAS_LIMIT: whole((c) => c.chains.bsc.maxGasLimit, 21_000, 10_000_000),
  TRON_MAX_FEE_LIMIT: {
    good: [['12.5', (c) => c.chains.tron.maxFeeLimitSun, 12_500_000n]],
    bad: ['0', '0.9', '15001', '-1', '1e3', '1.0000001'],
  },
  TRON_API_URLS: {
    good: [['https://api.trongrid.io', (c) => [c.chains.tron.enabled, c.chains.bsc.enabled], [true, false]]],
    bad: URLS_BAD,
  },
  TRON_SOLIDITY_URLS: {
    good: [['https://h/key/', (c) => [c.chains.tron.enabled, c.chains.tron.urls], [false, []]]],
    bad: [...URLS_BAD, 'https://a,wss://b'],
  },
  TRON_REQUESTS_PER_SECOND: whole((c) => c.chains.tron.requestsPerSecond, 1, 10_000),
  TRON_REQUESTS_PER_DAY: whole((c) => c.chains.tron.requestsPerDay, 1, 1_000_000_000),
  TRON_API_KEY: {
    good: [['abc-DEF', (c) => c.chains.tron.apiKey, 'abc-DEF']],
    bad: ['hunter2 x', 'x'.repeat(513), 'clé'],
  },
  TRON_USDT_CONTRACT: {
    good: [
      [
        'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
        (c) => c.chains.tron.usdtContract,
        'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      ],
    ],
    bad: ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', USDT_BSC, 'T', '0'.repeat(34)],
  },
  TRON_CONFIRMATIONS: whole((c) => c.chains.tron.confirmations, 1, 1_000),
  TRON_EXPLORER_URL: address((c) => c.chains.tron.explorerUrl, 'https://tronscan.org/#/'),
  TRON_ENERGY: {
    good: [
      ['burn', (c) => c.chains.tron.energy, 'burn'],
      ['delegate', (c) => c.chains.tron.energy, 'delegate'],
    ],
    bad: ['delegated', 'rent', 'BURN', '1'],
  },
} satisfies Rows;
