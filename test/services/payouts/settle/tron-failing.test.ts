import { expect } from 'chai';
import { startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const USDT = TRX;

describe('payouts on Tron that fail on the chain', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage();
  });
  afterEach(() => {
    the.node.rules.isTooSlow = () => false;
    the.node.rules.prices.sunPerEnergy = 100n;
  });
  after(() => the?.stop());

  const statesOf = async (key: Parameters<typeof the.payouts>[0]): Promise<unknown[]> =>
    (await the.payouts(key)).map(({ state }) => state);

  it('are made again once, then rarely, and tell a person; the coins that burnt are not counted on', async () => {
    const key = await the.paid(['USDT', 40n * USDT]);
    the.node.rules.isTooSlow = ({ owner, type }) => owner === key && type === 'TriggerSmartContract';
    await the.settle(key, (step) => step.kind === 'wait' && /one after the other/.test(step.reason));
    expect(await statesOf(key)).to.deep.equal(['failed', 'failed']);
    expect(await the.wait(key)).to.include({ code: 'failed_again' });
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['completed']);
    const [first, second] = (await the.sent(key)).filter(({ purpose }) => purpose === 'payout');
    expect(first).to.include({ state: 'final', ok: false });
    expect(second).to.include({ state: 'final', ok: false });
    the.node.rules.isTooSlow = () => false;
    the.clock.aheadMs += 10 * 60_000;
    await the.settle(key);
    expect(await statesOf(key)).to.deep.equal(['failed', 'failed', 'settled']);
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['settled']);
  });

  it('are not sent with too little where energy has become dear since the coins were', async () => {
    const key = await the.paid(['USDT', 40n * USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.note.endsWith(': sent'));
    await the.finish();
    the.node.rules.prices.sunPerEnergy = 210n;
    // The price is kept for ten minutes: a payout that was planned before fails at most once for it.
    await the.settle(key);
    const states = await statesOf(key);
    expect(states.at(-1)).to.equal('settled');
    expect(states.filter((state) => state === 'failed').length).to.be.lessThan(2);
  });

  it('are not sent with too little where another deposit has come since the trial', async () => {
    // The first payout makes the coins for gas be there, and the receiver a holder.
    const key = await the.paid(['USDT', 40n * USDT]);
    await the.settle(key);
    await the.pay(key, ['USDT', 40n * USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'paying');
    // A balance that is not emptied costs more than one that is.
    await the.node.pay({ to: key, currency: 'USDT', units: 30n * USDT });
    await the.node.mine();
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'settled');
    expect(await statesOf(key)).to.deep.equal(['settled', 'settled']);
  });
});
