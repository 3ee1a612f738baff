import { expect } from 'chai';
import { resendDelivery } from '../../../dev/support/use-cases.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { beginAtZero, observeDeliveries } from '../../../src/app/observe.ts';
import { deliverWebhook } from '../../../src/services/webhooks/deliver.ts';
import { valueIn } from '../../support/repository/prometheus.ts';
import { type Bench, startDeliveries } from './support.ts';

describe('how late webhooks are', () => {
  let bench: Bench;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const counting = () => {
    const metrics = createMetrics({ defaults: false });
    beginAtZero(metrics, []);
    const deps = { ...bench.deps, deliveryReport: observeDeliveries(metrics) };
    const of = async (series: string) => valueIn(await metrics.registry.metrics(), series);
    const late = async (step: string) => [
      await of(`gateway_webhook_lateness_seconds_count{mode="test",step="${step}"}`),
      await of(`gateway_webhook_lateness_seconds_sum{mode="test",step="${step}"}`),
    ];
    const ends = async () => [
      await of('gateway_webhook_deliveries_total{mode="test",result="succeeded"}'),
      await of('gateway_webhook_deliveries_total{mode="test",result="failed"}'),
    ];
    return { deliver: (deliveryId: string) => deliverWebhook(deps, { deliveryId }), late, ends };
  };

  it('is measured from their making to the first attempt, and to the success', async () => {
    const { deliver, late, ends } = counting();
    const id = (await bench.make(await bench.target([503, 200]))).deliveries[0]?.id ?? '';
    bench.pass(7_000);
    expect((await deliver(id)).kind).to.equal('retry');
    expect([await late('first_attempt'), await late('success'), await ends()]).to.deep.equal([
      [1, 7],
      [0, 0],
      [0, 0],
    ]);
    bench.pass(3_000);
    expect((await deliver(id)).kind).to.equal('done');
    expect([await late('first_attempt'), await late('success'), await ends()]).to.deep.equal([
      [1, 7],
      [1, 10],
      [1, 0],
    ]);
    await deliver(id);
    expect(await ends(), 'asked again after its end').to.deep.equal([1, 0]);
  });

  it('is not counted of those that failed, nor of a resend, which end all the same', async () => {
    const { deliver, late, ends } = counting();
    const target = await bench.target([404, 200]);
    const id = (await bench.make(target)).deliveries[0]?.id ?? '';
    await deliver(id);
    expect([await late('success'), await ends()]).to.deep.equal([
      [0, 0],
      [0, 1],
    ]);
    bench.pass(86_400_000);
    await resendDelivery(bench.deps, { ...target.scope, id });
    bench.pass(1_000);
    expect((await deliver(id)).kind).to.equal('done');
    expect([await late('first_attempt'), await late('success'), await ends()]).to.deep.equal([
      [1, 0],
      [0, 0],
      [1, 1],
    ]);
  });

  it('ends as failed where its endpoint was deleted before the first attempt', async () => {
    const { deliver, late, ends } = counting();
    const target = await bench.target(200);
    const id = (await bench.make(target)).deliveries[0]?.id ?? '';
    await bench.sql('update webhook_endpoints set deleted_at = now() where id = ?', [target.endpointId]);
    await deliver(id);
    expect([await late('first_attempt'), await ends()]).to.deep.equal([
      [0, 0],
      [0, 1],
    ]);
  });
});
