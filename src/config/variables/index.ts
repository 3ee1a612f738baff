import { CHAIN_VARIABLES, CHAINS } from '../../chains/index.ts';
import * as parse from '../parsers.ts';
import * as urls from '../urls.ts';
import { type ValuesOf, variable } from '../variable.ts';
import { KEY_VARIABLES } from './keys.ts';
import { MONEY_VARIABLES } from './money.ts';
import { NOTICE_VARIABLES } from './notices.ts';
import { SESSION_VARIABLES } from './sessions.ts';
import { STORE_VARIABLES } from './stores.ts';

/** Every variable, once. The documentation and .env.example are generated from this table. */
export const VARIABLES = {
  NODE_ENV: variable({
    group: 'service',
    parser: parse.oneOf('development', 'test', 'production'),
    default: 'development',
    example: 'production',
    about:
      'In production nothing is embedded and no key is made up: what is missing is refused at the start.',
  }),
  PRESET: variable({
    group: 'service',
    parser: parse.someOf(...CHAINS.map(({ testNet }) => testNet.name)),
    example: CHAINS.map(({ testNet }) => testNet.name).join(','),
    about:
      'Test nets to use in place of the main nets: sets what is unset of their chain id, USDT contract, confirmations, endpoints and prices (docs/testnet.md). What contradicts it is refused, and so is a main net beside it. Unset: the main nets.',
  }),
  PORT: variable({
    group: 'service',
    parser: parse.wholeNumber(0, 65535),
    default: '8080',
    example: '8080',
    about:
      'TCP port of the API and the checkout. 0 takes a free one; outside production a taken port is replaced by a free one too.',
  }),
  HOST: variable({
    group: 'service',
    parser: parse.ipAddress,
    example: '127.0.0.1',
    about:
      'The address of this machine that PORT is opened on. Unset: 127.0.0.1, in production 0.0.0.0 (every one).',
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
    about:
      'Folder for everything this process keeps by itself: embedded stores, development keys, run.json. A command that is told of no chain and no database uses those of the gateway that runs over it.',
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
  ...NOTICE_VARIABLES,
  ...STORE_VARIABLES,
  ...CHAIN_VARIABLES,
  ...KEY_VARIABLES,
  ...MONEY_VARIABLES,
  ...SESSION_VARIABLES,
} as const;

export type VariableName = keyof typeof VARIABLES;

/** The parsed value of every variable. */
export type Values = ValuesOf<typeof VARIABLES>;
