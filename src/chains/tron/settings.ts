import * as parse from '../../config/parsers.ts';
import * as urls from '../../config/urls.ts';
import { type ValuesOf, variable } from '../../config/variable.ts';
import { addressVariable } from '../address-variable.ts';
import { TRON_ADDRESSES } from './addresses.ts';

const VARIABLES = {
  TRON_API_URLS: variable({
    group: 'tron',
    parser: urls.rpcUrls,
    secret: true,
    example: 'https://api.trongrid.io',
    about:
      'HTTP API endpoints of full nodes, comma-separated, at most ten. Leave it unset: this version makes addresses on Tron and does not watch them, and doctor says so where it is set.',
  }),
  TRON_API_KEY: variable({
    group: 'tron',
    parser: parse.token,
    secret: true,
    example: 'KEY',
    about: 'No effect before Tron is watched: it will be sent as TRON-PRO-API-KEY to every Tron endpoint.',
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
  TRON_ENERGY: variable({
    group: 'tron',
    parser: parse.oneOf('burn', 'delegate'),
    default: 'burn',
    example: 'burn',
    about:
      'No effect before payouts exist: how one will pay for energy, by burning TRX of a top-up or with energy that the gas wallet has staked and delegates.',
  }),
} as const;

export type TronSettings = ReturnType<typeof read>;

/** The variables of Tron, and what they say together. */
export const TRON_SETTINGS = { variables: VARIABLES, read } as const;

function read(values: ValuesOf<typeof VARIABLES>) {
  return {
    enabled: values.TRON_API_URLS !== undefined,
    urls: values.TRON_API_URLS ?? [],
    apiKey: values.TRON_API_KEY,
    usdtContract: values.TRON_USDT_CONTRACT,
    confirmations: values.TRON_CONFIRMATIONS,
    energy: values.TRON_ENERGY,
  };
}
