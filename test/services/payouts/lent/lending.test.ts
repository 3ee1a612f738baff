import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../../src/services/payouts/decisions.ts';
import { lentPage } from '../../../../src/services/repair/settlements.ts';
import { settlementResult } from '../../../../workflows/results.ts';
import { stallingTron } from '../../../actors/support/stalling.ts';
import { isSent, says, wordsOf } from '../settle/steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';
import { shown } from '../stage.ts';

const USDT = TRX;
/** Enough for several payouts at a time. */
const STAKED = 400_000n * TRX;
const PAID = /USDT to .*: paid out/;
const BACK_SENT = 'what takes the energy back was sent';

describe('paying out on Tron with energy from a stake', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: STAKED });
  });
  after(() => the?.stop());

  const waysOf = async (key: AddressKey, purpose: string): Promise<string[]> =>
    (await the.ways(key)).filter((way) => way.startsWith(purpose));
  /** What its transfer itself burnt. */
  const feeOf = async (key: AddressKey): Promise<bigint> => {
    const paid = (await the.sent(key)).find(({ purpose }) => purpose === 'payout');
    return BigInt(String(paid?.['fee_units']));
  };
  /** What was sent last lands nowhere. */
  const isLost = async (key: AddressKey): Promise<void> => {
    await the.node.forget(String((await the.sent(key)).at(-1)?.['hash']));
    await the.letItsTimePass();
  };

  it('lends the address what its transfer takes, pays without burning, and takes it back to the unit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT]);
    await the.settle(key, says('asked for its transfer'));
    const [loan] = (await the.sent(key)).filter(({ purpose }) => purpose === 'delegate');
    expect(await the.lentTo(key)).to.equal(BigInt(String(loan?.['amount_units'])));
    const steps = await the.settle(key);
    // Those that the actor cannot read would be asked for again, each after a pause.
    const unread = steps.filter((step) => step.kind === 'went' && settlementResult(step) === undefined);
    expect(unread).to.deep.equal([]);
    expect(await the.ways(key)).to.deep.equal([
      'gas final',
      'delegate final',
      'payout final',
      'reclaim final',
    ]);
    // All of the energy was there, and its bytes were free.
    expect([await the.lentTo(key), await feeOf(key)]).to.deep.equal([0n, 0n]);
    const sent = await the.sent(key);
    expect(sent.find(({ purpose }) => purpose === 'delegate')?.['reclaimed_at']).to.not.equal(null);
    const own = sent.filter(({ purpose }) => purpose !== 'reclaim');
    const fees = own.reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    expect((await the.payouts(key))[0]).to.include({ state: 'settled', fee_units: fees.toString() });
  });

  it('burns coins where too little of the stake is free, or three loans in a row landed nowhere', async () => {
    await the.node.stake(the.gas, TRX);
    const poor = await the.paid(['USDT', 10n * USDT]);
    await the.settle(poor);
    expect(await the.ways(poor)).to.deep.equal(['gas final', 'payout final']);
    expect((await feeOf(poor)) > 500_000n).to.equal(true);
    await the.node.stake(the.gas, STAKED);
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, isSent);
      await isLost(key);
    }
    await the.settle(key, says(PAID));
    expect(await waysOf(key, 'delegate')).to.deep.equal(Array(3).fill('delegate dead'));
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    await the.settle(key);
  });

  it('asks for its energy back once more where that landed nowhere, and takes note of what was done by hand', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(BACK_SENT));
    await the.step(key);
    // It is settled, and "payout retry" is what its wait may tell people to do.
    const [payout] = await the.payouts(key);
    const place = await retryPayout(the.deps, { id: String(payout?.['id']), reason: null });
    expect(place).to.include({ network: 'tron', addressKey: key });
    await isLost(key);
    expect(await the.lentTo(key)).to.not.equal(0n);
    await the.settle(key);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(['reclaim dead', 'reclaim final']);
    expect(await the.lentTo(key)).to.equal(0n);
    const other = await the.paid(['USDT', 10n * USDT]);
    await the.settle(other, says(BACK_SENT));
    await isLost(other);
    const { lending } = the.spending;
    if (!lending) throw new Error('nothing is lent');
    const byHand = { ...the.spending, lending: { ...lending, lent: async () => 0n } };
    expect(wordsOf(await the.step(other, false, byHand))).to.match(/is with the gas wallet again/);
    await the.settle(other);
    expect(await waysOf(other, 'reclaim')).to.deep.equal(['reclaim dead']);
  });

  it('takes it back where the payout is cancelled, and by a worker that burns', async () => {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(/bytes that lend|asked for energy/));
    const withdraw = (to: AddressKey) =>
      updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { tron: shown('tron', to) } });
    await withdraw(keyOfHex('d3'.repeat(20)));
    await the.settleOver(the.spendingBy('burn'))(key);
    await withdraw(MERCHANT_KEY);
    expect(await the.states(key)).to.deep.equal(['cancelled', 'settled']);
    expect(await the.lentTo(key)).to.equal(0n);
  });

  it('leaves the books and the chain in agreement', () => the.agrees());

  /** Whether a repair would start the actor of an address. */
  const isStarted = async (key: AddressKey): Promise<boolean> =>
    (await rows(the.deps.orm.em.fork(), lentPage('tron', '' as AddressKey))).some(
      ({ addressKey }) => addressKey === key,
    );
  const isNoted = async (key: AddressKey): Promise<boolean> =>
    (await the.sent(key)).some(({ reclaimed_at: at }) => at !== null);

  /** What took its energy back is in a block that is called irreversible, and is replaced after that. */
  async function lentBackAndLost(): Promise<AddressKey> {
    const key = await the.paid(['USDT', 10n * USDT]);
    await the.settle(key, says(BACK_SENT));
    const stalling = stallingTron(the.node);
    stalling.hasty();
    the.endpoint.fault = the.node.fault;
    await the.node.mine();
    await the.catchUp();
    expect(wordsOf(await the.step(key))).to.include('is with the gas wallet again');
    expect(await isStarted(key)).to.equal(false);
    the.endpoint.fault = undefined;
    await the.node.replace(1);
    await the.node.mine(20);
    // A look that meets the contradiction may end there; the watcher comes again.
    await eventually('the other branch being followed', async () =>
      (await the.catchUp().catch(() => undefined)) === undefined ? undefined : true,
    );
    await the.finish();
    expect(await waysOf(key, 'reclaim')).to.deep.equal(['reclaim sent']);
    expect([await isNoted(key), (await the.lentTo(key)) > 0n]).to.deep.equal([true, true]);
    return key;
  }

  it('sends its energy back by the same bytes where finality breaks under that, and no other payout of the address is planned before', async () => {
    const key = await lentBackAndLost();
    expect(await isStarted(key), 'by a repair').to.equal(true);
    await the.pay(key, ['USDT', 3n * USDT]);
    the.clock.aheadMs += 60_000;
    const steps = await the.settle(key);
    const sent = steps.findIndex(says('takes its energy back was sent, and no block has it yet'));
    const planned = steps.findIndex((step) => step.kind === 'went' && step.state === 'planned');
    expect(sent).to.be.greaterThan(-1);
    expect(planned).to.be.greaterThan(sent);
    expect(await waysOf(key, 'reclaim')).to.deep.equal(Array(2).fill('reclaim final'));
    expect(await the.lentTo(key)).to.equal(0n);
    expect(await isStarted(key)).to.equal(false);
  });
});
