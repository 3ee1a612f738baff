import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { payablePage } from '../../../../src/services/repair/settlements.ts';
import { type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { says } from '../settle/steps.ts';

describe('a payout that is settled by a worker which is killed then', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  /** Whether a repair would start the actor of an address that has something to pay out. */
  const isDue = async (key: AddressKey): Promise<boolean | undefined> => {
    const page = payablePage('bsc', '' as AddressKey, new Date(0));
    return (await rows(the.deps.orm.em.fork(), page)).find(({ addressKey }) => addressKey === key)?.due;
  };

  it('leaves what came meanwhile to the next look of its actor, and to a repair where it has none', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, says(': sent'));
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'paying');
    await the.pay(key, ['USDT', 3n * USDT]);
    await the.settle(key, says('paid out'));
    expect(await isDue(key)).to.equal(true);
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['settled', 'settled']);
    expect(await isDue(key)).to.equal(undefined);
  });

  it('is settled once where a worker that stood still in that step goes on after another one', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, says(': sent'));
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'paying');
    await the.settle(key, says(': sent'));
    await the.chain.mine();
    await the.finish();
    const [one, other] = await Promise.all([the.step(key), the.step(key)]);
    expect([one, other].filter(says('paid out'))).to.have.length(1);
    await the.settle(key);
    expect(await the.rows('select 1 from payouts where address_key = ?', [key])).to.have.length(1);
  });
});
