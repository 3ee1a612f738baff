import { expect } from 'chai';
import type { Currency, Network } from '../../../../src/domain/assets.ts';
import { termsOf } from '../../../signer/pull/asking.ts';
import { type AdoptStage, startAdoptStage, UNITS } from './stage.ts';

const TRX = 5n * 10n ** 6n;
const PLACES: readonly (readonly [Network, Currency, bigint])[] = [
  ['bsc', 'USDT', UNITS],
  ['tron', 'USDT', UNITS],
  ['tron', 'TRX', TRX],
];

describe('taking up what the database has forgotten', function () {
  this.timeout(180_000);
  let the: AdoptStage;
  before(async () => {
    the = await startAdoptStage();
  });
  after(() => the?.stop());

  for (const [network, currency, units] of PLACES)
    it(`settles each deposit once: ${currency} on ${network}, from the bytes of the journal`, async () => {
      const one = await the.shown(await the.forgotten(network, currency, units));
      const adopted = await the.adopt(one.transfer);
      expect(adopted.payoutId).to.equal(one.payout.id);
      expect(adopted.transactions).to.have.length(one.topUp ? 2 : 1);
      expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
      const rows = await the.sql('select * from sent_transactions where payout_id = ? order by purpose', [
        one.payout.id,
      ]);
      for (const before of [one.topUp, one.transfer]) {
        const after = rows.find(({ purpose }) => purpose === before?.['purpose']);
        for (const name of 'raw hash nonce from_key to_key to_address attempt amount_units'.split(' '))
          expect(after?.[name], name).to.deep.equal(before?.[name] ?? after?.[name]);
        if (after) expect(after['state']).to.equal('final');
      }
      expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
      expect(await the.states(one.depositIds)).to.deep.equal(['settled', 'settled']);
      await the.notAdopted(one, /which is settled: there is nothing to take up$/);
      expect(await the.sql("select 1 from sent_transactions where state = 'foreign'")).to.deep.equal([]);
    });

  it('pays nothing where no block has shown it: the same bytes are sent', async () => {
    const one = await the.forgotten();
    await the.adopt(one.transfer);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'send']);
    expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
    const [row] = await the.sql('select * from sent_transactions where hash = ?', [one.transfer['hash']]);
    expect(row).to.deep.include({ raw: one.transfer['raw'], state: 'signed', block_hash: null });
  });

  it('that failed on the chain gives the deposits back, and settles none', async () => {
    const one = await the.forgotten();
    await the.shows(one.topUp ?? {});
    await the.shows(one.transfer, { ok: false });
    await the.adopt(one.transfer);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'fail']);
    expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
  });

  it('ends the payout that was planned anew, whose id stays its own', async () => {
    const one = await the.shown(await the.forgotten());
    const planned = await the.plan(one.place, 'USDT');
    const asked = await the.decided(await the.ask(planned));
    expect(asked['refused']).to.match(/^backup: .* calls it somebody else's: .*payout adopt --tx 0x/);
    const adopted = await the.adopt(one.transfer);
    expect(adopted.payoutId).to.equal(one.payout.id);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
    const states = await the.sql('select id, state from payouts where address_key = ? order by created_at', [
      one.place.addressKey,
    ]);
    expect(states).to.have.deep.members([
      { id: one.payout.id, state: 'settled' },
      { id: planned.id, state: 'cancelled' },
    ]);
  });

  it('under another id, where its own payout was given up meanwhile', async () => {
    const one = await the.signedPayout('bsc', 'USDT');
    await the.force('delete from sent_transactions where payout_id = ?', [one.payout.id]);
    await the.force('update deposits set payout_id = null where payout_id = ?', [one.payout.id]);
    await the.force("update payouts set state = 'cancelled', reason = 'short' where id = ?", [one.payout.id]);
    await the.shown(one);
    const adopted = await the.adopt(one.transfer);
    expect(adopted.payoutId).not.to.equal(one.payout.id);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
  });

  it('into the payout that is known and not signed, beside what was asked for on other terms', async () => {
    const one = await the.signedPayout('bsc', 'BNB');
    await the.force('delete from sent_transactions where payout_id = ?', [one.payout.id]);
    await the.shows(one.transfer);
    const terms = termsOf('bsc', 'BNB', { gas_price: '2000000000' });
    const asked = await the.decided(await the.ask(one.payout, { terms }));
    expect(asked['refused']).to.match(/^backup: .* with another amount or receiver/);
    const adopted = await the.adopt(one.transfer);
    expect(adopted.payoutId).to.equal(one.payout.id);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
    expect((await the.row(String(asked['id'])))['state']).to.equal('dead');
  });

  it('with an attempt that the database has forgotten beside one that it knows', async () => {
    const one = await the.signedPayout('bsc', 'USDT');
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'send']);
    const terms = termsOf('bsc', 'USDT', { gas_price: '2000000000' });
    const second = await the.decided(await the.ask(one.payout, { terms, attempt: 2 }));
    expect(second['state']).to.equal('signed');
    await the.force('delete from sent_transactions where id = ?', [second['id']]);
    await the.shows(one.topUp ?? {});
    await the.shows(second);
    const adopted = await the.adopt(second);
    expect(adopted).to.deep.include({ payoutId: one.payout.id });
    expect(adopted.transactions.map(({ hash }) => hash)).to.deep.equal([second['hash']]);
    expect(await the.goesOn(one.place)).to.deep.equal(['settle']);
    const [payout] = await the.sql('select * from payouts where id = ?', [one.payout.id]);
    expect(payout?.['transaction_hash']).to.equal(second['hash']);
  });
});
