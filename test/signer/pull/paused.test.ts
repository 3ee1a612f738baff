import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

describe('the signer, while payouts are paused', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    await the.signer();
  });
  after(() => the?.stop());

  const planned = async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', 10n ** 18n);
    return await the.plan(place, 'USDT');
  };
  const signed = (id: string) =>
    eventually('the signature', async () => {
      const row = await the.row(id);
      return row['state'] === 'signed' && row['refused'] === null ? row : undefined;
    });

  for (const whose of ['all', 'one'] as const)
    it(`signs nothing, says so in the row, and signs it once they go on (${whose})`, async () => {
      const merchantId = whose === 'one' ? the.merchantId : null;
      const payout = await planned();
      await setPaused(the.deps, { merchantId, paused: true });
      for (const purpose of ['gas', 'payout'] as const) {
        const row = await the.decided(await the.ask(payout, { purpose }));
        expect(row).to.include({ state: 'asked', raw: null, hash: null });
        expect(row['refused']).to.match(/^paused: payouts are paused since .*"payout resume"/);
      }
      expect(await the.sql('select sealed_code from signer_state')).to.deep.equal([{ sealed_code: null }]);
      await setPaused(the.deps, { merchantId, paused: false });
      const asked = await the.sql<{ id: string }>('select id from sent_transactions where payout_id = ?', [
        payout.id,
      ]);
      expect(asked).to.have.length(2);
      for (const { id } of asked) await signed(id);
    });

  it('signs for others while one merchant is paused', async () => {
    const payout = await planned();
    const { merchantId } = await createMerchant(the.deps, { name: 'Other', subscriptionActive: true });
    await setPaused(the.deps, { merchantId, paused: true });
    expect(await the.decided(await the.ask(payout))).to.include({ state: 'signed', refused: null });
  });
});
