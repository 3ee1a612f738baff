import { expect } from 'chai';
import { startReceiver } from '../../dev/support/receiver.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { beginAtZero, observeTransport } from '../../src/app/observe.ts';
import { QUOTAS } from '../../src/services/merchants/quotas.ts';
import { createLookup } from '../../src/services/webhooks/http/lookup.ts';
import { createWebhookTransport } from '../../src/services/webhooks/http/transport.ts';
import { startTestApi } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';
import { valueIn } from '../support/repository/prometheus.ts';

describe('metrics', () => {
  it('are one registry for each call, so that two gateways in one process do not mix', async () => {
    const [one, two] = [createMetrics({ defaults: false }), createMetrics({ defaults: false })];
    one.webhookAttempts.inc({ class: '2xx' });
    one.foundLate.inc({ network: 'bsc' }, 2);
    expect(await one.registry.metrics()).to.contain('gateway_webhook_attempts_total{class="2xx"} 1');
    expect(await one.registry.metrics()).to.contain('gateway_found_late_total{network="bsc"} 2');
    expect(await two.registry.metrics()).not.to.contain('class="2xx"');
  });

  it('begin at zero where an alarm waits for the first event', async () => {
    const metrics = createMetrics({ defaults: false });
    beginAtZero(metrics, ['bsc']);
    const text = await metrics.registry.metrics();
    expect(valueIn(text, 'gateway_found_late_total{network="bsc"}')).to.equal(0);
    for (const quota of QUOTAS)
      expect(valueIn(text, `gateway_quota_refusals_total{quota="${quota}",mode="live"}`), quota).to.equal(0);
    expect(valueIn(text, 'gateway_webhook_attempts_total{class="5xx"}')).to.equal(0);
    expect(valueIn(text, 'gateway_webhook_lateness_seconds_count{mode="live",step="success"}')).to.equal(0);
  });

  it('are not multiplied by the methods and paths that a caller thinks of', async () => {
    const api = await startTestApi();
    try {
      for (const method of ['PROPFIND', 'MKCOL', 'LOCK', 'PURGE', 'REPORT', 'TRACE', 'SEARCH', 'BREW'])
        await exchange(
          api.origin,
          `${method} /nowhere/${method} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
      const { values } = await api.metrics.httpSeconds.get();
      const told = new Set(values.map(({ labels }) => `${labels.method} ${labels.route}`));
      expect([...told].filter((one) => !['other (none)', '(none) (none)'].includes(one))).to.deep.equal([]);
    } finally {
      await api.stop();
    }
  });

  it('are not multiplied by the statuses that a receiver thinks of', async () => {
    const metrics = createMetrics({ defaults: false });
    const policy = { allowHttp: true, allowedCidrs: ['127.0.0.0/8'] };
    const real = createWebhookTransport({
      lookup: createLookup({ useSystem: true }),
      policy,
      now: () => Date.now(),
    });
    const transport = observeTransport(real, metrics);
    for (const [status, told] of [
      [799, 'other'],
      [600, 'other'],
      [204, '2xx'],
      [302, '3xx'],
      [429, '429'],
      [404, '4xx'],
      [503, '5xx'],
    ] as const) {
      const bytes = `HTTP/1.1 ${status} Any\r\nContent-Length: 0\r\n\r\n`;
      const receiver = await startReceiver({ behaviour: { kind: 'raw', bytes } });
      await transport.post({ url: receiver.url, headers: {}, body: Buffer.from('{}') });
      await receiver.stop();
      const text = await metrics.registry.metrics();
      expect(valueIn(text, `gateway_webhook_attempts_total{class="${told}"}`), String(status)).to.be.above(0);
    }
    const { values } = await metrics.webhookAttempts.get();
    expect(values.map(({ labels }) => labels.class)).to.have.members([
      'other',
      '2xx',
      '3xx',
      '429',
      '4xx',
      '5xx',
    ]);
  });
});
