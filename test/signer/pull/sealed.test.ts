import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { PASSPHRASE, type SignerStage, startSignerStage, termsOf } from './stage.ts';

describe('a signer that is sealed', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const asked = async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    const payout = await the.plan(place, 'USDT');
    return { payout, id: await the.ask(payout) };
  };
  const state = async () => (await the.sql('select * from signer_state'))[0] ?? {};
  const sealed = async (code: string, says: RegExp) => {
    const row = await eventually(`the signer being sealed (${code})`, async () => {
      const now = await state();
      return now['sealed_code'] === code ? now : undefined;
    });
    expect(row['sealed_reason']).to.match(says);
    expect(row['sealed_since']).not.to.equal(null);
  };
  const signed = (id: string) =>
    eventually('the signature', async () => (await the.row(id))['state'] === 'signed');
  const lines = () => readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');

  it('by a wrong or a missing passphrase says so, changes no row, and signs as soon as it is right', async () => {
    writeFileSync(the.files.passphraseFile, 'the wrong passphrase');
    const { id } = await asked();
    await the.signer();
    await sealed(
      'wallet',
      /does not open: the passphrase is wrong or the file was changed. Check WALLET_PASSPHRASE_FILE/,
    );
    rmSync(the.files.passphraseFile);
    await eventually('the other reason', async () =>
      /There is no passphrase file/.test(String((await state())['sealed_reason'])),
    );
    expect(await the.row(id)).to.include({ state: 'asked', refused: null });
    writeFileSync(the.files.passphraseFile, PASSPHRASE);
    await signed(id);
    expect(await state()).to.include({ sealed_code: null, sealed_reason: null, sealed_since: null });
  });

  it('by a missing wallet file goes on to try, too', async () => {
    const { seedFile } = the.files;
    copyFileSync(seedFile, `${seedFile}.away`);
    rmSync(seedFile);
    const { id } = await asked();
    await the.signer();
    await sealed('wallet', /There is no wallet file/);
    copyFileSync(`${seedFile}.away`, seedFile);
    await signed(id);
  });

  it('because its journal cannot be written says so in its row, and signs when it can', async () => {
    const { journalFile } = the.files;
    mkdirSync(journalFile);
    const { id } = await asked();
    await the.signer();
    await sealed('journal', /cannot be opened for writing .*Let the signer write/);
    rmSync(journalFile, { recursive: true });
    await signed(id);
  });

  it('no more signs what needs no approval while approvals cannot be read', async () => {
    mkdirSync(`${the.files.journalFile}.approvals`);
    const { id } = await asked();
    await the.signer();
    await signed(id);
    const told = the.lines.filter(({ text }) => /^approved withdraw addresses cannot be read/.test(text));
    expect(told).to.have.length(1);
  });

  it('because its journal is missing beside signed rows signs nothing, until the newest one is back', async () => {
    const first = await asked();
    const signer = await the.signer();
    await signed(first.id);
    await signer.stop();
    const { journalFile } = the.files;
    copyFileSync(journalFile, `${journalFile}.away`);
    rmSync(journalFile);
    const second = await asked();
    const empty = await the.signer();
    await sealed(
      'journal',
      /was signed for this database and is not in the journal .*restore the newest journal/,
    );
    expect((await the.row(second.id))['state']).to.equal('asked');
    await empty.stop();
    copyFileSync(`${journalFile}.away`, journalFile);
    await the.signer();
    await signed(second.id);
  });

  it('because its journal is an older one signs nothing, also where the database was told to forget', async () => {
    const signer = await the.signer();
    const first = await asked();
    await signed(first.id);
    await signer.stop();
    copyFileSync(the.files.journalFile, `${the.files.journalFile}.old`);
    const again = await the.signer();
    const second = await asked();
    await signed(second.id);
    await again.stop();
    copyFileSync(`${the.files.journalFile}.old`, the.files.journalFile);
    await the.force('delete from sent_transactions where id = ?', [second.id]);
    const third = await asked();
    await the.signer();
    await sealed('journal', /is older than what it has signed for this database/);
    expect((await the.row(third.id))['state']).to.equal('asked');
  });

  it('because a line of its journal was changed names the line', async () => {
    const signer = await the.signer();
    await signed((await asked()).id);
    await signer.stop();
    const all = lines();
    writeFileSync(
      the.files.journalFile,
      `${all.map((line, n) => (n === 1 ? line.replace(/"address":"../, '"address":"00') : line)).join('\n')}\n`,
    );
    await the.signer();
    await sealed('journal', /^Line 3 of the signer's journal .* is not what was written there/);
  });

  it('by another one with the same journal leaves the state to that one', async () => {
    await the.signer();
    await signed((await asked()).id);
    await the.signer();
    await eventually('the second one saying so', () =>
      the.lines.some(({ text }) => /^sealed, signs nothing: Another process writes/.test(text)),
    );
    const next = await asked();
    await signed(next.id);
    expect((await state())['sealed_code']).to.equal(null);
  });

  it('by another one with a journal of its own never signs beside it', async () => {
    const journalFile = join(the.folder, 'other', 'journal');
    await the.signer();
    await the.signer({ journalFile });
    const all = await Promise.all(Array.from({ length: 6 }, async () => await asked()));
    await eventually('signatures', async () => {
      for (const { id } of all) if ((await the.row(id))['state'] !== 'signed') return false;
      return true;
    });
    const signers = [the.files.journalFile, journalFile].map(
      (file) => readFileSync(file, 'utf8').split('"kind":"signed"').length - 1,
    );
    expect(signers.toSorted((a, b) => a - b)).to.deep.equal([0, 6]);
    await eventually('the other one being sealed', () =>
      the.lines.some(({ text }) => /^sealed, signs nothing: (0x|another signer)/.test(text)),
    );
  });

  it('no more pays nothing twice over an older database: what it signed is stored again, or refused', async () => {
    const { payout, id } = await asked();
    const signer = await the.signer();
    await signed(id);
    const before = await the.row(id);
    // The backup was taken after it was asked for.
    await the.force(
      "update sent_transactions set state = 'asked', raw = null, hash = null, nonce = null, signed_at = null where id = ?",
      [id],
    );
    await signed(id);
    expect((await the.row(id))['raw']).to.deep.equal(before['raw']);
    // The backup was taken before: another row asks, with other terms.
    await the.force('delete from sent_transactions where id = ?', [id]);
    const other = await the.ask(payout, { terms: termsOf('bsc', 'USDT', { gas_price: '2000000000' }) });
    await signed(other);
    expect((await the.row(other))['raw']).to.deep.equal(before['raw']);
    // The backup was taken before it was planned: the deposit is covered by another payout.
    await the.force('delete from sent_transactions where id = ?', [other]);
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force('delete from payouts where id = ?', [payout.id]);
    const [place] = await the.sql<never>(
      'select network, address_key as "addressKey" from deposit_addresses where address_key = ?',
      [payout.addressKey],
    );
    const planned = await the.plan(place as never, 'USDT');
    expect((await the.decided(await the.ask(planned)))['refused']).to.match(
      /^backup: deposit .* was paid by 0x[0-9a-f]{64}, which the database does not know: was a backup restored\?/,
    );
    expect(lines().filter((line) => line.includes('"kind":"signed"'))).to.have.length(1);
    await signer.stop();
  });

  it('no more pays a deposit again only when final blocks say that its payout has failed', async () => {
    const { payout, id } = await asked();
    await the.signer();
    await signed(id);
    const covered = async () => {
      await the.force("update payouts set state = 'failed', reason = 'x' where id = ?", [payout.id]);
      await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
      return await the.plan(payout as never, 'USDT');
    };
    const next = await covered();
    const second = await the.ask(next);
    expect((await the.decided(second))['refused']).to.match(/^earlier: 0x.* of payout .* is signed: wait/);
    await the.force("update sent_transactions set state = 'dead' where id = ?", [id]);
    await eventually('the dead one', async () =>
      /is called dead, and no block shows another/.test(String((await the.row(second))['refused'])),
    );
    const block = "block_number = 1, block_hash = 'b', fee_units = 1, moves = '[]'";
    await the.force(`update sent_transactions set state = 'final', ok = true, ${block} where id = ?`, [id]);
    await eventually('the final one', async () =>
      /^backup: 0x.* has paid it, as final blocks show: nothing is paid twice/.test(
        String((await the.row(second))['refused']),
      ),
    );
    await the.force('update sent_transactions set ok = false where id = ?', [id]);
    await signed(second);
    expect(Number((await the.row(second))['nonce'])).to.equal(1);
  });
});
