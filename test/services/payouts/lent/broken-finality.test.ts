import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { rows } from '../../../../src/db/sql.ts';
import { lentPage } from '../../../../src/services/repair/settlements.ts';
import { stallingTron } from '../../../actors/support/stalling.ts';
import { says, wordsOf } from '../settle/steps.ts';
import { startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';

const USDT = TRX;

/** An endpoint calls irreversible what is replaced afterwards, and energy was found to be back by it. */
describe('energy that was back when finality broke', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: 400_000n * TRX });
  });
  after(() => the?.stop());

  const backs = async (key: AddressKey): Promise<string[]> =>
    (await the.sent(key)).filter(({ purpose }) => purpose === 'reclaim').map(({ state }) => String(state));
  const lentTo = (key: AddressKey): Promise<bigint> => the.lentTo(key);
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
    await the.settle(key, says('what takes the energy back was sent'));
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
    expect(await backs(key)).to.deep.equal(['sent']);
    expect([await isNoted(key), (await lentTo(key)) > 0n]).to.deep.equal([true, true]);
    return key;
  }

  it('is sent back by the same bytes, and no other payout of the address is planned before', async () => {
    const key = await lentBackAndLost();
    expect(await isStarted(key), 'by a repair').to.equal(true);
    await the.pay(key, ['USDT', 3n * USDT]);
    the.clock.aheadMs += 60_000;
    const steps = await the.settle(key);
    const sent = steps.findIndex(says('what takes the energy back was sent'));
    const planned = steps.findIndex((step) => step.kind === 'went' && step.state === 'planned');
    expect(sent).to.be.greaterThan(-1);
    expect(planned).to.be.greaterThan(sent);
    expect(await backs(key)).to.deep.equal(['final', 'final']);
    expect(await lentTo(key)).to.equal(0n);
    expect(await isStarted(key)).to.equal(false);
  });

  it('is asked back once more where those bytes can land no more', async () => {
    const key = await lentBackAndLost();
    await the.letItsTimePass();
    await the.settle(key);
    expect(await backs(key)).to.deep.equal(['dead', 'final']);
    expect(await lentTo(key)).to.equal(0n);
    expect(await isStarted(key)).to.equal(false);
  });

  it('is let be where somebody has taken it back by hand since, and nobody asks about it for ever', async () => {
    const key = await lentBackAndLost();
    await the.letItsTimePass();
    const { lending } = the.spending;
    if (!lending) throw new Error('nothing is lent');
    const byHand: Spending = { ...the.spending, lending: { ...lending, lent: async () => 0n } };
    const steps = await the.settleOver(byHand)(key);
    expect(steps.map(({ kind }) => kind)).to.deep.equal(['went', 'rest']);
    expect(await backs(key)).to.deep.equal(['dead']);
    expect(await isStarted(key)).to.equal(false);
  });
});
