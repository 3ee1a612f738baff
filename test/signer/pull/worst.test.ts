import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { DESTINATIONS, type SignerStage, startSignerStage, termsOf } from './stage.ts';

/** What is asked for by somebody who wants the signer to stand still, or to burn what cannot be had back. */
describe('a signer that is asked for the worst', function () {
  this.timeout(120_000);
  let the: SignerStage;
  beforeEach(async () => {
    the = await startSignerStage();
  });
  afterEach(() => the?.stop());

  const planned = async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    return await the.plan(place, 'USDT');
  };
  const signed = (id: string) =>
    eventually('the signature', async () => (await the.row(id))['state'] === 'signed');

  it('signs all that waits without being told again, however much it is', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 55; n += 1) ids.push(await the.ask(await planned()));
    await the.signer({ pollMs: 600_000 });
    for (const id of ids) await signed(id);
  });

  it('leaves nobody behind those whom it refuses, and says each refusal once', async () => {
    const nobody: string[] = [];
    for (let n = 0; n < 60; n += 1) nobody.push(await the.ask(await planned(), { terms: {} }));
    await the.signer({ retryMs: 1 });
    for (const id of nobody) await the.decided(id);
    const last = await planned();
    await signed(await the.ask(last));
    const later = await the.ask(await planned(), { units: 1n });
    await the.decided(later);
    await the.force('update sent_transactions set amount_units = ? where id = ?', [
      (10n ** 18n).toString(),
      later,
    ]);
    await signed(later);
    const told = the.lines.filter(({ text }) => text.startsWith('not signed'));
    expect(told).to.have.length(61);
  });

  it('takes no place so far ahead that its wallet could never send again', async () => {
    await the.signer();
    const payout = await planned();
    const nonce = 2 ** 31 - 1;
    const first = await the.ask(payout, { terms: termsOf('bsc', 'USDT', { nonce }) });
    expect((await the.decided(first))['refused']).to.match(
      /^wallet: its nonce would be 2147483647, and this signer knows the wallet up to -1: look/,
    );
    await the.force("update sent_transactions set state = 'dead', nonce = ? where id = ?", [
      nonce - 1,
      first,
    ]);
    const second = await the.ask(payout, { attempt: 2 });
    expect((await the.decided(second))['refused']).to.match(/^wallet: its nonce would be 2147483647/);
    await the.force('update sent_transactions set nonce = null where id = ?', [first]);
    await signed(second);
    expect(Number((await the.row(second))['nonce'])).to.equal(0);
    const other = await planned();
    const used = await the.ask(other, { terms: termsOf('bsc', 'USDT', { nonce: 7 }) });
    await signed(used);
    expect(Number((await the.row(used))['nonce'])).to.equal(7);
  });

  it('gives no address coins again and again, under whatever payout', async () => {
    await the.signer();
    const place = await the.place('tron');
    await the.deposit(place, 'USDT', 10n ** 18n);
    const over = `update sent_transactions set state = 'final', ok = true, fee_units = 0, block_number = 1,
      block_hash = 'b', moves = '[]' where state = 'signed'`;
    for (let n = 1; n <= 4; n += 1) {
      const payout = await the.plan(place, 'USDT');
      const id = await the.ask(payout, { purpose: 'gas' });
      const row = await the.decided(id);
      if (n === 4) {
        expect(row['refused']).to.match(
          /^payout: the address was given coins 3 times and has paid nothing out/,
        );
        return;
      }
      expect(row).to.include({ state: 'signed' });
      await the.force(over);
      await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
      await the.force("update payouts set state = 'cancelled', reason = 'x' where id = ?", [payout.id]);
    }
  });

  it('signs no attempt before one that it has signed, whatever that pays', async () => {
    await the.signer();
    const payout = await planned();
    const at = (gwei: number) => ({ terms: termsOf('bsc', 'USDT', { gas_price: `${gwei}000000000` }) });
    await signed(await the.ask(payout, at(1)));
    await signed(await the.ask(payout, { attempt: 3, ...at(2) }));
    const id = await the.ask(payout, { attempt: 2, ...at(3) });
    expect((await the.decided(id))['refused']).to.match(
      /^backup: attempt 3 of it was signed as 0x[0-9a-f]{64}: was a backup restored\?/,
    );
  });

  it('replaces nothing of another wallet, whatever a payout is said to be by now', async () => {
    await the.signer();
    const payout = await planned();
    await signed(await the.ask(payout));
    const other = await planned();
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force('update deposits set payout_id = ? where payout_id = ?', [payout.id, other.id]);
    await the.force("update payouts set state = 'cancelled', reason = 'x' where id = ?", [other.id]);
    await the.force('update payouts set address = ?, address_key = ? where id = ?', [
      other.address,
      other.addressKey,
      payout.id,
    ]);
    const terms = termsOf('bsc', 'USDT', { gas_price: '2000000000' });
    const id = await the.ask({ ...other, id: payout.id }, { attempt: 2, terms });
    expect((await the.decided(id))['refused']).to.match(/^backup: 0x.* from or to another wallet/);
  });

  it('pays to no address that was set and taken back while the signer slept', async () => {
    const first = await the.signer();
    const noted = async (times: number) =>
      await eventually('the journal', () => {
        const text = existsSync(the.files.journalFile) ? readFileSync(the.files.journalFile, 'utf8') : '';
        return text.split('"kind":"destination"').length - 1 === times;
      });
    await noted(2);
    await first.stop();
    await the.setDestination('bsc', DESTINATIONS.bsc[1]);
    const [between] = await the.sql('select address, seal from withdraw_addresses where network = ?', [
      'bsc',
    ]);
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
    await the.signer();
    await noted(3);
    await the.force("update withdraw_addresses set address = ?, seal = ? where network = 'bsc'", [
      between?.['address'],
      between?.['seal'],
    ]);
    expect((await the.decided(await the.ask(await planned())))['refused']).to.match(
      /^backup: the withdraw address .* is older than what this signer has seen/,
    );
  });
});
