import {
  address,
  CIDRS_BAD,
  duration,
  HOSTS_BAD,
  NAMES_BAD,
  notPem,
  path,
  pem,
  type Rows,
  URLS_BAD,
  whole,
} from './samples.ts';

export const SERVICE_ROWS = {
  NODE_ENV: { good: [['test', (c) => c.environment, 'test']], bad: NAMES_BAD },
  PRESET: {
    good: [
      ['bsc-testnet', (c) => c.presets, ['bsc-testnet']],
      ['tron-nile, bsc-testnet', (c) => c.presets, ['tron-nile', 'bsc-testnet']],
    ],
    bad: ['nile', 'bsc-testnet,', 'bsc-testnet,bsc-testnet', 'BSC-TESTNET', ...NAMES_BAD],
  },
  PORT: whole((c) => c.http.port, 0, 65_535),
  HOST: {
    good: [
      ['10.1.2.3', (c) => c.http.host, '10.1.2.3'],
      ['::', (c) => c.http.host, '::'],
    ],
    bad: HOSTS_BAD,
  },
  OPS_PORT: whole((c) => c.ops.port, 0, 65_535, [0]),
  OPS_HOST: { good: [['10.1.2.3', (c) => c.ops.host, '10.1.2.3']], bad: HOSTS_BAD },
  PUBLIC_URL: address((c) => c.http.publicUrl),
  NOTIFY_URL: {
    good: [['http://10.0.0.7:3000/hooks/KEY?x=1', (c) => c.notify.url, 'http://10.0.0.7:3000/hooks/KEY?x=1']],
    bad: [...URLS_BAD, 'https://h/#a'],
  },
  TEMPORAL_UI_URL: address((c) => c.temporal.uiUrl),
  TRUSTED_PROXIES: {
    good: [
      ['10.0.0.0/8, fd00::/8,1.2.3.4', (c) => c.http.trustedProxies, ['10.0.0.0/8', 'fd00::/8', '1.2.3.4']],
    ],
    bad: CIDRS_BAD,
  },
  DATA_DIR: { good: [['/tmp/x/../y', (c) => c.dataDir, '/tmp/y']], bad: ['x'.repeat(4097)] },
  LOG_LEVEL: { good: [['debug', (c) => c.logLevel, 'debug']], bad: ['INFO', 'verbose', '30'] },
  LOG_FORMAT: { good: [['pretty', (c) => c.logFormat, 'pretty']], bad: ['JSON', 'text', 'true'] },
  STUCK_AFTER: duration(
    [
      ['90s', 90_000],
      ['7d', 604_800_000],
    ],
    (c) => c.stuckAfterMs,
    '9s',
    '31d',
    '1H',
    '0h',
    '٣h',
    '1h30m',
  ),
  DATABASE_URL: {
    good: [
      [
        'postgres://u:p%40w@db:5432/gateway?sslmode=require',
        (c) => c.database,
        { kind: 'url', url: 'postgres://u:p%40w@db:5432/gateway?sslmode=require' },
      ],
    ],
    bad: ['mysql://u:hunter2@h/db', 'postgres://u:hunter2@h:70000/db', 'hunter2', 'postgres:///db'],
  },
  POSTGRES_BIN: path((c) => c.postgresBin),
  TEMPORAL_ADDRESS: {
    good: [
      [
        'temporal:7233',
        (c) => c.temporal,
        {
          namespace: 'default',
          uiUrl: undefined,
          cliPath: undefined,
          kind: 'address',
          address: 'temporal:7233',
          tls: undefined,
          apiKey: undefined,
        },
      ],
      ['[::1]:7233', (c) => c.temporal.kind, 'address'],
    ],
    bad: ['temporal', 'http://temporal:7233', 'temporal:70000', '[1.2.3.4]:7233', ':7233'],
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
  TEMPORAL_CLI: path((c) => c.temporal.cliPath),
} satisfies Rows;
