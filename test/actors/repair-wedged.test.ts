import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { Deposit } from '../../src/db/entities/index.ts';
import { workflowIdOf } from '../../src/services/deposits/actor-message.ts';
import { listStuck } from '../../src/services/deposits/stuck.ts';
import { repairActors, repairDeposits } from '../../src/services/repair/repair.ts';

const LATER_MS = 6 * 60_000;

/**
 * An actor can be there and yet never go on: after an upgrade that its
 * history does not fit, say. Its row does not move, and that is seen.
 */
describe('an actor that cannot go on', function () {
  this.timeout(150_000);
  let live: LiveMoney;
  before(async () => {
    live = await startLiveMoney({ env: { LOG_LEVEL: 'fatal' } });
  });
  after(async () => live?.stop());

  const deps = () => live.gateway.deps;
  const later = () => ({ ...deps(), now: () => new Date(Date.now() + LATER_MS) });
  const client = () => live.gateway.gateway.link?.client;

  async function detected(coins: bigint): Promise<{ hash: string; deposit: Deposit; actor: WorkflowHandle }> {
    const hash = await live.chain.usdt.call('transfer', [live.address, coins * USDT_UNIT]);
    await live.chain.mine();
    await live.eventOf('deposit.detected', hash);
    const deposit = await deps().orm.em.fork().findOneOrFail(Deposit, { transactionHash: hash });
    const actor = client()?.workflow.getHandle(workflowIdOf(deposit));
    if (!actor) throw new Error('Temporal is not connected');
    return { hash, deposit, actor };
  }

  /** A workflow under the same id whose code this worker does not have: each of its tasks fails. */
  async function wedge({ deposit, actor }: { deposit: Deposit; actor: WorkflowHandle }): Promise<void> {
    await actor.terminate('the test puts another one in its place');
    await client()?.workflow.start('gone', {
      workflowId: workflowIdOf(deposit),
      taskQueue: 'gateway',
      args: [],
    });
    await eventually('its failures', () => deps().actors?.isUnresponsive(workflowIdOf(deposit)), 60_000);
  }

  it('is told by its row, and replaced by a repair', async () => {
    const found = await detected(3n);
    await wedge(found);
    await live.chain.mine(8);
    await eventually(
      'the second read',
      async () => (await live.deposits(found.hash))[0]?.['verified_at'] != null,
      30_000,
    );
    const stuck = await eventually('the alarm', async () =>
      (await listStuck(later())).find((row) => row.transaction_hash === found.hash),
    );
    expect(stuck.action).to.equal('run "repair" to start its actor again');
    await repairDeposits(later());
    await live.eventOf('deposit.completed', found.hash, 30_000);
    expect((await listStuck(later())).filter((row) => row.transaction_hash === found.hash)).to.deep.equal([]);
  });

  it('holds up no other part of a repair', async () => {
    const broken = { ...deps(), orm: deps().orm };
    const { hash, actor } = await detected(4n);
    await actor.terminate('the test takes it away');
    await deps().orm.em.fork().execute('alter table payment_links rename column expires_at to elsewhere');
    try {
      const failed = await repairActors(broken).catch((error: Error) => error);
      expect(failed).to.be.instanceOf(Error);
      expect((failed as Error).message).to.match(/^payment links: /);
    } finally {
      await deps().orm.em.fork().execute('alter table payment_links rename column elsewhere to expires_at');
    }
    await live.chain.mine(8);
    await live.eventOf('deposit.completed', hash, 30_000);
  });
});
