import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HDNodeWallet } from 'ethers';
import { eventually } from '../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { startGatewayChild } from '../../support/gateway-child.ts';
import { searchFor } from './secrets.ts';
import { PASSPHRASE, type SignerStage, startSignerStage } from './stage.ts';

describe('what the signer knows', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
  });
  after(() => the?.stop());

  const namesIn = searchFor(PASSPHRASE);

  it('is in no row, no log and no line of its journal, whatever happened to it', async () => {
    const env = {
      DATABASE_URL: the.database.url,
      SECRETS_KEY: SECRETS_KEY.toString('base64'),
      WALLET_SEED_FILE: the.files.seedFile,
      WALLET_PASSPHRASE_FILE: the.files.passphraseFile,
      SIGN_JOURNAL_FILE: the.files.journalFile,
      LOG_LEVEL: 'trace',
    };
    const signer = await startGatewayChild(env, 'signer');
    for (const network of ['bsc', 'tron'] as const) {
      const place = await the.place(network);
      await the.deposit(place, 'USDT', 10n ** 18n);
      const payout = await the.plan(place, 'USDT');
      expect(await the.decided(await the.ask(payout, { purpose: 'gas' }))).to.include({ state: 'signed' });
      expect((await the.decided(await the.ask(payout, { terms: {} })))['refused']).to.be.a('string');
    }
    await the.force("update withdraw_addresses set address = '0x00' where network = 'bsc'", []);
    const place = await the.place('tron');
    await the.deposit(place, 'USDT', 10n ** 18n);
    const id = await the.ask(await the.plan(place, 'USDT'));
    const sealed = async () => (await the.sql('select sealed_code from signer_state'))[0]?.['sealed_code'];
    await eventually('the signer being sealed', async () => (await sealed()) === 'tampered');
    expect((await the.row(id))['state']).to.equal('asked');
    await signer.child.stop();

    expect(namesIn(signer.log()), 'log').to.deep.equal([]);
    const folder = join(the.files.journalFile, '..');
    for (const name of readdirSync(folder).filter((one) => one.startsWith('journal'))) {
      expect(namesIn(readFileSync(join(folder, name), 'latin1')), name).to.deep.equal([]);
      expect(statSync(join(folder, name)).mode & 0o004, `${name} is read by others`).to.equal(0);
    }
    const tables = await the.sql<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).to.be.greaterThan(20);
    for (const { name } of tables) {
      const [dump] = await the.sql<{ text: string | null }>(
        `select string_agg(t::text, '\n') as text from ${name} t`,
      );
      expect(namesIn(dump?.text ?? ''), name).to.deep.equal([]);
    }
  });

  it('is found by this search where it is', () => {
    expect(namesIn(`x${PASSPHRASE}x`)).to.deep.equal(['the passphrase']);
    expect(namesIn(TEST_PHRASE)).to.include('the phrase');
    expect(
      namesIn(HDNodeWallet.fromPhrase(TEST_PHRASE, undefined, "m/44'/60'/2'/0/0").privateKey),
    ).to.deep.equal(['key 0 of account 2 of 60']);
  });
});
