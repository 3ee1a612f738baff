import { expect } from 'chai';
import { resendDelivery } from '../../../dev/support/use-cases.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { ArchiveRefused, detachMonth, listMonths } from '../../../src/services/months/archive.ts';
import { makeMonthsAhead } from '../../../src/services/months/make.ts';
import { lockPayers } from '../../../src/services/payment-links/money.ts';
import { transact } from '../../../src/services/transact.ts';
import { removeOldDeliveries } from '../../../src/services/webhooks/retention.ts';
import { refusalOf } from '../../support/refusals.ts';
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
    detachMonth(world.deps, { month, ...BY }).catch((error: unknown) => {
      if (error instanceof ArchiveRefused) return error.message;
      throw error;
    });

  it('is detached when nothing of it is unfinished, and everything else goes on', async () => {
    const before = await world.simulate('confirming');
    await world.simulate('completed');
    world.setClock('2026-12-01T00:00:00.500Z');
    await world.simulate('completed');
    expect(await detach('2026-11')).to.contain('can still be resent until 2026-12-11');
    world.setClock('2026-12-12T00:00:00Z');
    expect(await detach('2026-11')).to.match(/deliveries of 2026-11 are on their way/);
    await world.finish('succeeded');
    expect(await detach('2026-11')).to.match(/1 deposits of 2026-11 are still open/);
    await transact(world.deps, async (tx) => {
      await lockPayers(tx.em, [before.customerId]);
      const deposit = await tx.em.findOneOrFail(Deposit, before.id);
      await applyTransition(tx, world.deps, deposit, { to: 'completed', headNumber: null });
    });
    await world.finish('succeeded');
    expect(await detach('2026-12')).to.contain('2026-11 is older');
    expect(await detach('2026-11')).to.deep.equal([
      'webhook_attempts_2026_11',
      'webhook_deliveries_2026_11',
      'events_2026_11',
      'deposit_transitions_2026_11',
    ]);
    expect(await detach('2026-11')).to.contain('was detached already, by Ann');
    expect((await auditLedger(world.deps)).differences, 'across its end').to.deep.equal([]);
    const kept = async (table: string) => Object.keys(await world.rowsByPartition(table)).sort();
    expect(await kept('events')).to.deep.equal(['events_2026_12']);
    expect(await kept('ledger_entries')).to.deep.equal(['ledger_entries_2026_11', 'ledger_entries_2026_12']);
    await world.sql(
      'drop table webhook_attempts_2026_11, webhook_deliveries_2026_11, events_2026_11, deposit_transitions_2026_11',
    );
    expect((await listMonths(world.deps.orm.em.fork()))[0]).to.include({
      month: '2026-11',
      until: '2026-12',
      detachedBy: 'Ann',
    });
    await world.simulate('completed');
    world.setClock('2027-01-05T00:00:00Z');
    await makeMonthsAhead(world.deps);
    await world.simulate('completed');
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
    const [old] = await world.sql<{ id: string }>('select id from webhook_deliveries limit 1');
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
    const gone = resendDelivery(world.deps, { ...world.scope, id: old?.id ?? '' });
    expect((await refusalOf(gone)).message).to.equal(
      'There is no such webhook delivery. Deliveries are removed after 10 days; their events are kept.',
    );
  });
});
