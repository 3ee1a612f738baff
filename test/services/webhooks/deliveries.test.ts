import { expect } from 'chai';
import { resendFailed } from '../../../dev/support/use-cases.ts';
import type { EventView } from '../../../src/contract/event.ts';
import { type Bench, idOf, startDeliveries } from './support.ts';

const EVERY_MS = 100;

describe('deliveries', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  it('that failed are all resent by one call, ten a second, with the same ids and bodies, whoever starts their actors', async () => {
    const target = await bench.target([404, 404, 404, 503, 200]);
    const events: EventView[] = [];
    for (let index = 0; index < 3; index += 1) {
      const event = await bench.make(target);
      events.push(event);
      await bench.deliver(event);
      bench.pass(1_000);
    }
    await bench.sql('delete from outbox');
    const input = { ...target.scope, id: target.endpointId, since: new Date(bench.now() - 60_000) };
    expect(await resendFailed(bench.deps, input)).to.deep.equal({ resent: 3, hasMore: false });
    const asked = await bench.sql<{ text: string }>('select message::text as text from outbox');
    for (const event of events) expect(JSON.stringify(asked)).to.include(idOf(event));
    const [first, second, last] = events as [EventView, EventView, EventView];
    expect(await bench.deliver(last)).to.include({ kind: 'later', delayMs: 2 * EVERY_MS });
    expect(target.receiver.requests).to.have.length(3);
    bench.pass(2 * EVERY_MS);
    expect(await bench.deliver(last), 'the usual pauses again').to.include({ kind: 'retry', delayMs: 1_000 });
    bench.pass(1_000);
    for (const event of [last, first, second])
      expect(await bench.deliver(event)).to.include({ kind: 'done', status: 'succeeded' });
    const seen = target.receiver.requests.map(({ headers, body }) => [
      events.findIndex(({ id }) => id === headers['x-webhook-id']),
      headers['x-webhook-attempt'],
      body.toString(),
    ]);
    const bodies = seen.map((request) => request[2]);
    expect(seen.slice(3)).to.deep.equal(
      [
        [2, '1'],
        [2, '2'],
        [0, '1'],
        [1, '1'],
      ].map(([index, attempt]) => [index, attempt, bodies[index as number]]),
    );
  });
});
