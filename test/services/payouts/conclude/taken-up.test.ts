import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Currency, Network } from '../../../../src/domain/assets.ts';
import { acceptForeign } from '../../../../src/services/payouts/foreign.ts';
import { coinsBeside } from '../../../../src/services/payouts/settle/coins.ts';
import { termsOf } from '../../../signer/pull/asking.ts';
import { LOAN } from '../../../signer/pull/cases.ts';
import { FEE_UNITS, type ForgettingStage, startForgettingStage, UNITS } from './forgetting.ts';

const TRX = 5n * 10n ** 6n;
const TOP_UP = 1_000_000n;
const PLACES: readonly (readonly [Network, Currency, bigint])[] = [
  ['bsc', 'USDT', UNITS],
  ['tron', 'USDT', UNITS],
  ['tron', 'TRX', TRX],
];
const DEARER = { terms: termsOf('bsc', 'USDT', { gas_price: '2000000000' }), attempt: 2 };

describe('taking up from the journal what the database has forgotten', function () {
  this.timeout(180_000);
  let the: ForgettingStage;
  before(async () => {
    the = await startForgettingStage();
  });
  after(() => the?.stop());
  const sent = (payoutId: unknown) =>
    the.sql('select * from sent_transactions where payout_id = ? order by purpose, attempt', [payoutId]);
  const freeAt = async (place: Parameters<typeof coinsBeside>[1]) =>
    (await coinsBeside(the.deps.orm.em.fork(), place)).freeUnits;

  for (const [network, currency, units] of PLACES)
    it(`settles each deposit once, and knows its coins for gas: ${currency} on ${network}`, async () => {
      const one = await the.shown(await the.forgotten(network, currency, units));
      expect((await the.takeUp(one.transfer))?.payoutId).to.equal(one.payout.id);
      expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
      const rows = await sent(one.payout.id);
      const before = [one.topUp, one.transfer].filter((row) => row !== undefined);
      expect(rows).to.have.length(before.length);
      for (const [n, after] of rows.entries()) {
        for (const name of 'raw hash nonce from_key to_key to_address attempt amount_units expires_at'.split(
          ' ',
        ))
          expect(after[name], name).to.deep.equal(before[n]?.[name]);
        expect(after['state']).to.equal('final');
      }
      expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
      expect(await the.states(one.depositIds)).to.deep.equal(['settled', 'settled']);
      expect(await freeAt(one.place)).to.equal(one.topUp ? TOP_UP - FEE_UNITS : 0n);
      await the.notTakenUp(one.transfer, /which is settled: there is nothing to take up/);
      expect(await the.sql("select 1 from sent_transactions where state = 'foreign'")).to.deep.equal([]);
    });

  it('pays nothing where no block has shown it: the same bytes are sent', async () => {
    const one = await the.forgotten();
    await the.takeUp(one.transfer);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'send']);
    expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
    const [row] = await the.sql('select * from sent_transactions where hash = ?', [one.transfer['hash']]);
    expect(row).to.deep.include({ raw: one.transfer['raw'], state: 'signed', block_hash: null });
  });

  it('settles nothing by a block that was read once, nor by one that shows something else', async () => {
    const once = await the.forgotten();
    await the.shows(once.transfer, { twice: false });
    await the.takeUp(once.transfer);
    expect(await the.goesOn(once.place)).to.deep.equal(['pay', 'on_its_way']);
    const other = await the.forgotten();
    const to = String(other.transfer['to_address']);
    await the.shows(other.transfer, { moves: [{ to, currency: 'USDT', units: UNITS }] });
    await the.takeUp(other.transfer);
    expect(await the.goesOn(other.place)).to.deep.equal(['pay', 'contradiction']);
  });

  it('gives the deposits back where it failed, or its place is taken: then they are paid once, anew', async () => {
    const [failed, replaced] = [await the.forgotten(), await the.forgotten()];
    for (const { topUp = {} } of [failed, replaced]) await the.shows(topUp);
    await the.shows(failed.transfer, { ok: false });
    const hash = `0x${randomBytes(32).toString('hex')}`;
    await the.shows({ ...replaced.transfer, hash }, { moves: [] });
    await acceptForeign(the.deps, { network: 'bsc', hash, by: 'ann', reason: 'hers' });
    for (const { transfer } of [failed, replaced]) await the.takeUp(transfer);
    for (const one of [failed, replaced]) {
      expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'fail']);
      expect(await the.states(one.depositIds)).to.deep.equal(['completed', 'completed']);
      const anew = await the.decided(await the.ask(await the.plan(one.place, 'USDT')));
      expect(anew).to.include({ state: 'signed', refused: null });
    }
  });

  it('ends the payout that was planned anew, and the refusal names what to type', async () => {
    const one = await the.shown(await the.forgotten());
    const planned = await the.plan(one.place, 'USDT');
    const asked = await the.decided(await the.ask(planned));
    expect(asked['refused']).to.include(
      `take it up with "payout conclude ${planned.id} --tx ${one.transfer['hash']} --journal FILE"`,
    );
    expect((await the.takeUp(one.transfer))?.payoutId).to.equal(one.payout.id);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
    const states = await the.sql('select id, state from payouts where address_key = ? order by created_at', [
      one.place.addressKey,
    ]);
    expect(states).to.have.deep.members([
      { id: one.payout.id, state: 'settled' },
      { id: planned.id, state: 'cancelled' },
    ]);
  });

  it('with an attempt that the database has forgotten, once the one that it knows has ended', async () => {
    const one = await the.signedPayout('bsc', 'USDT');
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'send']);
    const second = await the.decided(await the.ask(one.payout, DEARER));
    expect(second['state']).to.equal('signed');
    await the.force('delete from sent_transactions where id = ?', [second['id']]);
    await the.shows(one.topUp ?? {});
    await the.notTakenUp(second, /^another payout of this address \(.*\) is on its way/);
    await the.shows(second);
    expect(await the.goesOn(one.place)).to.deep.equal(['fail']);
    expect((await the.takeUp(second))?.payoutId).not.to.equal(one.payout.id);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
    expect(await the.states(one.depositIds)).to.deep.equal(['settled', 'settled']);
  });

  it('coins alone, for the payout under way; where none is, it waits for one', async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'USDT', UNITS);
    const first = await the.plan(place, 'USDT');
    const topUp = await the.decided(await the.ask(first, { purpose: 'gas' }));
    await the.forget({ payout: first });
    await the.shows(topUp);
    await the.notTakenUp(
      topUp,
      /no payout that takes them is under way there at present: run this again when/,
    );
    const payout = await the.plan(place, 'USDT');
    const asked = await the.ask(payout, { purpose: 'gas' });
    await the.decided(asked);
    expect((await the.takeUp(topUp))?.payoutId).to.equal(payout.id);
    expect(await freeAt(place)).to.equal(TOP_UP);
    expect((await the.row(asked))['state']).to.equal('dead');
  });

  it('a loan with its payout, and what takes it back with the payout that it was lent for', async () => {
    const one = await the.signedPayout('tron', 'USDT', UNITS, LOAN);
    await the.shown(one);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
    const reclaim = await the.decided(await the.ask(one.payout, { ...LOAN, purpose: 'reclaim' }));
    await the.force('delete from sent_transactions where id = ?', [reclaim['id']]);
    await the.shows(reclaim, { moves: [] });
    expect((await the.takeUp(reclaim))?.payoutId).to.equal(one.payout.id);
    expect((await sent(one.payout.id)).map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'delegate final',
      'payout final',
      'reclaim final',
    ]);
    await the.force(
      "update deposits set status = 'completed', settled_units = null, settlement_fee_units = null where payout_id = ?",
      [one.payout.id],
    );
    await the.forget(one);
    for (const row of [one.topUp ?? {}, reclaim]) await the.shows(row, { moves: [] });
    await the.shows(one.transfer);
    expect((await the.takeUp(reclaim))?.hashes).to.have.length(3);
    expect(await the.goesOn(one.place)).to.deep.equal(['pay', 'settle']);
  });
});
