import { expect } from 'chai';
import { resendFailed } from '../../../dev/support/use-cases.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { beginAtZero, observeDeliveries } from '../../../src/app/observe.ts';
import type { EventView } from '../../../src/contract/event.ts';
import { deliverWebhook } from '../../../src/services/webhooks/deliver.ts';
import { valueIn } from '../../support/repository/prometheus.ts';
import { type Bench, idOf, startDeliveries } from './support.ts';

const EVERY_MS = 100;

describe('deliveries', function () {
  this.timeout(20_000);
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  it('are measured from their making to the first attempt and to the success', async () => {
    const metrics = createMetrics({ defaults: false });
    beginAtZero(metrics, []);
    const deps = { ...bench.deps, deliveryReport: observeDeliveries(metrics) };
    const step = async (part: string, name: string) =>
      valueIn(
        await metrics.registry.metrics(),
        `gateway_webhook_lateness_seconds_${part}{mode="test",step="${name}"}`,
      );
    const counts = async () => ({
      first: [await step('count', 'first_attempt'), await step('sum', 'first_attempt')],
      success: [await step('count', 'success'), await step('sum', 'success')],
    });
    const deliveryId = idOf(await bench.make(await bench.target([503, 200])));
    bench.pass(7_000);
    expect((await deliverWebhook(deps, { deliveryId })).kind).to.equal('retry');
    expect(await counts()).to.deep.equal({ first: [1, 7], success: [0, 0] });
    bench.pass(3_000);
    for (const when of ['at its end', 'asked again after it']) {
      expect((await deliverWebhook(deps, { deliveryId })).kind, when).to.equal('done');
      expect(await counts(), when).to.deep.equal({ first: [1, 7], success: [1, 10] });
    }
  });

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
