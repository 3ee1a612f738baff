import { expect } from 'chai';
import { startTestApi } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';

describe('metrics', () => {
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
