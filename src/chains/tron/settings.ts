import * as parse from '../../config/parsers.ts';
import * as urls from '../../config/urls.ts';
import { type ValuesOf, variable } from '../../config/variable.ts';
import { addressVariable } from '../address-variable.ts';
import { TRON_ADDRESSES } from './addresses.ts';

/** By the contract of USDT, which tells the nets apart. */
const EXPLORERS: ReadonlyMap<string, string> = new Map([
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'https://tronscan.org'],
  ['TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf', 'https://nile.tronscan.org'],
]);

const VARIABLES = {
  TRON_API_URLS: variable({
    group: 'tron',
    parser: urls.rpcUrls,
    secret: true,
    example: 'https://api.trongrid.io',
    about:
      'HTTP API endpoints of full nodes, comma-separated, at most ten: each is the base that wallet/ lies below. A node of your own has to save internal transactions (vm.saveInternalTx), or TRX that a contract passes on is not seen. Unset: the chain is off; addresses are still made and nothing is lost when URLs come later.',
  }),
  TRON_SOLIDITY_URLS: variable({
    group: 'tron',
    parser: urls.rpcUrls,
    secret: true,
    example: 'https://api.trongrid.io',
    about:
      'Where each endpoint of TRON_API_URLS serves walletsolidity, the blocks that nothing can replace any more: as many addresses, in the same order. A node of your own serves it on another port (8091 beside 8090). Unset: at the same addresses.',
  }),
  TRON_API_KEY: variable({
    group: 'tron',
    parser: parse.token,
    secret: true,
    example: 'KEY',
    about:
      'Sent as TRON-PRO-API-KEY with every request to every address of TRON_API_URLS and TRON_SOLIDITY_URLS, so name none there that must not know it. Unset: no key is sent, and a public endpoint allows too little to watch the chain.',
  }),
  TRON_REQUESTS_PER_SECOND: variable({
    group: 'tron',
    parser: parse.wholeNumber(1, 10_000),
    default: '15',
    example: '15',
    about:
      'Most requests a second that each process sends to all Tron endpoints together, evenly spread: providers count them for the key, and ban a key that exceeds its limit for up to half a minute.',
  }),
  TRON_REQUESTS_PER_DAY: variable({
    group: 'tron',
    parser: parse.wholeNumber(1, 1_000_000_000),
    default: '100000',
    example: '100000',
    about:
      'Most requests in one day (UTC) that all processes send to all Tron endpoints together; the default is what a free key of TronGrid has. Where they are used up the chain is read on from midnight, and nothing is lost. From 92000 on each block is read again once it is final; below that only blocks that touch an address of ours are. Nodes of your own count nothing: set it high.',
  }),
  TRON_USDT_CONTRACT: variable({
    group: 'tron',
    parser: addressVariable(
      TRON_ADDRESSES,
      'must be a Tron address: T and 33 more base58 characters with a right checksum',
    ),
    default: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    example: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    about: 'The only token contract that is credited on this chain; it must have 6 decimals.',
  }),
  TRON_CONFIRMATIONS: variable({
    group: 'tron',
    parser: parse.wholeNumber(1, 1000),
    default: '19',
    example: '19',
    about: 'Blocks until a deposit completes; the solidified height must have passed it as well.',
  }),
  TRON_EXPLORER_URL: variable({
    group: 'tron',
    parser: urls.publicUrl,
    example: 'https://tronscan.org',
    about:
      'Where people look this chain up: links of pages, of `find` and of the Web UI lead below it (/#/transaction/…, /#/address/…). Unset: tronscan.org or nile.tronscan.org, where TRON_USDT_CONTRACT is that of the main net or of Nile, else no links.',
  }),
  TRON_ENERGY: variable({
    group: 'tron',
    parser: parse.oneOf('burn', 'delegate'),
    default: 'burn',
    example: 'burn',
    about:
      'How a payout of USDT pays for its energy: `burn` burns TRX, which the gas wallet sends to the address before. `delegate` lends the address energy that the gas wallet has staked for, and takes it back afterwards; where too little can be lent, and after a payout of the address has failed, it burns as well.',
  }),
  TRON_MAX_FEE_LIMIT: variable({
    group: 'tron',
    parser: parse.decimal(6, '1', '15000'),
    default: '50',
    example: '50',
    about:
      'The most TRX that the signer lets one transfer of USDT burn for energy. It bounds what a top-up may be, too.',
  }),
} as const;

export type TronSettings = ReturnType<typeof read>;

/** The variables of Tron, what they say together, and what is wrong with them together. */
export const TRON_SETTINGS = { variables: VARIABLES, read, problems } as const;

function read(values: ValuesOf<typeof VARIABLES>) {
  const { TRON_API_URLS: apiUrls = [], TRON_SOLIDITY_URLS: solidityUrls = apiUrls } = values;
  const enabled = values.TRON_API_URLS !== undefined;
  return {
    enabled,
    urls: enabled ? [...new Set([...apiUrls, ...solidityUrls])] : [],
    /** The bases of wallet. */
    apiUrls,
    /** The bases of walletsolidity, one for each of `apiUrls` in the same order. */
    solidityUrls: enabled ? solidityUrls : [],
    apiKey: values.TRON_API_KEY,
    /** The limits for all endpoints together, from this process. */
    requestsPerSecond: values.TRON_REQUESTS_PER_SECOND,
    requestsPerDay: values.TRON_REQUESTS_PER_DAY,
    usdtContract: values.TRON_USDT_CONTRACT,
    confirmations: values.TRON_CONFIRMATIONS,
    energy: values.TRON_ENERGY,
    maxFeeLimitSun: values.TRON_MAX_FEE_LIMIT,
    explorerUrl: values.TRON_EXPLORER_URL ?? EXPLORERS.get(values.TRON_USDT_CONTRACT),
  };
}

/**
 * Sentences without a URL. Without endpoints the other addresses are asked for nothing, and
 * may stay: that is how the chain is turned off.
 */
function problems(values: Partial<ValuesOf<typeof VARIABLES>>): string[] {
  const { TRON_API_URLS: apiUrls, TRON_SOLIDITY_URLS: solidityUrls } = values;
  if (!apiUrls || !solidityUrls || apiUrls.length === solidityUrls.length) return [];
  return [
    `TRON_SOLIDITY_URLS must name one address for each of TRON_API_URLS, in the same order, and names ${solidityUrls.length} for ${apiUrls.length}; where they are the same addresses, remove it.`,
  ];
}
