import { thresholdUnits } from '../../../src/config/index.ts';
import { SECRETS_KEY } from '../../support/repository/config-samples.ts';
import { AMOUNTS_BAD, KEYS_BAD, type Rows, XPUB_BAD, xpub } from './samples.ts';

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
  SIGN_JOURNAL_FILE: {
    good: [['/run/journal', (c) => c.signing.journalFile, '/run/journal']],
    bad: ['x'.repeat(4097)],
  },
  SIGN_NEW_DESTINATION_AFTER: {
    good: [
      ['0', (c) => c.signing.newDestinationAfterMs, 0],
      ['24h', (c) => c.signing.newDestinationAfterMs, 86_400_000],
    ],
    bad: ['-1', '0s', '31d', '24', 'never', '1e3s'],
  },
  SIGN_MAX_PER_HOUR: {
    good: [['USDT.tron=5', (c) => thresholdUnits(c.signing.maxPerHour, 'tron', 'USDT'), 5_000_000n]],
    bad: AMOUNTS_BAD,
  },
  SIGN_MAX_PER_DAY: {
    good: [['BNB=0.5', (c) => thresholdUnits(c.signing.maxPerDay, 'bsc', 'BNB'), 5n * 10n ** 17n]],
    bad: AMOUNTS_BAD,
  },
} satisfies Rows;
