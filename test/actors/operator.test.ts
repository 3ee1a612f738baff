import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type Json, type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { waitLongForLocks } from '../../dev/support/locks.ts';
import { recordDecision } from '../../src/services/deposits/decisions.ts';
import { releaseDeposit } from '../../src/services/deposits/operator.ts';
import { listStuck } from '../../src/services/deposits/stuck.ts';
import { updateMerchant } from '../../src/services/merchants/merchants.ts';
import { repairActors } from '../../src/services/repair/repair.ts';
import { depositsOf, refusalOf, statusOf, type, updatesInHistory, waitingFor } from './support/deposits.ts';

/**
 * What operators do with deposits that do not go their usual
 * way, and what they read about them, on real servers.
 */
describe('an operator', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ env: { MIN_DEPOSIT: 'USDT.bsc=1' } });
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
    const startedMs = Date.now();
    expect(await fail({ hash, actor }, { by: 'Ann', reason: 'sanctioned sender' })).to.equal('failed');
    expect(Date.now() - startedMs).to.be.below(20_000);
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

  it('is refused without a reason, and nothing is left in the history', async () => {
    const { hash, actor } = await pay(4n * USDT_UNIT);
    expect(await refusalOf(type(actor, { by: 'Ann', reason: '  ' }))).to.match(/"reason" must say why/);
    expect(await refusalOf(type(actor, { by: '', reason: 'because' }))).to.match(/"by" must name/);
    expect(await updatesInHistory(actor)).to.equal(0);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
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

  it('cannot fail a deposit that is completed while its webhooks are still on their way', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, 4n * USDT_UNIT]);
    live.receiver.setBehaviour((_index, request) =>
      request.body.includes('"event":"deposit.completed"') ? 503 : 200,
    );
    await live.chain.mine(7);
    const row = () => rowOf(hash);
    await eventually('completed', async () => (await row())['status'] === 'completed', 20_000);
    const actor = await actorOf(hash);
    await eventually(
      'an actor that knows it',
      async () => (await actor.query<{ state: string }>('view')).state === 'completed',
    );
    expect(await refusalOf(fail({ hash, actor }, { by: 'Ann', reason: 'too late' }))).to.match(
      /the deposit is completed/,
    );
    expect(await updatesInHistory(actor)).to.equal(0);
    expect(await statusOf(actor)).to.equal('RUNNING');
    live.receiver.setBehaviour(200);
    await eventually('the end of the actor', async () => (await statusOf(actor)) === 'COMPLETED', 20_000);
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

  it('sees exactly one of two simultaneous deposits fail that cross the monthly limit', async () => {
    const { deps } = live.gateway;
    const [counted] = await deps.orm.em.fork().execute<[{ sum: string }?]>(
      `select coalesce(sum(amount_usd_cents), 0)::text as sum from deposits
          where merchant_id = ? and status = 'completed'`,
      [live.merchantId],
    );
    const room = BigInt(counted?.sum ?? '0') + 10_000n;
    await updateMerchant(deps, { merchantId: live.merchantId, monthlyLimitCents: room });
    try {
      const other = await live.newCustomer();
      const hashes = [
        await live.chain.usdt.call('transfer', [live.address, 60n * USDT_UNIT]),
        await live.chain.usdt.call('transfer', [other.address, 60n * USDT_UNIT]),
      ];
      await live.chain.mine(7);
      const ends = await eventually(
        'both ends',
        async () => {
          const rows = await Promise.all(hashes.map(rowOf));
          return rows.every((row) => row['status'] === 'completed' || row['status'] === 'failed') && rows;
        },
        30_000,
      );
      expect(ends.map((row) => row['status']).sort()).to.deep.equal(['completed', 'failed']);
      const failed = ends.find((row) => row['status'] === 'failed');
      expect(failed).to.include({ failure_code: 'MONTHLY_LIMIT' });
      await live.eventOf('deposit.failed', String(failed?.['transaction_hash']));
      // What is left of the month may be used up to the cent.
      const exact = await live.chain.usdt.call('transfer', [live.address, 40n * USDT_UNIT]);
      await live.chain.mine(7);
      await live.eventOf('deposit.completed', exact);
    } finally {
      await updateMerchant(deps, { merchantId: live.merchantId, monthlyLimitCents: null });
    }
  });

  it('sees a deposit below the minimum fail once it is final', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT - 1n]);
    await live.chain.mine(7);
    const event = await live.eventOf('deposit.failed', hash);
    expect(event).to.include({ failure_code: 'BELOW_MINIMUM', status: 'failed', sequence: 3 });
  });

  it('reads why a deposit waits on its pending step', async () => {
    const { hash, actor } = await pay(5n * USDT_UNIT);
    await live.chain.mine();
    await live.eventOf('deposit.confirming', hash);
    const { reason } = await eventually('the reason', async () => {
      const waiting = await waitingFor(actor);
      return waiting.reason !== '' && waiting;
    });
    expect(reason).to.equal('1 of 3 confirmations');
    expect(await actor.query<{ state: string }>('view')).to.include({
      state: 'confirming',
      needsOperator: false,
    });
    await live.chain.mine(5);
    await live.eventOf('deposit.completed', hash);
  });

  it('is called for a deposit that is stuck, and called off when the chain moves', async () => {
    const { deps } = live.gateway;
    const usualMs = deps.settings.stuckAfterMs;
    Object.assign(deps.settings, { stuckAfterMs: 1_500 });
    const needs = async (actor: WorkflowHandle) =>
      (await actor.describe()).searchAttributes['NeedsOperator']?.[0];
    try {
      const { hash, actor } = await pay(5n * USDT_UNIT);
      await eventually('the alarm', async () => (await needs(actor)) === true, 20_000);
      const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
      expect(stuck).to.include({ state: 'detected', network: 'bsc', needs: null });
      expect(stuck?.reason).to.match(/^0 of 3 confirmations/);
      expect(stuck?.action).to.match(/deposit fail/);
      expect(await actor.query<{ needsOperator: boolean }>('view')).to.include({ needsOperator: true });
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

  it('need not wait either when a wake meets a look that is under way, which the server then forgets', async function () {
    this.timeout(240_000);
    this.retries(3);
    const { deps } = live.gateway;
    const { hash, actor } = await pay(5n * USDT_UNIT);
    await putToSleep(hash, actor);
    await actor.terminate('begins anew, so that its first look is the one that is met');
    await waitLongForLocks(deps.orm);
    const em = deps.orm.em.fork();
    await em.begin();
    try {
      await em.execute('select id from deposits where transaction_hash = ? for update', [hash]);
      // Asked on the very connection that holds the row: one that is silent for long is taken for dead.
      const blocked = async (): Promise<number> => {
        await em.execute('select pg_stat_clear_snapshot()');
        const waiting = `wait_event_type = 'Lock' and query like '%update deposits set wake_at%' and datname = current_database()`;
        return (await em.execute<unknown[]>(`select pid from pg_stat_activity where ${waiting}`)).length;
      };
      await eventually(
        'the new actor',
        async () => (await blocked()) === 0 && (await repairActors(deps)).deposits > 0,
        60_000,
      );
      await eventually('the look that is about to sleep', async () => (await blocked()) === 1, 60_000);
      await live.chain.mine();
      await eventually('the wake', async () => (await blocked()) === 2, 60_000);
    } finally {
      await em.rollback();
    }
    await live.eventOf('deposit.confirming', hash);
  });
});
