import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { resendDelivery } from '../../../dev/support/use-cases.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { ArchiveRefused, detachMonth, listMonths } from '../../../src/services/months/archive.ts';
import { makeMonthsAhead } from '../../../src/services/months/make.ts';
import { getEvent, listDeliveries } from '../../../src/services/webhooks/reads.ts';
import { removeOldDeliveries } from '../../../src/services/webhooks/retention.ts';
import { type Calendar, startCalendar } from './world.ts';

const BY = { by: 'Ann', reason: 'a year is over' };

describe('a month that is over', function () {
  this.timeout(60_000);
  let world: Calendar;
  beforeEach(async () => {
    world = await startCalendar('2026-11-30T23:59:59.500Z', { webhookRetentionMs: 10 * 86_400_000 });
  });
  afterEach(() => world?.stop());

  const detach = (month: string) =>
    detachMonth(world.deps, { month, ...BY }).then(
      (tables) => tables,
      (error: unknown) => {
        if (error instanceof ArchiveRefused) return error.message;
        throw error;
      },
    );

  it('is detached when nothing of it is unfinished, and everything else goes on', async () => {
    const before = await world.simulate('confirming');
    await world.simulate('completed');
    world.setClock('2026-12-01T00:00:00.500Z');
    const after = await world.simulate('completed');
    expect(await detach('2026-11')).to.contain('can still be resent until 2026-12-11');
    world.setClock('2026-12-12T00:00:00Z');
    expect(await detach('2026-11')).to.match(/deliveries of 2026-11 are on their way/);
    await world.finish('succeeded');
    expect(await detach('2026-11')).to.match(/1 deposits of 2026-11 are still open/);
    await world.sql(
      `update deposits set status = 'failed', failure_code = 'REORGED', sequence = sequence + 1,
        state_since = ? where id = ?`,
      [world.now(), before.id],
    );
    expect(await detach('2026-12')).to.contain('2026-11 is older');
    expect(await detach('2026-11')).to.deep.equal([
      'webhook_attempts_2026_11',
      'webhook_deliveries_2026_11',
      'events_2026_11',
      'deposit_transitions_2026_11',
    ]);
    expect(await detach('2026-11')).to.contain('was detached already, by Ann');
    expect(Object.keys(await world.rowsByPartition('events'))).to.deep.equal(['events_2026_12']);
    expect(Object.keys(await world.rowsByPartition('ledger_entries')).sort()).to.deep.equal([
      'ledger_entries_2026_11',
      'ledger_entries_2026_12',
    ]);
    await world.sql(
      'drop table webhook_attempts_2026_11, webhook_deliveries_2026_11, events_2026_11, deposit_transitions_2026_11',
    );
    expect((await listMonths(world.deps.orm.em.fork()))[0]).to.include({
      month: '2026-11',
      until: '2026-12',
      detachedBy: 'Ann',
    });
    expect(after.status).to.equal('completed');
    await world.simulate('completed');
    world.setClock('2027-01-05T00:00:00Z');
    await makeMonthsAhead(world.deps);
    await world.simulate('completed');
  });

  it('stays where a resend of one of its deliveries is being written at that moment', async () => {
    await world.simulate('completed');
    await world.finish('succeeded');
    world.setClock('2026-12-12T00:00:00Z');
    let detached: Promise<unknown> = Promise.resolve();
    let over = false;
    const waiting = async () =>
      (
        await world.sql(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        )
      ).length > 0;
    await world.deps.orm.em.fork().transactional(async (em) => {
      await em.execute(`update webhook_deliveries set status = 'pending', round = 2, finished_at = null`);
      await em.execute('select 1 from webhook_attempts');
      detached = detach('2026-11').finally(() => {
        over = true;
      });
      await eventually(
        'that it waits for the resend, or has given up',
        async () => over || (await waiting()),
      );
    });
    expect(await detached).to.match(/deliveries of 2026-11 are on their way/);
  });

  it('leaves the books in agreement, also for a deposit whose trail crosses its end', async () => {
    await world.simulate('completed');
    const crossing = await world.simulate('completed', `0x${'ab'.repeat(32)}`);
    world.setClock('2026-12-01T00:00:00.500Z');
    const payoutId = randomUUID();
    await world.deps.orm.em.fork().transactional(async (em) => {
      await em.execute(
        `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key,
           destination, gross_units, state, state_since, net_units, fee_units, transaction_hash, settled_at,
           created_at, updated_at)
         select ?, merchant_id, mode, true, network, currency, address, address_key, 'd', amount_units,
           'settled', now(), amount_units, 0, '0x1', now(), now(), now() from deposits where id = ?`,
        [payoutId, crossing.id],
      );
      await em.execute(
        `update deposits set status = 'settled', sequence = sequence + 1, state_since = ?, settled_at = ?,
           payout_id = ?, settled_units = amount_units, settlement_fee_units = 0 where id = ?`,
        [world.now(), world.now(), payoutId, crossing.id],
      );
    });
    await world.sql(
      `insert into deposit_transitions (deposit_id, sequence, from_state, to_state, generation, at)
       select id, sequence, 'completed', 'settled', 1, state_since from deposits where id = ?`,
      [crossing.id],
    );
    await world.sql(
      `with header as (insert into ledger_transactions (id, deposit_id, number, kind, sequence, created_at)
         select id_of_posting(created_at, id, posting_count + 1), id, posting_count + 1, 'deposit.settled',
           sequence, ? from deposits where id = ? returning id, deposit_id)
       insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account,
         amount_units)
       select h.id, n, d.merchant_id, d.mode, d.network, d.currency,
         case n when 1 then 'available' else 'settled' end,
         case n when 1 then -d.amount_units else d.amount_units end
       from header h join deposits d on d.id = h.deposit_id, generate_series(1, 2) n`,
      [world.now(), crossing.id],
    );
    expect((await auditLedger(world.deps)).differences).to.deep.equal([]);
    await world.finish('succeeded');
    world.setClock('2026-12-12T00:00:00Z');
    expect(await detach('2026-11')).to.be.an('array');
    expect((await auditLedger(world.deps)).differences).to.deep.equal([]);
  });
});

describe('deliveries beyond WEBHOOK_RETENTION', function () {
  this.timeout(60_000);
  let world: Calendar;
  before(async () => {
    world = await startCalendar('2026-11-30T10:00:00Z', { webhookRetentionMs: 10 * 86_400_000 });
  });
  after(() => world?.stop());

  it('are removed with their attempts when they have ended; events and what is on its way stay', async () => {
    await world.simulate('completed');
    await world.finish('failed');
    const [old] = await world.sql<{ id: string; event_id: string }>(
      'select id, event_id from webhook_deliveries limit 1',
    );
    await world.simulate('detected');
    world.setClock('2026-12-05T10:00:00Z');
    await world.simulate('detected');
    await world.finish('succeeded');
    await world.sql(`update webhook_deliveries set status = 'pending', finished_at = null where id in
      (select d.id from webhook_deliveries d join events e on e.id = d.event_id
        where e.occurred_at < '2026-12-01' and e.type = 'deposit.detected' limit 1)`);
    expect(await removeOldDeliveries(world.deps)).to.equal(0);
    world.setClock('2026-12-11T10:00:00Z');
    const events = await world.sql('select 1 from events');
    expect(await removeOldDeliveries(world.deps)).to.equal(4);
    expect(await removeOldDeliveries(world.deps)).to.equal(0);
    const left = await world.sql<{ status: string }>('select status from webhook_deliveries order by id');
    expect(left.map(({ status }) => status)).to.deep.equal(['pending', 'succeeded']);
    expect(await world.sql('select 1 from webhook_attempts')).to.have.length(2);
    expect(await world.sql('select 1 from events')).to.have.length(events.length);

    const refused = await resendDelivery(world.deps, { ...world.scope, id: old?.id ?? '' }).then(
      () => 'sent',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(refused).to.equal(
      'There is no such webhook delivery. Deliveries are removed after 10 days; their events are kept.',
    );
    expect(
      (await getEvent(world.deps, { ...world.scope, id: old?.event_id ?? '' })).deliveries,
    ).to.deep.equal([]);
    const page = await listDeliveries(world.deps, {
      ...world.scope,
      id: world.endpointId,
      page: { limit: 100 },
    });
    expect(page.rows).to.have.length(2);
  });
});
