import type { WorkflowHandle } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type Json, type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { recordDecision } from '../../src/services/deposits/decisions.ts';
import { decideToFail, releaseDeposit } from '../../src/services/deposits/operator.ts';
import { listStuck } from '../../src/services/deposits/stuck.ts';
import { repairActors, repairDeposits } from '../../src/services/repair/repair.ts';
import { depositsOf, refusalOf, statusOf, type, waitingFor } from './support/deposits.ts';

type IWorkflowMetadata = temporal.api.sdk.v1.IWorkflowMetadata;
/** Longer than a row may stand before a repair looks at it. */
const LATER_MS = 6 * 60_000;

/**
 * What operators do with deposits that do not go their usual
 * way, and what they read about them, on real servers.
 */
describe('an operator', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ settings: QUICK, env: { LOG_LEVEL: 'fatal' } });
  });
  after(async () => {
    await live?.stop();
  });
  afterEach(() => {
    live.receiver.setBehaviour(200);
  });

  const { pay, actorOf, rowOf, balance, fail, putToSleep } = depositsOf(() => live);

  it('fails an open deposit at once: it is announced and its money is held', async () => {
    const before = await live.ledger();
    const { hash, actor } = await pay(4n * USDT_UNIT);
    expect(await fail({ hash, actor }, { by: 'Ann', reason: 'sanctioned sender' })).to.equal('failed');
    const event = await live.eventOf('deposit.failed', hash);
    expect(event).to.include({
      status: 'failed',
      failure_code: 'REJECTED_BY_OPERATOR',
      failure_reason: 'sanctioned sender',
      sequence: 2,
    });
    expect((await balance('held')) - (before['held'] ?? 0n)).to.equal(4n * USDT_UNIT);
    expect((await balance('pending')) - (before['pending'] ?? 0n)).to.equal(0n);
    const [audit] = await live.gateway.deps.orm.em.fork().execute<Json[]>(
      `select t.by_name, t.reason from deposit_transitions t join deposits d on d.id = t.deposit_id
          where d.transaction_hash = ? and t.to_state = 'failed'`,
      [hash],
    );
    expect(audit).to.deep.equal({ by_name: 'Ann', reason: 'sanctioned sender' });
    await eventually('the end of the actor', async () => (await statusOf(actor)) === 'COMPLETED');
    await live.chain.mine(6);
    expect(await rowOf(hash)).to.include({ status: 'failed' });
  });

  it('decides in the database: what somebody types in Temporal fails nothing', async () => {
    const { hash, actor } = await pay(4n * USDT_UNIT);
    const depositId = String((await rowOf(hash))['id']);
    expect(await refusalOf(type(actor, { by: 'Ann', reason: 'typed' }))).to.match(
      /^no operator's decision .* "gateway deposit fail"$/,
    );
    await recordDecision(live.gateway.deps, { depositId, by: 'Ann', reason: 'another one' });
    expect(await refusalOf(type(actor, { by: 'Ann', reason: 'typed' }))).to.match(/^no operator's decision/);
    expect(await rowOf(hash)).to.include({ status: 'detected' });
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
    await eventually('the end of the actor', async () => (await statusOf(actor)) === 'COMPLETED');
  });

  it('cannot fail a deposit that is completed, neither by its actor nor without it', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, 4n * USDT_UNIT]);
    live.receiver.setBehaviour((_index, request) =>
      request.body.includes('"event":"deposit.completed"') ? 503 : 200,
    );
    await live.chain.mine(7);
    const row = () => rowOf(hash);
    await eventually('completed', async () => (await row())['status'] === 'completed');
    const actor = await actorOf(hash);
    await eventually(
      'an actor that knows it',
      async () => (await actor.query<{ state: string }>('view')).state === 'completed',
    );
    expect(await refusalOf(fail({ hash, actor }, { by: 'Ann', reason: 'too late' }))).to.match(
      /the deposit is completed/,
    );
    const decided = { depositId: String((await row())['id']), by: 'Ann', reason: 'too late' };
    expect(String(await decideToFail(live.gateway.deps, decided).catch((error: Error) => error))).to.match(
      /only a completed deposit whose block was replaced can be failed/,
    );
    expect(await statusOf(actor)).to.equal('RUNNING');
    live.receiver.setBehaviour(200);
    await eventually('the end of the actor', async () => (await statusOf(actor)) === 'COMPLETED');
    expect(await row()).to.include({ status: 'completed' });
  });

  it('releases a failed deposit once it is final, as a second generation with an actor of its own', async () => {
    const before = await live.ledger();
    const { hash, actor } = await pay(6n * USDT_UNIT);
    await fail({ hash, actor }, { by: 'Ann', reason: 'to be checked' });
    const depositId = String((await rowOf(hash))['id']);
    const release = () => releaseDeposit(live.gateway.deps, { depositId, by: 'Bob', reason: 'checked' });
    const early = await release().catch((error: unknown) => error);
    expect(String(early)).to.match(/is not final yet/);
    await live.chain.mine(6);
    await eventually('its second read', async () => (await rowOf(hash))['verified_at'] != null);
    const released = await release();
    expect(released).to.include({ status: 'completed', generation: 2, sequence: 3 });
    const event = await live.eventOf('deposit.completed', hash);
    expect(event).to.include({ id: depositId, sequence: 3, failure_code: null, amount_usd: 6 });
    const second = await actorOf(hash, ':g2');
    await eventually('the end of the second actor', async () => (await statusOf(second)) === 'COMPLETED');
    expect((await balance('available')) - (before['available'] ?? 0n)).to.equal(6n * USDT_UNIT);
    expect((await balance('held')) - (before['held'] ?? 0n)).to.equal(0n);
    const again = await release().catch((error: unknown) => error);
    expect(String(again)).to.match(/is completed, not failed/);
  });

  it('is called for a deposit that is stuck, reads in the Web UI why and what to do, and is called off when it moves', async () => {
    const { deps } = live.gateway;
    const usualMs = deps.settings.stuckAfterMs;
    Object.assign(deps.settings, { stuckAfterMs: 1_500 });
    const needs = async (actor: WorkflowHandle) =>
      (await actor.describe()).searchAttributes['NeedsOperator']?.[0];
    try {
      const { hash, actor } = await pay(5n * USDT_UNIT);
      await eventually('the alarm', async () => (await needs(actor)) === true);
      const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
      expect(stuck).to.include({ state: 'detected', network: 'bsc', needs: null });
      expect(stuck?.reason).to.match(/^0 of 3 confirmations/);
      expect(stuck?.action).to.match(/deposit fail/);
      expect(await actor.query('view')).to.include({ state: 'detected', needsOperator: true });
      await eventually(
        'the reason of its pending step',
        async () => /^0 of 3 confirmations/.test((await waitingFor(actor)).reason),
        45_000,
        () => waitingFor(actor),
      );
      await expectShown(actor, hash);
      Object.assign(deps.settings, { stuckAfterMs: usualMs });
      await live.chain.mine();
      await live.eventOf('deposit.confirming', hash);
      await eventually('the end of the alarm', async () => (await needs(actor)) === false);
      await live.chain.mine(5);
      await live.eventOf('deposit.completed', hash);
      expect((await listStuck(deps)).map((item) => item.transaction_hash)).not.to.include(hash);
    } finally {
      Object.assign(deps.settings, { stuckAfterMs: usualMs });
    }
  });

  /** What somebody sees who opens the actor: details, steps, and what can be pressed. */
  async function expectShown(actor: WorkflowHandle, hash: string): Promise<void> {
    const host = new URL(live.receiver.url).host;
    const metadata = await actor.query<IWorkflowMetadata>('__temporal_workflow_metadata');
    const details = metadata.currentDetails ?? '';
    expect(details).to.match(/^\*\*detected\*\*\n\n0 of 3 confirmations/);
    expect(details).to.match(/\n\n→ check that the RPC endpoints answer/);
    expect(details).to.include(`[The transaction in an explorer](https://bscscan.com/tx/${hash})`);
    expect(details).to.match(/webhooks\\: 1 of 1 finished/);
    const { events } = await actor.fetchHistory();
    const summaries = (events ?? [])
      .filter((event) => event.activityTaskScheduledEventAttributes)
      .map((event) => Buffer.from(event.userMetadata?.summary?.data ?? []).toString('utf8'));
    expect(summaries).to.include(`"deposit.detected → ${host}"`);
  }

  it('need not wait for a deposit that sleeps on a chain that stood still: new blocks wake it', async () => {
    const { hash, actor } = await pay(5n * USDT_UNIT);
    await putToSleep(hash, actor);
    await live.chain.mine();
    // By itself it would sleep for minutes.
    await live.eventOf('deposit.confirming', hash);
    expect((await rowOf(hash))['wake_at']).to.equal(null);
    await live.chain.mine(5);
    await live.eventOf('deposit.completed', hash);
  });

  it('is told of an actor that cannot go on, as after an upgrade that its history does not fit; a repair replaces it', async () => {
    const { deps, gateway } = live.gateway;
    const { hash, actor } = await pay(3n * USDT_UNIT);
    await actor.terminate('the test puts another one in its place');
    const { workflowId } = actor;
    // Its code is not there: each of its tasks fails.
    await gateway.link?.client.workflow.start('gone', { workflowId, taskQueue: 'gateway', args: [] });
    await eventually('its failures', () => deps.actors?.isUnresponsive(workflowId), 60_000);
    await live.chain.mine(8);
    await eventually('the second read', async () => (await rowOf(hash))['verified_at'] != null);
    const later = { ...deps, now: () => new Date(Date.now() + LATER_MS) };
    const stuckLater = async () => (await listStuck(later)).find((row) => row.transaction_hash === hash);
    const stuck = await eventually('the alarm', stuckLater);
    expect(stuck.action).to.equal('run "repair" to start its actor again');
    await repairDeposits(later);
    await live.eventOf('deposit.completed', hash);
    expect(await stuckLater()).to.equal(undefined);
  });

  it('has each part of a repair done although another one fails', async () => {
    const { deps } = live.gateway;
    const { hash, actor } = await pay(4n * USDT_UNIT);
    await actor.terminate('the test takes it away');
    const rename = (from: string, to: string) =>
      deps.orm.em.fork().execute(`alter table payment_links rename column ${from} to ${to}`);
    await rename('expires_at', 'elsewhere');
    try {
      expect(String(await repairActors(deps).catch((error: Error) => error))).to.match(
        /^RepairFailed: payment links: /,
      );
    } finally {
      await rename('elsewhere', 'expires_at');
    }
    await live.chain.mine(8);
    await live.eventOf('deposit.completed', hash);
  });
});
