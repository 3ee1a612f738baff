import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

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
});
