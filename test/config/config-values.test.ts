import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TEST_PHRASE, testXpubs } from '../../dev/support/test-wallet.ts';
import type { Config } from '../../src/config/index.ts';
import { loadConfig, thresholdUnits } from '../../src/config/index.ts';
import type { Variable } from '../../src/config/variable.ts';
import type { VariableName } from '../../src/config/variables/index.ts';
import { VARIABLES } from '../../src/config/variables/index.ts';
import { rootOf } from '../../src/signer/accounts.ts';
import { problemsOf, SECRETS_KEY, USDT_BSC, XPRV } from '../support/repository/config-samples.ts';

const xpub = testXpubs();
const deeper = rootOf(TEST_PHRASE).derivePath("m/44'/60'/0'/0").neuter().extendedKey;
const XPUB_BAD = [XPRV, deeper, xpub.live.bsc.slice(0, -1), `${xpub.live.bsc}x`, 'xpub', '0x00', TEST_PHRASE];
const NUMBERS_BAD = [
  '-1',
  '+5',
  '1e5',
  '1.5',
  '0x10',
  '07',
  '٣',
  '５',
  'NaN',
  'Infinity',
  '99999999999999999999',
  'ten',
  '5 5',
];
const URLS_BAD = [
  'ftp://h/',
  'h:8545',
  '//h',
  'http://',
  'http://h:70000',
  'http://u:hunter2@h/',
  'javascript:alert(1)',
  'http://a,,http://b',
  'http://h/#x',
];
const CIDRS_BAD = [
  '10.0.0.0/33',
  '10.0.0/8',
  '010.0.0.1/8',
  'fe80::1%eth0',
  '::/129',
  '10.0.0.0/8,',
  'localhost',
  '10.0.0.0/-1',
  '1.2.3.4/8/8',
  '::ffff:10.0.0.0/104',
];
const AMOUNTS_BAD = [
  'USDT=1',
  'DOGE=1',
  'BNB',
  'BNB=',
  'BNB=-1',
  'BNB=1e3',
  'BNB=1,BNB=2',
  'TRX=0.0000001',
  'BNB.tron=1',
  'BNB=1;TRX=1',
  '__proto__=1',
  'BNB=٣',
];
const HOSTS_BAD = ['localhost', '10.0.0.0/8', '1.2.3', '[::1]', 'fe80::1%eth0', '0.0.0.0:80', '*'];
const KEYS_BAD = [
  'hunter2',
  `${SECRETS_KEY}A`,
  SECRETS_KEY.slice(1),
  '0'.repeat(64),
  'A'.repeat(43),
  `${'ab'.repeat(31)}zz`,
];
const NAMES_BAD = ['Production', 'prod', 'x', '1', 'true '];

const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
const pem = join(folder, 'ca.pem');
const notPem = join(folder, 'not.pem');

type Row = {
  good: readonly (readonly [string, (config: Config) => unknown, unknown])[];
  bad: readonly string[];
};
const ROWS: Record<VariableName, Row> = {
  NODE_ENV: { good: [['test', (c) => c.environment, 'test']], bad: NAMES_BAD },
  PORT: {
    good: [
      ['0', (c) => c.http.port, 0],
      ['65535', (c) => c.http.port, 65535],
    ],
    bad: ['70000', '65536', ...NUMBERS_BAD],
  },
  HOST: {
    good: [
      ['10.1.2.3', (c) => c.http.host, '10.1.2.3'],
      ['::', (c) => c.http.host, '::'],
    ],
    bad: HOSTS_BAD,
  },
  OPS_PORT: { good: [['0', (c) => c.ops.port, 0]], bad: ['65536', ...NUMBERS_BAD] },
  OPS_HOST: { good: [['10.1.2.3', (c) => c.ops.host, '10.1.2.3']], bad: HOSTS_BAD },
  PUBLIC_URL: {
    good: [['https://pay.example.com/', (c) => c.http.publicUrl, 'https://pay.example.com']],
    bad: [...URLS_BAD, 'https://h/?a=1'],
  },
  TRUSTED_PROXIES: {
    good: [
      ['10.0.0.0/8, fd00::/8,1.2.3.4', (c) => c.http.trustedProxies, ['10.0.0.0/8', 'fd00::/8', '1.2.3.4']],
    ],
    bad: CIDRS_BAD,
  },
  DATA_DIR: { good: [['/tmp/x/../y', (c) => c.dataDir, '/tmp/y']], bad: ['x'.repeat(4097)] },
  LOG_LEVEL: { good: [['debug', (c) => c.logLevel, 'debug']], bad: ['INFO', 'verbose', '30'] },
  LOG_FORMAT: { good: [['pretty', (c) => c.logFormat, 'pretty']], bad: ['JSON', 'text', 'true'] },
  STUCK_AFTER: {
    good: [
      ['90s', (c) => c.stuckAfterMs, 90_000],
      ['7d', (c) => c.stuckAfterMs, 604_800_000],
    ],
    bad: ['1', '9s', '31d', '-1h', '1.5h', '1h30m', '1H', '0h', '٣h', '99999999d'],
  },
  DATABASE_URL: {
    good: [
      [
        'postgres://u:p%40w@db:5432/gateway?sslmode=require',
        (c) => c.database,
        { kind: 'url', url: 'postgres://u:p%40w@db:5432/gateway?sslmode=require' },
      ],
    ],
    bad: [
      'mysql://u:hunter2@h/db',
      'postgres://u:hunter2@h',
      'postgres://u:hunter2@h:70000/db',
      'postgres://u:hunter2%zz@h/db',
      'hunter2',
      'postgres:///db',
      'postgres:///db?host=/run/postgresql',
      'postgres://u:hunter2@db/gateway?ssl=true',
    ],
  },
  TEMPORAL_ADDRESS: {
    good: [
      [
        'temporal:7233',
        (c) => c.temporal,
        {
          namespace: 'default',
          cliPath: undefined,
          kind: 'address',
          address: 'temporal:7233',
          tls: undefined,
          apiKey: undefined,
        },
      ],
      ['[::1]:7233', (c) => c.temporal.kind, 'address'],
    ],
    bad: [
      'temporal',
      'http://temporal:7233',
      'temporal:0',
      'temporal:70000',
      'temporal:7233/x',
      '[1.2.3.4]:7233',
      ':7233',
      'a b:1',
    ],
  },
  TEMPORAL_NAMESPACE: {
    good: [['gateway-1', (c) => c.temporal.namespace, 'gateway-1']],
    bad: ['a b', '-x', 'x'.repeat(101), 'é'],
  },
  TEMPORAL_TLS: { good: [['true', (c) => c.temporal.kind, 'embedded']], bad: ['on', 'yes', 'True', '2'] },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    good: [[pem, (c) => c.temporal.kind, 'embedded']],
    bad: ['/nowhere/ca.pem', notPem],
  },
  // One without the other is refused.
  TEMPORAL_TLS_CLIENT_CERT_PATH: { good: [], bad: ['/nowhere/client.pem', notPem, pem] },
  TEMPORAL_TLS_CLIENT_KEY_PATH: { good: [], bad: ['/nowhere/client.key', notPem, pem] },
  TEMPORAL_TLS_SERVER_NAME: {
    good: [['temporal.shop.test', (c) => c.temporal.kind, 'embedded']],
    bad: ['a b', '-x', 'é'],
  },
  TEMPORAL_API_KEY: { good: [['key-1', (c) => c.temporal.kind, 'embedded']], bad: ['a b', 'x'.repeat(513)] },
  RPC_HTTP_HOSTS: {
    good: [['Node-1, 10.1.2.3,[2001:db8::1]', (c) => c.production, false]],
    bad: ['http://node-1', 'node-1:8545', 'node-1/', 'a,,b', 'é', 'x'.repeat(64), `${'a.'.repeat(4_000)}!`],
  },
  TEMPORAL_CLI: {
    good: [['/opt/temporal', (c) => c.temporal.cliPath, '/opt/temporal']],
    bad: ['x'.repeat(4097)],
  },
  BSC_RPC_URLS: {
    good: [
      [
        'https://a/key/, http://127.0.0.1:8545',
        (c) => c.chains.bsc.rpcUrls,
        ['https://a/key', 'http://127.0.0.1:8545'],
      ],
      ['wss://a/key/,https://a/key,ws://b', (c) => c.chains.bsc.rpcUrls, ['https://a/key']],
      ['wss://a/key/,https://a/key,ws://b', (c) => c.chains.bsc.headUrls, ['wss://a/key', 'ws://b']],
      ['https://a', (c) => c.chains.bsc.headUrls, []],
    ],
    bad: [
      ...URLS_BAD,
      'wss://a/key',
      'ws://a,wss://b',
      'https://a,wss://u:hunter2@b',
      'https://a,wss://b/#x',
      'https://a,wss://b,wss://b/',
      'http://a,http://a/',
      Array(11)
        .fill(0)
        .map((_, i) => `http://h${i}`)
        .join(),
    ],
  },
  BSC_RPC_REQUESTS_PER_SECOND: {
    good: [['33', (c) => c.chains.bsc.rpcRequestsPerSecond, 33]],
    bad: ['0', '10001', ...NUMBERS_BAD],
  },
  BSC_CHAIN_ID: { good: [['97', (c) => c.chains.bsc.chainId, 97]], bad: ['0', '4294967296', ...NUMBERS_BAD] },
  BSC_USDT_CONTRACT: {
    good: [[USDT_BSC.toLowerCase(), (c) => c.chains.bsc.usdtContract, USDT_BSC]],
    bad: [
      USDT_BSC.replace('fF', 'Ff'),
      USDT_BSC.slice(0, -1),
      USDT_BSC.slice(2),
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    ],
  },
  BSC_CONFIRMATIONS: {
    good: [['1', (c) => c.chains.bsc.confirmations, 1]],
    bad: ['0', '1001', ...NUMBERS_BAD],
  },
  BSC_MAX_GAS_PRICE_GWEI: {
    good: [['0.05', (c) => c.chains.bsc.maxGasPriceWei, 50_000_000n]],
    bad: ['0', '-1', '1e9', '0.0000000001', '10001', '.5', '5.', '1,5'],
  },
  TRON_API_URLS: {
    good: [['https://api.trongrid.io', (c) => [c.chains.tron.enabled, c.chains.bsc.enabled], [true, false]]],
    bad: URLS_BAD,
  },
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
  TRON_CONFIRMATIONS: {
    good: [['19', (c) => c.chains.tron.confirmations, 19]],
    bad: ['0', '1001', ...NUMBERS_BAD],
  },
  TRON_ENERGY: { good: [['delegate', (c) => c.chains.tron.energy, 'delegate']], bad: ['rent', 'BURN', '1'] },
  SECRETS_KEY: {
    good: [
      [SECRETS_KEY, (c) => Buffer.from(c.secretsKey ?? []).toString('base64'), SECRETS_KEY],
      [Buffer.from(SECRETS_KEY, 'base64').toString('hex'), (c) => c.secretsKey?.length, 32],
    ],
    bad: KEYS_BAD,
  },
  // Alone it is refused, and so it is beside itself.
  SECRETS_KEY_PREVIOUS: { good: [], bad: [SECRETS_KEY, ...KEYS_BAD] },
  WALLET_XPUB_BSC: { good: [[xpub.live.bsc, (c) => c.wallet.xpubs.live.bsc, xpub.live.bsc]], bad: XPUB_BAD },
  WALLET_XPUB_TRON: {
    good: [[xpub.live.tron, (c) => c.wallet.xpubs.live.tron, xpub.live.tron]],
    bad: XPUB_BAD,
  },
  WALLET_XPUB_TEST_BSC: {
    good: [[xpub.test.bsc, (c) => c.wallet.xpubs.test.bsc, xpub.test.bsc]],
    bad: XPUB_BAD,
  },
  WALLET_XPUB_TEST_TRON: {
    good: [[xpub.test.tron, (c) => c.wallet.xpubs.test.tron, xpub.test.tron]],
    bad: XPUB_BAD,
  },
  WALLET_SEED_FILE: { good: [['/run/seed', (c) => c.wallet.seedFile, '/run/seed']], bad: ['x'.repeat(4097)] },
  WALLET_PASSPHRASE_FILE: {
    good: [['/run/pass', (c) => c.wallet.passphraseFile, '/run/pass']],
    bad: ['x'.repeat(4097)],
  },
  MIN_PAYMENT_USD: {
    good: [
      ['5.00', (c) => c.payments.minPaymentCents, 500n],
      ['0.01', (c) => c.payments.minPaymentCents, 1n],
    ],
    bad: ['0', '0.001', '1000000.01', '5,00', '-5', '1e2', '$5'],
  },
  PAYMENT_TOLERANCE_PERCENT: {
    good: [
      ['0', (c) => c.payments.toleranceBasisPoints, 0n],
      ['0.5', (c) => c.payments.toleranceBasisPoints, 50n],
    ],
    bad: ['10.01', '0.001', '-1', '5%'],
  },
  MIN_DEPOSIT: {
    good: [['USDT.tron=0.5', (c) => thresholdUnits(c.payments.minDepositUnits, 'tron', 'USDT'), 500_000n]],
    bad: AMOUNTS_BAD,
  },
  DUST_FLOOR: {
    good: [
      ['USDT=0.5', (c) => c.payments.dustFloorUnits, { 'bsc:USDT': 5n * 10n ** 17n, 'tron:USDT': 500_000n }],
      [
        'USDT.tron=2,BNB=1',
        (c) => c.payments.dustFloorUnits,
        { 'tron:USDT': 2_000_000n, 'bsc:BNB': 10n ** 18n },
      ],
      ['none', (c) => c.payments.dustFloorUnits, {}],
    ],
    bad: [
      ...AMOUNTS_BAD.filter((text) => text !== 'USDT=1'),
      'None',
      'none,BNB=1',
      'USDT=1,USDT.bsc=2',
      'BNB.tron=1',
    ],
  },
  SETTLE_MIN: {
    good: [['BNB.bsc=0.002', (c) => c.settlement.minUnits, { 'bsc:BNB': 2_000_000_000_000_000n }]],
    bad: AMOUNTS_BAD,
  },
  SETTLE_MAX_FEE_PERCENT: {
    good: [['2.5', (c) => c.settlement.maxFeeBasisPoints, 250n]],
    bad: ['0', '101', '1e1', '5%'],
  },
  PRICE_SOURCE: {
    good: [
      [
        'fixed:BNB=600,TRX=0.3',
        (c) => c.prices.source,
        { kind: 'fixed', rateUnits: { BNB: 60_000_000_000n, TRX: 30_000_000n } },
      ],
      ['chainlink', (c) => c.prices.source, { kind: 'chainlink', feeds: undefined }],
    ],
    bad: [
      'fixed',
      'fixed:',
      'fixed:BNB',
      'fixed:BNB=0',
      'fixed:BNB=-1',
      'fixed:DOGE=1',
      'fixed:BNB=1,BNB=2',
      'fixed:BNB=0.000000001',
      'fixed:BNB=1e3',
      'coingecko',
      'fixed:BNB=99999999999999999999999',
    ],
  },
  PRICE_FEEDS: {
    good: [[`BNB=${USDT_BSC}`, (c) => c.prices.source, { kind: 'chainlink', feeds: { BNB: USDT_BSC } }]],
    bad: ['BNB=0x1', `DOGE=${USDT_BSC}`, USDT_BSC, `BNB=${USDT_BSC},BNB=${USDT_BSC}`],
  },
  PRICE_MAX_AGE: { good: [['1h', (c) => c.prices.maxAgeMs, 3_600_000]], bad: ['1s', '8d', '3600'] },
  WEBHOOK_RETENTION: {
    good: [['30d', (c) => c.webhooks.retentionMs, 30 * 86_400_000]],
    bad: ['6d', '3651d', '90', ...NUMBERS_BAD],
  },
  WEBHOOK_MAX_ATTEMPTS: { good: [['6', (c) => c.webhooks.maxAttempts, 6]], bad: ['0', '7', ...NUMBERS_BAD] },
  WEBHOOK_ALLOWED_CIDRS: {
    good: [['127.0.0.1', (c) => c.webhooks.target.allowedCidrs, ['127.0.0.1']]],
    bad: CIDRS_BAD,
  },
  WEBHOOK_DENIED_CIDRS: {
    good: [['203.0.113.10', (c) => c.webhooks.target.deniedCidrs, ['203.0.113.10']]],
    bad: CIDRS_BAD,
  },
  WEBHOOK_ALLOWED_PORTS: {
    good: [['88, 465', (c) => c.webhooks.target.allowedPorts, [88, 465]]],
    bad: ['0', '65536', '80-90', 'http', '1,,2'],
  },
  WEBHOOK_ALLOW_HTTP: {
    good: [
      ['true', (c) => c.webhooks.target.allowHttp, true],
      ['0', (c) => c.webhooks.target.allowHttp, false],
    ],
    bad: ['yes', 'TRUE', '2'],
  },
  WEBHOOK_CA_FILE: {
    good: [[pem, (c) => c.webhooks.target.caPem, '-----BEGIN CERTIFICATE-----\n']],
    bad: [notPem, join(folder, 'absent'), folder],
  },
  RATE_LIMIT_PER_SECOND: {
    good: [['50', (c) => c.limits.requestsPerSecond, 50]],
    bad: ['0', '100001', ...NUMBERS_BAD],
  },
  RATE_LIMIT_BURST: {
    good: [['100', (c) => c.limits.requestsBurst, 100]],
    bad: ['0', '1000001', ...NUMBERS_BAD],
  },
  RATE_LIMIT_TESTS_PER_SECOND: {
    good: [['2', (c) => c.limits.testsPerSecond, 2]],
    bad: ['0', '100001', ...NUMBERS_BAD],
  },
  RATE_LIMIT_BAD_CREDENTIALS: {
    good: [['1', (c) => c.limits.badCredentialsPerMinute, 1]],
    bad: ['0', '100001', ...NUMBERS_BAD],
  },
  SESSION_IDLE: {
    good: [['15m', (c) => c.sessions.idleMs, 900_000]],
    bad: ['0s', '8d', '30', '1.5h', '-1m'],
  },
  SESSION_MAX: {
    good: [['24h', (c) => c.sessions.maxMs, 86_400_000]],
    bad: ['0s', '91d', '12', '29m', 'never'],
  },
};
const HOSTILE = [' ', ' 5', '5 ', '5\n', '\u0000', 'a\u0000b', '5\r', 'A'.repeat(100_000), '\u007f'];

describe('configuration values', () => {
  before(() => {
    writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
    writeFileSync(notPem, 'hello');
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [name, { good, bad }] of Object.entries(ROWS)) {
    it(`${name}: takes good values`, () => {
      for (const [text, read, expected] of good)
        expect(read(loadConfig({ [name]: text })), text).to.deep.equal(expected);
    });
    it(`${name}: answers each bad or hostile value with one sentence that begins with its name`, () => {
      const secret = VARIABLES[name as VariableName] as Variable<unknown>;
      for (const text of [...bad, ...HOSTILE]) {
        const problems = problemsOf({ [name]: text });
        expect(problems, JSON.stringify(text.slice(0, 80))).to.have.length(1);
        expect(problems[0]).to.match(new RegExp(`^${name} .+\\.$`));
        expect(problems[0]?.length).to.be.lessThan(400);
        if (secret.secret && text.length > 6) expect(problems[0]).not.to.contain(text);
      }
    });
  }
});
