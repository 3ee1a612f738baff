import * as parse from '../../config/parsers.ts';
import * as urls from '../../config/urls.ts';
import { type ValuesOf, variable } from '../../config/variable.ts';
import { addressVariable } from '../address-variable.ts';
import { BSC_ADDRESSES } from './addresses.ts';

/** By chain id. */
const EXPLORERS: ReadonlyMap<number, string> = new Map([
  [56, 'https://bscscan.com'],
  [97, 'https://testnet.bscscan.com'],
]);

const VARIABLES = {
  BSC_RPC_URLS: variable({
    group: 'bsc',
    parser: urls.rpcUrls,
    secret: true,
    example: 'https://bsc-1.example.com/KEY,https://bsc-2.example.com',
    about:
      'JSON-RPC endpoints, comma-separated, at most ten. Unset: the chain is off; addresses are still made and nothing is lost when URLs come later.',
  }),
  BSC_RPC_REQUESTS_PER_SECOND: variable({
    group: 'bsc',
    parser: parse.wholeNumber(1, 10_000),
    default: '200',
    example: '33',
    about:
      'Most requests a second that each process sends to one endpoint; after a quiet time one second of them (at most 50) may go out at once. The public endpoints of BNB Chain allow 33. An endpoint that still refuses is asked less by itself.',
  }),
  BSC_CHAIN_ID: variable({
    group: 'bsc',
    parser: parse.wholeNumber(1, 4_294_967_295),
    default: '56',
    example: '56',
    about: 'Chain id that the endpoints must report; another one is refused at the start.',
  }),
  BSC_USDT_CONTRACT: variable({
    group: 'bsc',
    parser: addressVariable(
      BSC_ADDRESSES,
      'must be an address: 0x and 40 hex digits, in mixed case only with a right checksum',
    ),
    default: '0x55d398326f99059fF775485246999027B3197955',
    example: '0x55d398326f99059fF775485246999027B3197955',
    about: 'The only token contract that is credited on this chain; it must have 18 decimals.',
  }),
  BSC_CONFIRMATIONS: variable({
    group: 'bsc',
    parser: parse.wholeNumber(1, 1000),
    default: '15',
    example: '15',
    about: 'Blocks until a deposit completes; the finalized height must have passed it as well.',
  }),
  BSC_EXPLORER_URL: variable({
    group: 'bsc',
    parser: urls.publicUrl,
    example: 'https://bscscan.com',
    about:
      'Where people look this chain up: links of pages, of `find` and of the Web UI lead below it (/tx/…, /address/…). Unset: bscscan.com for chain 56, testnet.bscscan.com for chain 97, else no links.',
  }),
  BSC_MAX_GAS_PRICE_GWEI: variable({
    group: 'bsc',
    parser: parse.decimal(9, '0.000000001', '10000'),
    default: '5',
    example: '5',
    about: 'The most that the signer pays for gas: payouts wait while the gas price is above this.',
  }),
  BSC_MIN_GAS_PRICE_GWEI: variable({
    group: 'bsc',
    parser: parse.decimal(9, '0', '10000'),
    default: '0.05',
    example: '0.05',
    about:
      'The least that the signer pays for gas, whatever nodes tell: they refuse what pays less, and this is what they ask for by default. What all endpoints name when they refuse counts too.',
  }),
  BSC_MAX_GAS_LIMIT: variable({
    group: 'bsc',
    parser: parse.decimal(0, '21000', '10000000'),
    default: '200000',
    example: '200000',
    about:
      'The most gas that the signer lets one transaction use. With BSC_MAX_GAS_PRICE_GWEI it bounds what a top-up may be.',
  }),
} as const;

export type BscSettings = ReturnType<typeof read>;

/** The variables of BNB Chain, and what they say together. */
export const BSC_SETTINGS = { variables: VARIABLES, read } as const;

function read(values: ValuesOf<typeof VARIABLES>) {
  return {
    enabled: values.BSC_RPC_URLS !== undefined,
    urls: values.BSC_RPC_URLS ?? [],
    /** The limit for one endpoint, from this process. */
    rpcRequestsPerSecond: values.BSC_RPC_REQUESTS_PER_SECOND,
    chainId: values.BSC_CHAIN_ID,
    usdtContract: values.BSC_USDT_CONTRACT,
    confirmations: values.BSC_CONFIRMATIONS,
    maxGasPriceWei: values.BSC_MAX_GAS_PRICE_GWEI,
    minGasPriceWei: values.BSC_MIN_GAS_PRICE_GWEI,
    maxGasLimit: values.BSC_MAX_GAS_LIMIT,
    explorerUrl: values.BSC_EXPLORER_URL ?? EXPLORERS.get(values.BSC_CHAIN_ID),
  };
}
