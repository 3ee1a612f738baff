// What rows of values are made of: texts that many variables refuse, and names of files.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_PHRASE, testXpubs } from '../../../dev/support/test-wallet.ts';
import type { Config } from '../../../src/config/index.ts';
import type { VariableName } from '../../../src/config/variables/index.ts';
import { rootOf } from '../../../src/signer/accounts.ts';
import { SECRETS_KEY, XPRV } from '../../support/repository/config-samples.ts';

/** Values of one variable: each good one with what is read of it and how it is read, and bad ones. */
export type Row = {
  good: readonly (readonly [string, (config: Config) => unknown, unknown])[];
  bad: readonly string[];
};
export type Rows = Partial<Record<VariableName, Row>>;

/** The public account keys of the test phrase. */
export const xpub = testXpubs();
const deeper = rootOf(TEST_PHRASE).derivePath("m/44'/60'/0'/0").neuter().extendedKey;
export const XPUB_BAD = [XPRV, deeper, `${xpub.live.bsc}x`, 'xpub', TEST_PHRASE];
export const NUMBERS_BAD = ['-1', '1e5', '1.5', '0x10', '07', '５', '99999999999999999999'];
export const URLS_BAD = ['ftp://h/', 'h:8545', 'http://h:70000', 'http://u:hunter2@h/', 'http://a,,http://b'];
export const CIDRS_BAD = ['10.0.0.0/33', '010.0.0.1/8', '10.0.0.0/8,', 'localhost', '::ffff:10.0.0.0/104'];
export const AMOUNTS_BAD = [
  'USDT=1',
  'DOGE=1',
  'BNB',
  'BNB=-1',
  'BNB=1,BNB=2',
  'TRX=0.0000001',
  'BNB.tron=1',
];
export const HOSTS_BAD = ['localhost', '10.0.0.0/8', '1.2.3', '[::1]', 'fe80::1%eth0', '0.0.0.0:80', '*'];
export const KEYS_BAD = ['hunter2', `${SECRETS_KEY}A`, '0'.repeat(64), 'A'.repeat(43)];
export const NAMES_BAD = ['Production', 'prod', 'x', '1', 'true '];

/** The row of a whole number from `least` to `most`. */
export const whole = (
  read: (config: Config) => number | bigint | undefined,
  least: number,
  most: number,
  good = [least, most],
): Row => ({
  good: good.map((value) => [`${value}`, (c) => Number(read(c)), value]),
  bad: [`${least - 1}`, `${most + 1}`, ...NUMBERS_BAD],
});

/** The row of an address without a query, or without a fragment alone. */
export const address = (read: (config: Config) => unknown, ...bad: string[]): Row => ({
  good: [['https://pay.shop.test/', read, 'https://pay.shop.test']],
  bad: [...URLS_BAD, 'https://h/?a=1', ...bad],
});

/** The row of the path of a file or folder. */
export const path = (read: (config: Config) => unknown): Row => ({
  good: [['/run/one', read, '/run/one']],
  bad: ['x'.repeat(4097)],
});

/** The row of a public account key. */
export const account = (given: string, read: (config: Config) => unknown): Row => ({
  good: [[given, read, given]],
  bad: XPUB_BAD,
});

/** The row of a duration: one that is taken, with its milliseconds. */
export const duration = (
  good: readonly (readonly [string, number])[],
  read: (config: Config) => number,
  ...bad: string[]
): Row => ({ good: good.map(([text, ms]) => [text, read, ms]), bad: ['-1h', '1.5h', '24', 'never', ...bad] });

/** Made for the tables; whoever reads their values writes the files, and removes the folder. */
export const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
export const pem = join(folder, 'ca.pem');
export const notPem = join(folder, 'not.pem');
