import { expect } from 'chai';
import type { EventView } from '../../../src/contract/event.ts';
import { deliverWebhook } from '../../../src/services/webhooks/deliver.ts';
import { SLOTS_PER_ENDPOINT } from '../../../src/services/webhooks/lease.ts';
import { createDeliverySlots } from '../../../src/services/webhooks/slots.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

describe('the slots that all processes share', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const otherProcess = () => {
    const deps = { ...bench.deps, slots: createDeliverySlots() };
    return (event: EventView) => deliverWebhook(deps, { deliveryId: event.deliveries[0]?.id ?? '' });
  };
  const heldOf = async (target: Target): Promise<number> =>
    (
      await bench.sql('select 1 from webhook_slots where owner_id = ? and held_until > clock_timestamp()', [
        target.endpointId,
      ])
    ).length;
  const attemptsTo = async (event: EventView): Promise<number> =>
    (await bench.sql('select 1 from webhook_attempts where delivery_id = ?', [event.deliveries[0]?.id]))
      .length;
  /** As a process leaves them that died with ten open connections. */
  const holdAll = async (target: Target): Promise<void> => {
    await bench.sql(
      `insert into webhook_slots select ?::uuid, n, clock_timestamp() + interval '20 seconds'
       from generate_series(0, 9) n
       on conflict (owner_id, slot) do update set held_until = excluded.held_until`,
      [target.endpointId],
    );
  };

  it('are ten for an endpoint: another process is sent away without an attempt, and gets the next that is free', async () => {
    const target = await bench.target({ kind: 'hang' });
    const [one, other] = [otherProcess(), otherProcess()];
    const under = [];
    for (let count = 0; count < 6; count += 1) under.push(one(await bench.make(target)));
    await target.receiver.waitFor(6);
    for (let count = 0; count < 4; count += 1) under.push(other(await bench.make(target)));
    await target.receiver.waitFor(SLOTS_PER_ENDPOINT);
    const late = await bench.make(target);
    for (const process of [one, other]) {
      const result = await process(late);
      expect(result).to.include({ kind: 'later' });
      expect('delayMs' in result && result.delayMs).to.be.at.least(1_000);
    }
    expect(await attemptsTo(late)).to.equal(0);
    expect([target.receiver.openSockets(), await heldOf(target)]).to.deep.equal([
      SLOTS_PER_ENDPOINT,
      SLOTS_PER_ENDPOINT,
    ]);
    await target.receiver.stop();
    expect((await Promise.all(under)).map(({ kind }) => kind)).to.deep.equal(under.map(() => 'retry'));
    expect(await heldOf(target)).to.equal(0);
    expect(await otherProcess()(late)).to.include({ kind: 'retry' });
    expect(await attemptsTo(late)).to.equal(1);
  });

  it('are one for each of ten deliveries that begin in ten processes in the same instant', async () => {
    const target = await bench.target({ kind: 'answer', status: 200, delayMs: 500 });
    const events = [];
    for (let count = 0; count < 14; count += 1) events.push(await bench.make(target));
    const results = await Promise.all(events.map((event) => otherProcess()(event)));
    expect(target.receiver.requests.length).to.equal(results.filter(({ kind }) => kind === 'done').length);
    expect(results.filter(({ kind }) => kind === 'done').length).to.equal(SLOTS_PER_ENDPOINT);
    expect(results.filter(({ kind }) => kind === 'later')).to.have.length(4);
  });

  it('come back by themselves when the process that held them died', async () => {
    const target = await bench.target(200);
    await holdAll(target);
    const event = await bench.make(target);
    expect(await otherProcess()(event)).to.include({ kind: 'later' });
    await bench.sql(
      `update webhook_slots set held_until = clock_timestamp() - interval '1 second'
        where owner_id = ? and slot = 7`,
      [target.endpointId],
    );
    expect(await otherProcess()(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(await heldOf(target)).to.equal(9);
  });

  it('are never given back for another: an attempt that ends after its lease leaves the next holder alone', async () => {
    const target = await bench.target({ kind: 'answer', status: 200, delayMs: 300 });
    const sending = bench.attempt(target);
    await target.receiver.waitFor(1);
    expect(await heldOf(target)).to.equal(1);
    await bench.sql(
      `update webhook_slots set held_until = held_until + interval '1 second' where owner_id = ?`,
      [target.endpointId],
    );
    expect(await sending).to.include({ kind: 'done', status: 'succeeded' });
    expect(await heldOf(target)).to.equal(1);
  });

  it('of one endpoint are not those of another', async () => {
    const [full, free] = [await bench.target(200), await bench.target(200)];
    await holdAll(full);
    expect(await bench.attempt(full)).to.include({ kind: 'later' });
    expect(await bench.attempt(free)).to.include({ kind: 'done', status: 'succeeded' });
  });
});
