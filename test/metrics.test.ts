import { expect } from 'chai';
import { createMetrics } from '../src/metrics.ts';

describe('metrics', () => {
  it('are one registry for each call, so that two gateways in one process do not mix', async () => {
    const [one, two] = [createMetrics({ defaults: false }), createMetrics({ defaults: false })];
    one.webhookAttempts.inc({ class: '2xx' });
    one.foundLate.inc({ network: 'bsc' }, 2);
    expect(await one.registry.metrics()).to.contain('gateway_webhook_attempts_total{class="2xx"} 1');
    expect(await one.registry.metrics()).to.contain('gateway_found_late_total{network="bsc"} 2');
    expect(await two.registry.metrics()).not.to.contain('class="2xx"');
  });
});
