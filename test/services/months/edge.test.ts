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

const RUNS = 8;

describe('money and its events over the edge of a month', function () {
  this.timeout(120_000);
  let world: Calendar;
  before(async () => {
    world = await startCalendar('2026-11-22T10:00:00Z');
  });
  after(() => world?.stop());

  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        'completed' as const,
        'confirming' as const,
        'reorged' as const,
        'settled' as const,
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'customer' as const,
        'failed deliveries' as const,
        'fold' as const,
        'partitions' as const,
      ),
    },
  );
  /** Milliseconds before each step; the clock begins ten before the edge. */
  const story = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), step), { minLength: 4, maxLength: 12 });

  async function play(
    what:
      | 'completed'
      | 'confirming'
      | 'reorged'
      | 'settled'
      | 'customer'
      | 'failed deliveries'
      | 'fold'
      | 'partitions',
  ) {
    if (what === 'customer') await world.newCustomer();
    else if (what === 'failed deliveries') await world.finish('failed');
    else if (what === 'fold') await foldBalances(world.deps);
    else if (what === 'partitions') await makeMonthsAhead(world.deps);
    else await world.simulate(what);
  }

  async function walk(): Promise<string[]> {
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = { limit: 7, ...(after === undefined ? {} : { startingAfter: after }) };
      const { rows, hasMore } = await listDeliveries(world.deps, {
        ...world.scope,
        id: world.endpointId,
        page,
      });
      seen.push(...rows.map(({ id }) => id));
      if (!hasMore) return seen;
    }
  }

  it('stay exact: lists, events, books and resends, whatever happens when', async () => {
    let edge = startOf('2026-12');
    await fc.assert(
      fc.asyncProperty(story, async (steps) => {
        world.setClock(edge.getTime() - 10);
        for (const [ms, what] of steps) {
          world.setClock(world.now().getTime() + ms);
          await play(what);
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
        const untold = await world.sql(
          `select 1 from deposit_transitions t
            where not exists (select 1 from events e where e.subject_id = t.deposit_id
            and e.sequence = t.sequence)`,
        );
        expect(untold).to.deep.equal([]);
        const misplaced = await world.sql(
          `select 1 from events where tableoid::regclass::text <> 'events_' ||
            to_char(occurred_at at time zone 'UTC', 'YYYY_MM') and occurred_at >= '2026-12-01'`,
        );
        expect(misplaced).to.deep.equal([]);
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
      { numRuns: RUNS },
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
