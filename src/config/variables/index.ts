import type { Parser } from '../parser.ts';
import * as parse from '../parsers.ts';
import * as urls from '../urls.ts';
import { variable } from '../variable.ts';
import { MONEY_VARIABLES } from './money.ts';
import { SESSION_VARIABLES } from './sessions.ts';
import { STORE_VARIABLES } from './stores.ts';

/** Every variable, once. The documentation and .env.example are generated from this table. */
export const VARIABLES = {
  NODE_ENV: variable({
    group: 'service',
    parser: parse.oneOf('development', 'test', 'production'),
    default: 'development',
    example: 'production',
    about: 'In production nothing is embedded and no key is made up: what is missing is refused at the start.',
  }),
  PORT: variable({
    group: 'service',
    parser: parse.wholeNumber(0, 65535),
    default: '8080',
    example: '8080',
    about: 'TCP port of the API and the checkout. 0 takes a free one; outside production a taken port is replaced by a free one too.',
  }),
  HOST: variable({
    group: 'service',
    parser: parse.ipAddress,
    example: '127.0.0.1',
    about: 'The address of this machine that PORT is opened on. Unset: 127.0.0.1, in production 0.0.0.0 (every one).',
  }),
  OPS_PORT: variable({
    group: 'service',
    parser: parse.wholeNumber(0, 65535),
    default: '9090',
    example: '9090',
    about:
      'TCP port of /health/ready and /metrics, which in production are not served on PORT (outside it they are); /health/live is on both. 0 takes a free one; outside production a taken port is replaced by a free one too.',
  }),
  OPS_HOST: variable({
    group: 'service',
    parser: parse.ipAddress,
    default: '127.0.0.1',
    example: '127.0.0.1',
    about:
      'The address that OPS_PORT is opened on. Anybody who reaches it may ask: name an address of your own network, or none but this machine.',
  }),
  PUBLIC_URL: variable({
    group: 'service',
    parser: urls.publicUrl,
    production: ['all', 'api', 'worker'],
    example: 'https://pay.example.com',
    about:
      'The address under which customers and merchants reach this service; payment links begin with it. Unset outside production: http://localhost and the port.',
  }),
  TRUSTED_PROXIES: variable({
    group: 'service',
    parser: parse.cidrs,
    example: '172.30.251.1,fd00:30:251::1',
    about:
      'Addresses of your own reverse proxies, or blocks that hold nothing else: whoever has an address in one can claim any other. Only the hop that such a proxy appended to X-Forwarded-For is believed. A block wider than /24 (IPv6: /64) is warned of.',
  }),
  DATA_DIR: variable({
    group: 'service',
    parser: parse.filePath,
    default: '.data',
    example: '/var/lib/gateway',
    about: 'Folder for everything this process keeps by itself: embedded stores, development keys, run.json.',
  }),
  LOG_LEVEL: variable({
    group: 'service',
    parser: parse.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    example: 'info',
    about: 'Lowest level that is logged, on stderr.',
  }),
  LOG_FORMAT: variable({
    group: 'service',
    parser: parse.oneOf('auto', 'json', 'pretty'),
    default: 'auto',
    example: 'json',
    about:
      'json: one JSON object a line. pretty: one line for a person. auto: pretty where stderr is a terminal. NO_COLOR takes the colours away.',
  }),
  STUCK_AFTER: variable({
    group: 'service',
    parser: parse.duration('10s', '30d'),
    default: '1h',
    example: '1h',
    about: 'How long a deposit or payout may wait for the same thing before an operator is asked for.',
  }),
  ...STORE_VARIABLES,
  RPC_HTTP_HOSTS: variable({
    group: 'bsc',
    parser: urls.hostNames,
    example: 'bsc-node,10-1-2-3.nodes.internal',
    about:
      'Hosts of RPC endpoints that may be asked without TLS in production, comma-separated: whoever sits on the way to one writes the deposits that are credited. Loopback and private addresses (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) need not be named; every other http or ws URL is refused there.',
  }),
  BSC_RPC_URLS: variable({
    group: 'bsc',
    parser: urls.rpcAndHeadUrls,
    secret: true,
    example: 'https://bsc-1.example.com/KEY,https://bsc-2.example.com,wss://bsc-1.example.com/KEY',
    about:
      'JSON-RPC endpoints, comma-separated, at most ten. A wss (or ws) address among them only announces new blocks: it says when to ask the http ones, and is no endpoint itself. Unset: the chain is off; addresses are still made and nothing is lost when URLs come later.',
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
    parser: parse.bscAddress,
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
  BSC_MAX_GAS_PRICE_GWEI: variable({
    group: 'bsc',
    parser: parse.decimal(9, '0.000000001', '10000'),
    default: '5',
    example: '5',
    about: 'No effect before payouts exist: they will wait while the gas price is above this.',
  }),
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
    parser: parse.tronAddress,
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
  SECRETS_KEY: variable({
    group: 'keys',
    parser: parse.secretKey,
    secret: true,
    production: ['all', 'api', 'worker'],
    example: 'BASE64_OF_32_RANDOM_BYTES',
    about:
      'Encrypts the secrets in the database (of webhooks, of codes at the login, in stored answers): 32 bytes in base64 or hex (openssl rand -base64 32). Losing it loses those secrets. Unset outside production: made under DATA_DIR.',
  }),
  SECRETS_KEY_PREVIOUS: variable({
    group: 'keys',
    parser: parse.secretKey,
    secret: true,
    example: 'BASE64_OF_32_RANDOM_BYTES',
    about:
      'Another key that opens what it sealed, while SECRETS_KEY is changed. Workers seal everything anew under SECRETS_KEY; "gateway doctor" says how much is left and when this one can be removed.',
  }),
  WALLET_XPUB_BSC: variable({
    group: 'keys',
    parser: parse.accountXpub,
    secret: true,
    production: ['all', 'api'],
    example: 'xpub6…',
    about:
      "Account key m/44'/60'/0' of live deposit addresses (gateway wallet xpub prints it). Unset outside production: from the wallet file.",
  }),
  WALLET_XPUB_TRON: variable({
    group: 'keys',
    parser: parse.accountXpub,
    secret: true,
    production: ['all', 'api'],
    example: 'xpub6…',
    about: "Account key m/44'/195'/0' of live deposit addresses. Unset outside production: from the wallet file.",
  }),
  WALLET_XPUB_TEST_BSC: variable({
    group: 'keys',
    parser: parse.accountXpub,
    secret: true,
    example: 'xpub6…',
    about: "Account key m/44'/60'/1' of test-mode addresses. Unset: from the public part of the wallet file, where that file is readable.",
  }),
  WALLET_XPUB_TEST_TRON: variable({
    group: 'keys',
    parser: parse.accountXpub,
    secret: true,
    example: 'xpub6…',
    about: "Account key m/44'/195'/1' of test-mode addresses. Unset: as above.",
  }),
  WALLET_SEED_FILE: variable({
    group: 'keys',
    parser: parse.filePath,
    production: ['all', 'signer'],
    example: '/run/secrets/wallet.json',
    about: 'The encrypted seed file (gateway wallet new makes it). Only the signer opens it. Unset: wallet.json in DATA_DIR.',
  }),
  WALLET_PASSPHRASE_FILE: variable({
    group: 'keys',
    parser: parse.filePath,
    production: ['all', 'signer'],
    example: '/run/secrets/wallet.passphrase',
    about: "File with the seed file's passphrase, readable by the signer alone. Unset: wallet.passphrase in DATA_DIR.",
  }),
  ...MONEY_VARIABLES,
  ...SESSION_VARIABLES,
} as const;

export type VariableName = keyof typeof VARIABLES;
type ValueOf<V> = V extends { parser: Parser<infer T>; default: string }
  ? T
  : V extends { parser: Parser<infer T> }
    ? T | undefined
    : never;

/** The parsed value of every variable. */
export type Values = { readonly [Name in VariableName]: ValueOf<(typeof VARIABLES)[Name]> };
