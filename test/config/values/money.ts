import { join } from 'node:path';
import { thresholdUnits } from '../../../src/config/index.ts';
import { USDT_BSC } from '../../support/repository/config-samples.ts';
import { AMOUNTS_BAD, CIDRS_BAD, duration, folder, notPem, pem, type Rows, whole } from './samples.ts';

/** Chainlink's TRX/USD on Tron. */
const FEED_TRON = 'TC6o8AakUg4Xz9nHY9qXpJNsgF7CQkwBqF';

export const MONEY_ROWS = {
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
    bad: [...AMOUNTS_BAD.filter((text) => text !== 'USDT=1'), 'none,BNB=1', 'USDT=1,USDT.bsc=2'],
  },
  SETTLE_MIN: {
    good: [['BNB.bsc=0.002', (c) => c.settlement.minUnits, { 'bsc:BNB': 2_000_000_000_000_000n }]],
    bad: AMOUNTS_BAD,
  },
  SETTLE_EVERY: duration([['10m', 600_000]], (c) => c.settlement.everyMs, '8d', 'never'),
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
    bad: ['fixed:', 'fixed:BNB=0', 'fixed:DOGE=1', 'fixed:BNB=1,BNB=2', 'fixed:BNB=0.000000001', 'coingecko'],
  },
  PRICE_FEEDS: {
    good: [
      [`BNB=${USDT_BSC}`, (c) => c.prices.source, { kind: 'chainlink', feeds: { BNB: USDT_BSC } }],
      [`TRX=${FEED_TRON}`, (c) => c.prices.source, { kind: 'chainlink', feeds: { TRX: FEED_TRON } }],
    ],
    bad: ['BNB=0x1', `DOGE=${USDT_BSC}`, USDT_BSC, `TRX=${FEED_TRON.toLowerCase()}`],
  },
  PRICE_MAX_AGE: duration([['1h', 3_600_000]], (c) => c.prices.maxAgeMs, '1s', '8d'),
  WEBHOOK_RETENTION: duration([['30d', 30 * 86_400_000]], (c) => c.webhooks.retentionMs, '6d', '3651d'),
  WEBHOOK_MAX_ATTEMPTS: whole((c) => c.webhooks.maxAttempts, 1, 6),
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
  RATE_LIMIT_PER_SECOND: whole((c) => c.limits.requestsPerSecond, 1, 100_000, [1, 200]),
  RATE_LIMIT_BURST: whole((c) => c.limits.requestsBurst, 1, 1_000_000, [100, 1_000_000]),
  RATE_LIMIT_TESTS_PER_SECOND: whole((c) => c.limits.testsPerSecond, 1, 100_000),
  RATE_LIMIT_BAD_CREDENTIALS: whole((c) => c.limits.badCredentialsPerMinute, 1, 100_000),
  WITHDRAW_CHANGE_DELAY: duration(
    [['2h', 7_200_000]],
    (c) => c.settlement.withdrawChangeDelayMs,
    '0s',
    '31d',
  ),
  SESSION_IDLE: duration([['15m', 900_000]], (c) => c.sessions.idleMs, '0s', '8d'),
  SESSION_MAX: duration([['24h', 86_400_000]], (c) => c.sessions.maxMs, '0s', '91d', '29m'),
} satisfies Rows;
