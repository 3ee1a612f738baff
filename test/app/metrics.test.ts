import { expect } from 'chai';
import { createMetrics } from '../../src/app/metrics.ts';
import { beginAtZero } from '../../src/app/observe.ts';
import { QUOTAS } from '../../src/services/merchants/quotas.ts';
import { startTestApi } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';
import { valueIn } from '../support/repository/prometheus.ts';

describe('metrics', () => {
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
});
