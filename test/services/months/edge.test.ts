import { expect } from 'chai';
import fc from 'fast-check';
import { resendDelivery } from '../../../dev/support/use-cases.ts';
import { startOf } from '../../../src/domain/months.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { foldBalances } from '../../../src/services/ledger/totals.ts';
import { makeMonthsAhead } from '../../../src/services/months/make.ts';
import { loadDelivery } from '../../../src/services/webhooks/load.ts';
import { getEvent, listDeliveries } from '../../../src/services/webhooks/reads.ts';
import { type Calendar, startCalendar } from './world.ts';

describe('money and its events over the edge of a month', function () {
  this.timeout(120_000);
  let world: Calendar;
  before(async () => {
    world = await startCalendar('2026-11-22T10:00:00Z');
  });
  after(() => world?.stop());

  const play = {
    completed: () => world.simulate('completed'),
    confirming: () => world.simulate('confirming'),
    reorged: () => world.simulate('reorged'),
    settled: () => world.simulate('settled'),
    customer: () => world.newCustomer(),
    failed: () => world.finish('failed'),
    fold: () => foldBalances(world.deps),
    partitions: () => makeMonthsAhead(world.deps),
  };
  const names = Object.keys(play) as (keyof typeof play)[];
  const step = fc.constantFrom(...names, ...names.slice(0, 4), ...names.slice(0, 4));
  /** Milliseconds before each step; the clock begins ten before the edge. */
  const story = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), step), { minLength: 4, maxLength: 12 });

  async function walk(): Promise<string[]> {
    const seen: string[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = { limit: 7, ...(seen.length > 0 ? { startingAfter: seen.at(-1) } : {}) };
      const listed = await listDeliveries(world.deps, { ...world.scope, id: world.endpointId, page });
      seen.push(...listed.rows.map(({ id }) => id));
      hasMore = listed.hasMore;
    }
    return seen;
  }

  it('stay exact: lists, events, books and resends, whatever happens when', async () => {
    let edge = startOf('2026-12');
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        world.setClock(edge.getTime() - 10);
        for (const [ms, what] of steps) {
          world.setClock(world.now().getTime() + ms);
          await play[what]();
        }
        expect((await auditLedger(world.deps)).differences).to.deep.equal([]);
        const deliveries = await world.sql<{ id: string; event_id: string }>(
          'select id, event_id from webhook_deliveries order by created_at desc, id desc',
        );
        expect(await walk()).to.deep.equal(deliveries.map(({ id }) => id));
        const events = await world.sql<{ id: string }>('select id from events');
        expect(deliveries.map(({ event_id }) => event_id).sort()).to.deep.equal(
          events.map(({ id }) => id).sort(),
        );
        const untoldOrMisplaced = await world.sql(
          `select 1 from deposit_transitions t where not exists (
             select 1 from events e where e.subject_id = t.deposit_id and e.sequence = t.sequence)
           union all select 1 from events where tableoid::regclass::text <> 'events_' ||
             to_char(occurred_at at time zone 'UTC', 'YYYY_MM') and occurred_at >= '2026-12-01'`,
        );
        expect(untoldOrMisplaced).to.deep.equal([]);
        await world.finish('failed');
        for (const { id, event_id: eventId } of deliveries.slice(0, 5)) {
          expect((await resendDelivery(world.deps, { ...world.scope, id })).status).to.equal('pending');
          const event = await getEvent(world.deps, { ...world.scope, id: eventId });
          expect(event.deliveries.map((delivery) => delivery.id)).to.deep.equal([id]);
        }
        await world.finish('succeeded');
        await makeMonthsAhead(world.deps);
        edge = startOf(new Date(edge.getTime() + 40 * 86_400_000).toISOString().slice(0, 7));
      }),
      { numRuns: 6 },
    );
  });

  it('are found by id in the partitions of their own month alone', async () => {
    await makeMonthsAhead(world.deps);
    await world.simulate('completed');
    await world.finish('succeeded');
    const [row] = await world.sql<{ id: string; event_id: string; suffix: string }>(
      `select id, event_id, right(tableoid::regclass::text, 8) as suffix from webhook_deliveries
        order by id desc limit 1`,
    );
    const em = world.deps.orm.em.fork();
    const scans = async (): Promise<Map<string, number>> => {
      const rows = await em.execute<{ name: string; scans: number }[]>(
        `select relname as name, (seq_scan + coalesce(idx_scan, 0))::int as scans
          from pg_stat_xact_user_tables where relname ~ '_[0-9]{4}_[0-9]{2}$'`,
      );
      return new Map(rows.map(({ name, scans }) => [name, scans]));
    };
    await em.begin();
    try {
      const before = await scans();
      expect(await loadDelivery(em, row?.id ?? '')).to.include({ id: row?.id, eventId: row?.event_id });
      const read = [...(await scans())]
        .filter(([name, count]) => count > (before.get(name) ?? 0))
        .map(([name]) => name);
      expect(read.sort()).to.deep.equal(
        ['events', 'webhook_attempts', 'webhook_deliveries'].map((table) => table + row?.suffix),
      );
    } finally {
      await em.rollback();
    }
  });
});
