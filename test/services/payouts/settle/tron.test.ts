import { expect } from 'chai';
import { ANSWERS, always } from '../../../../dev/tron/faults.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/context.ts';
import { isSent, reasonOf, says } from './steps.ts';
import { MERCHANT_KEY, startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;
const isSettled = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'settled';

describe('paying out on Tron', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ others: 1, gasTrx: 1_000n });
  });
  afterEach(() => {
    the.node.rules.isTooSlow = () => false;
    the.node.rules.prices.sunPerEnergy = 100n;
  });
  after(() => the?.stop());
  const statuses = async (key: Parameters<typeof the.deposits>[0]) =>
    (await the.deposits(key)).map(({ status }) => status);
  const forget = async (key: Parameters<typeof the.deposits>[0]): Promise<void> => {
    await the.node.forget(String((await the.sent(key)).at(-1)?.['hash']));
  };

  it('pays tokens out once, with coins that make the address an account, and settles every deposit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT + 1n]);
    const had = await the.tokensOf(MERCHANT_KEY);
    await the.settle(key);
    expect((await the.tokensOf(MERCHANT_KEY)) - had).to.equal(15n * USDT + 1n);
    expect(await the.tokensOf(key)).to.equal(0n);
    expect(
      (await the.deposits(key)).map(({ status, settled_units: units }) => [status, String(units)]),
    ).to.deep.equal([
      ['settled', '10000000'],
      ['settled', '5000001'],
    ]);
    expect(await the.ways(key)).to.deep.equal(['gas final', 'payout final']);
    const fees = (await the.sent(key)).map(({ fee_units: fee }) => BigInt(String(fee)));
    // The account that came to be is paid for by the top-up.
    expect((fees[0] ?? 0n) >= 1_100_000n).to.equal(true);
    const [payout] = await the.payouts(key);
    expect(payout).to.include({
      state: 'settled',
      fee_units: fees.reduce((sum, fee) => sum + fee, 0n).toString(),
    });
    // The next tokens are paid from the coins that the first ones left, and the rest is topped up.
    await the.pay(key, ['USDT', 7n * USDT]);
    await the.settle(key);
    expect(await the.ways(key)).to.deep.equal(['gas final', 'payout final', 'gas final', 'payout final']);
    const [first, , second] = (await the.sent(key)).map((row) => BigInt(String(row['amount_units'])));
    expect((second ?? 0n) < (first ?? 0n)).to.equal(true);
  });

  it('pays coins out to the unit, and takes from them only what a new receiver costs', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['TRX', 3n]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key);
    const net = 30n * TRX + 3n - 1_100_000n;
    expect((await the.payouts(key))[0]).to.include({
      state: 'settled',
      net_units: net.toString(),
      fee_units: '1100000',
    });
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(net);
    const next = await the.paid(['TRX', 40n * TRX]);
    await the.settle(next);
    expect((await the.payouts(next))[0]).to.include({ net_units: '40000000', fee_units: '0' });
    expect(await the.coinsOf(next)).to.equal(0n);
  });

  it('never takes the coins for tokens from coins of deposits', async () => {
    const key = await the.paid(['TRX', 30n * TRX], ['USDT', USDT]);
    await the.settle(key, isSettled);
    expect((await the.coinsOf(key)) >= 30n * TRX).to.equal(true);
    await the.settle(key);
    expect(await statuses(key)).to.deep.equal(['settled', 'settled']);
  });

  it('pays once what every node has taken and none has put into a block, after its time is over', async () => {
    const key = await the.paid(['TRX', 50n * TRX]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key, isSent);
    await forget(key);
    await the.finish();
    // Its time is not over: nothing else may be signed, whatever nodes say.
    expect(reasonOf(await the.step(key))).to.match(/no block has it yet/);
    expect(await the.states(key)).to.deep.equal(['paying']);
    await the.letItsTimePass();
    // Nor while an endpoint has not read on to its end.
    const [other] = the.others;
    if (!other) throw new Error('no second endpoint');
    other.fault = always(ANSWERS.unavailable);
    const host = new URL(the.endpoint.url).host;
    expect(reasonOf(await the.step(key)))
      .to.match(/counts once two RPC endpoints say so/)
      .and.to.include(` only ${host} does so far`);
    other.fault = undefined;
    the.later(60_000);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['failed', 'settled']);
    expect(await the.ways(key)).to.deep.equal(['payout dead', 'payout final']);
    const paid = (await the.payouts(key)).at(-1);
    const net = BigInt(String(paid?.['net_units']));
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(net);
    // What an address has free is not counted on again where it was of no use.
    expect(paid).to.include({ fee_units: (50n * TRX - net).toString() });
    expect(await statuses(key)).to.deep.equal(['settled']);
  });

  it('takes up a transaction that a block shows after all, and pays nothing twice', async () => {
    const key = await the.paid(['TRX', 25n * TRX]);
    const had = await the.coinsOf(MERCHANT_KEY);
    await the.settle(key, isSent);
    await the.node.mine(2);
    await the.catchUp();
    await the.node.replace(2, { keep: 'again' });
    await the.catchUp();
    expect(await the.ways(key)).to.deep.equal(['payout sent']);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled']);
    expect((await the.coinsOf(MERCHANT_KEY)) - had).to.equal(25n * TRX);
  });

  it('that fails on the chain is made again once, then rarely, and a person is told', async () => {
    const key = await the.paid(['USDT', 40n * USDT]);
    the.node.rules.isTooSlow = ({ owner, type }) => owner === key && type === 'TriggerSmartContract';
    await the.settle(key, says(/one after the other/));
    expect(await the.states(key)).to.deep.equal(['failed', 'failed']);
    expect(await the.wait(key)).to.include({ code: 'failed_again' });
    expect(await statuses(key)).to.deep.equal(['completed']);
    const sent = (await the.sent(key)).filter(({ purpose }) => purpose === 'payout');
    expect(sent.map(({ state, ok }) => [state, ok])).to.deep.equal(Array(2).fill(['final', false]));
    the.node.rules.isTooSlow = () => false;
    the.clock.aheadMs += 10 * 60_000;
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['failed', 'failed', 'settled']);
    expect(await statuses(key)).to.deep.equal(['settled']);
  });

  it('leaves the books and the chain in agreement', () => the.agrees());
});
