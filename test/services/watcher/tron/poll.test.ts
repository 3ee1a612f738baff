import { expect } from 'chai';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

describe('Tron that is watched', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
  });
  after(() => live?.stop());

  it('credits TRX and USDT at the head, and completes both once two reads agree', async () => {
    const address = await live.newAddress();
    await live.catchUp();
    await live.node.pay({ to: address, currency: 'TRX', units: 9_007_199_254_740_993n });
    await live.node.pay({ to: address, currency: 'USDT', units: 5_000_000n });
    await live.node.mine();
    await live.catchUp();
    const seen = await live.deposits(address);
    expect(seen.map(({ currency, amount_units: units }) => `${units} ${currency}`)).to.have.members([
      '9007199254740993 TRX',
      '5000000 USDT',
    ]);
    expect(seen.every(({ verified_at: at }) => at === null)).to.equal(true);
    await live.finish();
    const verified = await live.deposits(address);
    expect(verified.every(({ verified_at: at }) => at !== null)).to.equal(true);
  });
});
