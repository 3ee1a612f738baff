import { expect } from 'chai';
import type { EventView } from '../../../src/contract/event.ts';
import { deliverWebhook } from '../../../src/services/webhooks/deliver.ts';
import { SLOTS_PER_ENDPOINT } from '../../../src/services/webhooks/lease.ts';
import { createDeliverySlots } from '../../../src/services/webhooks/slots.ts';
import { type Bench, idOf, startDeliveries } from './support.ts';

describe('the slots that all processes share', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const otherProcess = () => {
    const deps = { ...bench.deps, slots: createDeliverySlots() };
    return (event: EventView) => deliverWebhook(deps, { deliveryId: idOf(event) });
  };
  const attemptsTo = async (event: EventView): Promise<number> =>
    (await bench.sql('select 1 from webhook_attempts where delivery_id = ?', [idOf(event)])).length;

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
    expect([await attemptsTo(late), await bench.heldSlots(target)]).to.deep.equal([0, SLOTS_PER_ENDPOINT]);
    await target.receiver.stop();
    expect((await Promise.all(under)).map(({ kind }) => kind)).to.deep.equal(under.map(() => 'retry'));
    expect(await bench.heldSlots(target)).to.equal(0);
    expect(await otherProcess()(late)).to.include({ kind: 'retry' });
    expect(await attemptsTo(late)).to.equal(1);
  });

  it('come back by themselves when the process that held them died, and are no other endpoint’s', async () => {
    const [target, free] = [await bench.target(200), await bench.target(200)];
    // As a process leaves them that died with ten open connections.
    await bench.sql(
      `insert into webhook_slots select ?::uuid, n, clock_timestamp() + interval '20 minutes'
       from generate_series(0, 9) n
       on conflict (owner_id, slot) do update set held_until = excluded.held_until`,
      [target.endpointId],
    );
    const event = await bench.make(target);
    expect(await otherProcess()(event)).to.include({ kind: 'later' });
    bench.pass(3_600_000);
    const old = await otherProcess()(event);
    expect('delayMs' in old && old.delayMs, 'seldom, after an hour').to.be.within(60_000, 120_000);
    expect(await bench.attempt(free)).to.include({ kind: 'done', status: 'succeeded' });
    await bench.sql(
      `update webhook_slots set held_until = clock_timestamp() - interval '1 second'
        where owner_id = ? and slot = 7`,
      [target.endpointId],
    );
    expect(await otherProcess()(event)).to.include({ kind: 'done', status: 'succeeded' });
    expect(await bench.heldSlots(target)).to.equal(9);
  });
});
