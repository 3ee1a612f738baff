import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { QUICK } from '../../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { decideToFail } from '../../../src/services/deposits/operator.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { repairActors } from '../../../src/services/repair/repair.ts';
import { DESTINATION, payOut } from '../../support/payout-rows.ts';
import { depositsOf, statusOf } from '../support/deposits.ts';

/**
 * More than any deposit of these tests: what pays out an address waits for more, and the test pays by hand.
 */
const MORE_USDT = 1_000n * USDT_UNIT;

/**
 * A completed deposit and its payout, on real servers; what signs and what the chain says is written by hand.
 */
describe('a completed deposit', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  before(async () => {
    const payouts = {
      networks: ['bsc' as const],
      minUnits: new Map([['USDT.bsc', MORE_USDT]]),
      maxFeeBasisPoints: 500n,
    };
    live = await startLiveMoney({ settings: { ...QUICK, payouts } });
  });
  after(async () => {
    await live?.stop();
  });
  const { rowOf, actorOf } = depositsOf(() => live);

  const setWithdraw = async (bsc: string | null) =>
    await updateMerchant(live.gateway.deps, { merchantId: live.merchantId, withdraw: { bsc } });
  const ended = async (actor: WorkflowHandle) =>
    await eventually('the end of the actor', async () => (await statusOf(actor)) === 'COMPLETED');
  const settlementOf = (address: string): WorkflowHandle => {
    const client = live.gateway.gateway.link?.client ?? expect.fail('no client');
    return client.workflow.getHandle(`settlement:bsc:${address.slice(2)}`);
  };
  const events = async (actor: WorkflowHandle) => (await actor.fetchHistory()).events ?? [];

  async function completed(to = live.address) {
    const hash = await live.chain.usdt.call('transfer', [to, 4n * USDT_UNIT]);
    await live.chain.mine(7);
    await live.eventOf('deposit.completed', hash);
    return { hash, actor: await actorOf(hash), depositId: String((await rowOf(hash))['id']) };
  }
  const pay = async (depositId: string) =>
    await eventually('its payout', () => payOut(live.gateway.deps, depositId));

  /** Waits for the payout: nothing is pending any more, and no webhook is on its way. */
  async function waits(actor: WorkflowHandle): Promise<void> {
    await eventually('an actor that waits for nothing but news', async () => {
      const { raw, status } = await actor.describe();
      const view = await actor.query<{ state: string }>('view');
      return status.name === 'RUNNING' && view.state === 'completed' && !raw.pendingActivities?.length;
    });
  }

  it('waits for its payout without a timer or a look, and announces that it is settled', async () => {
    await setWithdraw(DESTINATION);
    const { hash, actor, depositId } = await completed();
    await waits(actor);
    const before = (await events(actor)).length;
    await pay(depositId);
    expect(await live.eventOf('deposit.settled', hash)).to.include({ id: depositId, status: 'settled' });
    await ended(actor);
    const history = await events(actor);
    expect(history.filter((event) => event.timerStartedEventAttributes)).to.deep.equal([]);
    expect(
      history
        .slice(before)
        .flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []),
      'one look and one webhook',
    ).to.deep.equal(['advanceDeposit', 'deliverWebhook']);
    expect((await actor.describe()).searchAttributes['DepositStage']).to.deep.equal(['settled']);
  });

  it('ends its actor where no payout is foreseen, and has another when it is paid out all the same', async () => {
    await setWithdraw(null);
    const { hash, actor, depositId } = await completed();
    await ended(actor);
    await pay(depositId);
    expect(await live.eventOf('deposit.settled', hash)).to.include({ id: depositId });
    await ended(actor);
  });

  it('is failed by an operator where finality broke while it waited, and the actor that waited says so', async () => {
    await setWithdraw(DESTINATION);
    const { hash, actor, depositId } = await completed();
    await waits(actor);
    const { deps } = live.gateway;
    await deps.orm.em
      .fork()
      .execute('update deposits set block_hash = null, verified_at = null where id = ?', [depositId]);
    await decideToFail(deps, { depositId, by: 'Ann', reason: 'its block is gone' });
    expect(await live.eventOf('deposit.failed', hash)).to.include({ failure_code: 'REORGED' });
    await ended(actor);
  });

  it('is told of by the merchant’s own step: a withdraw address starts the actors of its addresses', async () => {
    await setWithdraw(null);
    const { address } = await live.newCustomer();
    await completed(address);
    const actor = settlementOf(address);
    await ended(actor);
    expect(await actor.result())
      .to.have.property('note')
      .that.includes('has set no withdraw address');
    const { runId: first, memo, searchAttributes } = await actor.describe();
    expect(String(memo?.['address']).toLowerCase()).to.equal(address);
    expect(searchAttributes).to.deep.include({ MerchantId: [live.merchantId], Network: ['bsc'] });
    await setWithdraw(DESTINATION);
    await eventually('another run', async () => (await actor.describe()).runId !== first);
    await ended(actor);
    expect(await actor.result())
      .to.have.property('note')
      .that.includes('SETTLE_MIN');
  });

  it('is found by a repair whose actor nobody told', async () => {
    await setWithdraw(DESTINATION);
    const { address } = await live.newCustomer();
    await completed(address);
    const actor = settlementOf(address);
    await ended(actor);
    const { deps } = live.gateway;
    await deps.orm.em.fork().execute('delete from settlement_waits');
    const first = (await actor.describe()).runId;
    // Those of the tests before wait for more as well, and each is told.
    const { payouts } = await repairActors(deps);
    expect(payouts).to.be.at.least(1);
    await eventually('another run', async () => (await actor.describe()).runId !== first);
    await ended(actor);
    await eventually(
      'each of them saying why it waits',
      async () => (await deps.orm.em.fork().execute('select 1 from settlement_waits')).length >= payouts,
    );
    expect((await repairActors(deps)).payouts, 'what holds too little is left alone').to.equal(0);
  });
});
