import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { termsOf } from './asking.ts';
import { PASSPHRASE } from './running.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

describe('a signer that is sealed', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const asked = async () => await the.ask(await the.planned());
  const lines = () => readFileSync(the.files.journalFile, 'utf8').trimEnd().split('\n');
  const away = (file: string) => {
    copyFileSync(file, `${file}.away`);
    rmSync(file);
  };
  const back = (file: string) => copyFileSync(`${file}.away`, file);

  it('by what it cannot open says so, changes no row, and signs as soon as it can', async () => {
    const { passphraseFile, seedFile, journalFile } = the.files;
    writeFileSync(passphraseFile, 'the wrong passphrase');
    mkdirSync(journalFile);
    const id = await asked();
    await the.signer();
    await the.sealed('journal', /cannot be opened for writing .*Let the signer write/);
    rmSync(journalFile, { recursive: true });
    await the.sealed('wallet', /does not open: the passphrase is wrong .* Check WALLET_PASSPHRASE_FILE/);
    rmSync(passphraseFile);
    await the.sealed('wallet', /There is no passphrase file/);
    away(seedFile);
    writeFileSync(passphraseFile, PASSPHRASE);
    await the.sealed('wallet', /There is no wallet file/);
    expect(await the.row(id)).to.include({ state: 'asked', refused: null });
    // Approvals that cannot be read keep nobody waiting who needs none.
    mkdirSync(`${journalFile}.approvals`);
    back(seedFile);
    await the.signed(id);
    expect(await the.state()).to.include({ sealed_code: null, sealed_reason: null, sealed_since: null });
    const told = the.lines.filter(({ text }) => /^approved withdraw addresses cannot be read/.test(text));
    expect(told).to.have.length(1);
  });

  it('because its journal is missing, older or changed signs nothing, until the newest one is back', async () => {
    const { journalFile } = the.files;
    const signer = await the.signer();
    await the.signed(await asked());
    const older = readFileSync(journalFile);
    const second = await asked();
    await the.signed(second);
    await signer.stop();
    away(journalFile);
    const waits = await asked();
    await the.signer();
    await the.sealed('journal', /is not in the journal .*restore the newest journal/);
    await the.stopSigners();
    // Also where the database was told to forget.
    const { raw, hash, nonce, signed_at: at } = await the.row(second);
    const set = (values: unknown[]) =>
      the.force(
        'update sent_transactions set state = ?, raw = ?, hash = ?, nonce = ?, signed_at = ? where id = ?',
        [...values, second],
      );
    await set(['dead', null, null, null, null]);
    writeFileSync(journalFile, older);
    await the.signer();
    await the.sealed('journal', /is older than what it has signed for this database/);
    await the.stopSigners();
    await set(['signed', raw, hash, nonce, at]);
    back(journalFile);
    const all = lines().map((line, n) => (n === 1 ? line.replace(/"address":"../, '"address":"00') : line));
    writeFileSync(journalFile, `${all.join('\n')}\n`);
    await the.signer();
    await the.sealed('journal', /^Line 3 of the signer's journal .* is not what was written there/);
    expect(await the.row(waits)).to.include({ state: 'asked', raw: null });
    back(journalFile);
    await the.signed(waits);
  });

  it('by another one with the same journal, or with one of its own, never signs beside it', async () => {
    const journalFile = join(the.folder, 'other', 'journal');
    await the.signer();
    await the.signed(await asked());
    await the.signer();
    await the.signer({ journalFile });
    for (const said of [/: Another process writes/, /: 0x/])
      await eventually(`the others being sealed, ${said}`, () =>
        the.lines.some(({ text }) => text.startsWith('sealed, signs nothing') && said.test(text)),
      );
    const ids = await Promise.all(Array.from({ length: 6 }, asked));
    for (const id of ids) await the.signed(id);
    const signers = [the.files.journalFile, journalFile].map(
      (file) => readFileSync(file, 'utf8').split('"kind":"signed"').length - 1,
    );
    expect(signers).to.deep.equal([7, 0]);
  });

  it('by one that took the database over with a journal of its own, before it signs again', async () => {
    const taken = async () => (await the.state())['journal'] ?? null;
    await the.signer();
    await eventually('the first one', async () => (await taken()) !== null);
    const first = await taken();
    const second = await the.signer({ journalFile: join(the.folder, 'other', 'journal') });
    await eventually('the second one', async () => (await taken()) !== first);
    await second.stop();
    await asked();
    await eventually('the first being sealed', () =>
      the.lines.some(({ text }) => /^sealed, signs nothing: another signer, with a journal/.test(text)),
    );
  });

  it('no more pays nothing twice over an older database: what it signed is stored again, or refused', async () => {
    const payout = await the.planned();
    const id = await the.ask(payout);
    await the.signer();
    const { raw } = await the.signed(id);
    // The backup was taken after it was asked for.
    await the.force(
      `update sent_transactions set state = 'asked', refused = 'limit: full', raw = null, hash = null, nonce = null,
        signed_at = null where id = ?`,
      [id],
    );
    expect((await the.signed(id))['raw']).to.deep.equal(raw);
    // The backup was taken before: another row asks, with other terms.
    await the.force('delete from sent_transactions where id = ?', [id]);
    const less = await the.ask(payout, { units: payout.grossUnits - 1n });
    const says =
      /^backup: 0x[0-9a-f]{64} was signed here, and the database does not know it as ours: was a backup restored\?/;
    await the.refused(less, says);
    await the.force('delete from sent_transactions where id = ?', [less]);
    const other = await the.ask(payout, { terms: termsOf('bsc', 'USDT', { gas_price: '2000000000' }) });
    expect((await the.signed(other))['raw']).to.deep.equal(raw);
    // The backup was taken before it was planned: the deposit is covered by another payout.
    // Blocks show it again as one that nobody signed here, or have not yet.
    await the.force(
      `update sent_transactions set state = 'foreign', purpose = null, payout_id = null, raw = null,
        signed_at = null where id = ?`,
      [other],
    );
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force('delete from payouts where id = ?', [payout.id]);
    const again = await the.ask(await the.plan(payout, 'USDT'));
    await the.refused(again, says);
    await the.force('delete from sent_transactions where id = ?', [other]);
    await the.force('update sent_transactions set refused = null where id = ?', [again]);
    await the.refused(again, says);
    expect(lines().filter((line) => line.includes('"kind":"signed"'))).to.have.length(1);
  });

  it('no more pays a deposit again only when final blocks say that its payout has failed', async () => {
    const payout = await the.planned();
    const id = await the.ask(payout);
    await the.signer();
    await the.signed(id);
    await the.force("update payouts set state = 'failed', reason = 'x' where id = ?", [payout.id]);
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    const second = await the.ask(await the.plan(payout, 'USDT'));
    await the.refused(second, /^earlier: 0x.* of payout .* is signed: wait/);
    await the.force("update sent_transactions set state = 'dead' where id = ?", [id]);
    await the.refused(second, /is called dead, and no block shows another/);
    const block = "block_number = 1, block_hash = 'b', fee_units = 1, moves = '[]'";
    await the.force(`update sent_transactions set state = 'final', ok = true, ${block} where id = ?`, [id]);
    await the.refused(second, /^backup: 0x.* has paid it, as final blocks show: nothing is paid twice/);
    await the.force('update sent_transactions set ok = false where id = ?', [id]);
    expect(Number((await the.signed(second))['nonce'])).to.equal(1);
  });
});
