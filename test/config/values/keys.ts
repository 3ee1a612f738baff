import { thresholdUnits } from '../../../src/config/index.ts';
import { SECRETS_KEY } from '../../support/repository/config-samples.ts';
import { AMOUNTS_BAD, account, duration, KEYS_BAD, path, type Rows, xpub } from './samples.ts';

const DAY = [
  ['0', 0],
  ['24h', 86_400_000],
] as const;

export const KEY_ROWS = {
  SECRETS_KEY: {
    good: [
      [SECRETS_KEY, (c) => Buffer.from(c.secretsKey ?? []).toString('base64'), SECRETS_KEY],
      [Buffer.from(SECRETS_KEY, 'base64').toString('hex'), (c) => c.secretsKey?.length, 32],
    ],
    bad: KEYS_BAD,
  },
  // Alone it is refused, and so it is beside itself.
  SECRETS_KEY_PREVIOUS: { good: [], bad: [SECRETS_KEY, ...KEYS_BAD] },
  NOTIFY_SECRET: {
    good: [[`whsec_${'A'.repeat(43)}=`, (c) => c.notify.secret, `whsec_${'A'.repeat(43)}=`]],
    bad: ['hunter2', 'whsec_', 'whsec_AAAA', `whsec_${'A'.repeat(43)}`, `whsec_${'A'.repeat(41)}B==`],
  },
  WALLET_XPUB_BSC: account(xpub.live.bsc, (c) => c.wallet.xpubs.live.bsc),
  WALLET_XPUB_TRON: account(xpub.live.tron, (c) => c.wallet.xpubs.live.tron),
  WALLET_XPUB_TEST_BSC: account(xpub.test.bsc, (c) => c.wallet.xpubs.test.bsc),
  WALLET_XPUB_TEST_TRON: account(xpub.test.tron, (c) => c.wallet.xpubs.test.tron),
  WALLET_SEED_FILE: path((c) => c.wallet.seedFile),
  WALLET_PASSPHRASE_FILE: path((c) => c.wallet.passphraseFile),
  SIGN_JOURNAL_FILE: path((c) => c.signing.journalFile),
  SIGN_NEW_DESTINATION_AFTER: duration(DAY, (c) => c.signing.newDestinationAfterMs, '0s', '31d', '1e3s'),
  SIGN_RESUME_AFTER: duration([['5m', 300_000]], (c) => c.signing.resumeAfterMs, '0s', '31d', '1e3s'),
  SIGN_MAX_PER_HOUR: {
    good: [['USDT.tron=5', (c) => thresholdUnits(c.signing.maxPerHour, 'tron', 'USDT'), 5_000_000n]],
    bad: AMOUNTS_BAD,
  },
  SIGN_MAX_PER_DAY: {
    good: [['BNB=0.5', (c) => thresholdUnits(c.signing.maxPerDay, 'bsc', 'BNB'), 5n * 10n ** 17n]],
    bad: AMOUNTS_BAD,
  },
  SIGN_MAX_PER_HOUR_MERCHANT: {
    good: [
      ['USDT.bsc=2', (c) => thresholdUnits(c.signing.maxPerHourOfMerchant, 'bsc', 'USDT'), 2n * 10n ** 18n],
    ],
    bad: AMOUNTS_BAD,
  },
  SIGN_MAX_PER_DAY_MERCHANT: {
    good: [['TRX=7', (c) => thresholdUnits(c.signing.maxPerDayOfMerchant, 'tron', 'TRX'), 7_000_000n]],
    bad: AMOUNTS_BAD,
  },
} satisfies Rows;
