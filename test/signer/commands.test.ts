import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { openWallet } from '../../src/signer/wallet-file.ts';
import { gateway } from '../cli/support.ts';
import { DESTINATIONS } from './pull/asking.ts';
import { PASSPHRASE } from './pull/running.ts';
import { type SignerStage, startSignerStage } from './pull/stage.ts';

describe('command line: the signer', function () {
  this.timeout(120_000);
  let the: SignerStage;
  let env: Record<string, string>;
  before(async () => {
    the = await startSignerStage();
    env = {
      DATA_DIR: the.folder,
      WALLET_SEED_FILE: the.files.seedFile,
      WALLET_PASSPHRASE_FILE: the.files.passphraseFile,
      SIGN_JOURNAL_FILE: the.files.journalFile,
    };
  });
  after(() => the?.stop());

  it('approves of a withdraw address, for the signer that runs', async () => {
    await the.signer({ newDestinationAfterMs: 86_400_000 });
    const asked = async () => await the.ask(await the.planned('tron', 'USDT', 5n));
    await the.signed(await asked());
    await the.setDestination('tron', DESTINATIONS.tron[1]);
    const id = await asked();
    await the.refused(id, /approve-destination/);
    const args = [
      'payout',
      'approve-destination',
      the.merchantId,
      DESTINATIONS.tron[1],
      '--by',
      'Ann',
      '--json',
    ];
    const ran = await gateway(args, env);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(JSON.parse(ran.stdout)).to.deep.equal({
      ok: true,
      merchant_id: the.merchantId,
      network: 'tron',
      address: DESTINATIONS.tron[1],
    });
    await the.signed(id);
    expect(readFileSync(the.files.journalFile, 'utf8')).to.match(/"kind":"approved".*"by_name":"Ann"/);
  });

  it('approves of nothing that is no address or no merchant, or without the passphrase', async () => {
    const file = `${the.files.journalFile}.approvals`;
    const before = readFileSync(file, 'utf8');
    const refused = async (args: readonly string[], says: RegExp, more: Record<string, string> = {}) => {
      const ran = await gateway(['payout', 'approve-destination', ...args], { ...env, ...more });
      expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
      expect(ran.stderr).to.match(says);
    };
    await refused(['nobody', DESTINATIONS.bsc[0]], /no id of a merchant/);
    await refused([the.merchantId, `${DESTINATIONS.bsc[0]}0`], /no address of a chain/);
    const wrong = `${the.folder}/wrong`;
    writeFileSync(wrong, 'another passphrase', { mode: 0o600 });
    await refused([the.merchantId, DESTINATIONS.bsc[0]], /does not open/, { WALLET_PASSPHRASE_FILE: wrong });
    expect(readFileSync(file, 'utf8')).to.equal(before);
  });

  it('encrypts the seed with another passphrase, and leaves everything as it was where it may not', async () => {
    const { seedFile: file } = the.files;
    const before = readFileSync(file, 'utf8');
    const short = await gateway(['wallet', 'rotate-passphrase'], env, 'short\n');
    expect([short.code, short.stdout]).to.deep.equal([1, '']);
    expect(short.stderr).to.match(/shorter than 12/);
    expect(readFileSync(file, 'utf8')).to.equal(before);
    const next = 'quite another passphrase';
    const ran = await gateway(['wallet', 'rotate-passphrase'], env, `${next}\n`);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(ran.stdout + ran.stderr)
      .to.not.contain(next)
      .and.not.contain(PASSPHRASE);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const parts = (text: string) => JSON.parse(text).public;
    expect(parts(readFileSync(file, 'utf8'))).to.deep.equal(parts(before));
    await openWallet({ file, passphrase: next });
    const old = await openWallet({ file, passphrase: PASSPHRASE }).catch((error: Error) => error.message);
    expect(old).to.match(/does not open/);
    const again = await gateway(['wallet', 'rotate-passphrase'], env, 'a third passphrase');
    expect(again.stderr).to.match(/does not open: the passphrase is wrong/);
  });
});
