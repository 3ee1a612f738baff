import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type Bench, startDeliveries } from './support.ts';

/** Longer than an attempt can be under way. */
const LATER_MS = 60_000;

describe('an attempt whose end is written late', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  it('by a process that stood still, is not followed by another one in the same moment', async () => {
    const target = await bench.target(200);
    const event = await bench.make(target);
    const deliveryId = event.deliveries[0]?.id ?? '';
    await bench.sql(
      'insert into webhook_attempts (delivery_id, round, number, started_at) values (?, 1, 1, ?)',
      [deliveryId, new Date(bench.now())],
    );
    bench.pass(LATER_MS);
    const late = bench.deps.orm.em.fork();
    await late.begin();
    await late.execute(
      'update webhook_attempts set finished_at = ?, status_code = 200 where delivery_id = ?',
      [new Date(bench.now()), deliveryId],
    );
    await late.execute(
      `update webhook_deliveries set status = 'succeeded', next_attempt_at = null, finished_at = ?
        where id = ?`,
      [new Date(bench.now()), deliveryId],
    );
    const result = bench.deliver(event);
    await eventually('the wait for the late record', async () => {
      const [row] = await bench.sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock'`,
      );
      return row?.n === 1;
    });
    await late.commit();
    expect(await result).to.include({ kind: 'later', delayMs: 1 });
    expect(await bench.deliver(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(target.receiver.requests).to.deep.equal([]);
  });
});
