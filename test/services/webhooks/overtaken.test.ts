import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { resendDelivery } from '../../../dev/support/use-cases.ts';
import type { EventView } from '../../../src/contract/event.ts';
import { type Bench, idOf, startDeliveries } from './support.ts';

/** As long as an attempt may be under way in a process that stands still. */
const OPEN_MS = 12_000;
const INTERRUPTED = 'interrupted before its result was written; it may have arrived';
const END = `update webhook_deliveries set status = ?, next_attempt_at = null, finished_at = ? where id = ?`;

describe('an attempt that the end of its delivery overtakes', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const attemptsOf = (event: EventView) =>
    bench.sql<{ round: number; number: number; error: string | null; ended: boolean }>(
      `select round, number, error, finished_at is not null as ended from webhook_attempts
       where delivery_id = ? order by round, number`,
      [idOf(event)],
    );
  const made = async () => {
    const target = await bench.target(200);
    return { target, event: await bench.make(target) };
  };
  /** As a process leaves it that died between the POST and the record of its result. */
  const leaveOpen = (event: EventView, number: number) =>
    bench.sql('insert into webhook_attempts (delivery_id, round, number, started_at) values (?, 1, ?, ?)', [
      idOf(event),
      number,
      new Date(bench.now()),
    ]);
  const end = (event: EventView) => bench.sql(END, ['succeeded', new Date(bench.now()), idOf(event)]);

  /** Delivers while another process changes rows of the delivery, after it was seen to be due. */
  const whileItChanges = async (event: EventView, changes: readonly [string, unknown[]][]) => {
    const other = bench.deps.orm.em.fork();
    await other.begin();
    for (const [change, values] of changes) await other.execute(change, values);
    const result = bench.deliver(event);
    await eventually('the wait for the end of the other process', async () => {
      const waiting = await bench.sql(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length === 1;
    });
    await other.commit();
    return await result;
  };

  it('does not begin: nothing is written or sent, and the next look says what the end was', async () => {
    const { target, event } = await made();
    const result = await whileItChanges(event, [[END, ['succeeded', new Date(bench.now()), idOf(event)]]]);
    expect(result).to.include({
      kind: 'later',
      message: 'the delivery ended, or was resent, before attempt 1 could begin',
    });
    expect([await attemptsOf(event), await bench.heldSlots(target)]).to.deep.equal([[], 0]);
    expect(await bench.deliver(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(target.receiver.requests).to.deep.equal([]);
  });

  it('is ended as interrupted before the actor of a delivery ends that succeeded', async () => {
    const { target, event } = await made();
    await leaveOpen(event, 3);
    await end(event);
    bench.pass(OPEN_MS - 1);
    const message = 'attempt 3 may still be under way';
    expect(await bench.deliver(event)).to.deep.equal({ kind: 'later', delayMs: 1, message });
    bench.pass(1);
    expect(await bench.deliver(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(await attemptsOf(event)).to.deep.equal([{ round: 1, number: 3, error: INTERRUPTED, ended: true }]);
    expect(target.receiver.requests).to.deep.equal([]);
  });

  it('is ended when the delivery was resent meanwhile, and then the resend goes out', async () => {
    const { target, event } = await made();
    await leaveOpen(event, 3);
    await end(event);
    await resendDelivery(bench.deps, { ...target.scope, id: idOf(event) });
    expect(await bench.deliver(event)).to.include({ kind: 'later', delayMs: OPEN_MS });
    bench.pass(OPEN_MS);
    expect(await bench.deliver(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(await attemptsOf(event)).to.deep.equal([
      { round: 1, number: 3, error: INTERRUPTED, ended: true },
      { round: 2, number: 1, error: null, ended: true },
    ]);
    expect(target.receiver.requests).to.have.length(1);
  });
});
