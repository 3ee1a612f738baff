import { expect } from 'chai';
import { startTestApi } from '../../../support/gateway.ts';
import { exchange } from '../../../support/http/raw-http.ts';

describe('a client whose headers never end', function () {
  this.timeout(60_000);

  it('is cut off by the deadline that the server has in production', async () => {
    const api = await startTestApi();
    const bytes = 'GET /api/v1/customers HTTP/1.1\r\nHost: x\r\n';
    const [answer] = await exchange(api.origin, bytes, { limitMs: 45_000 });
    expect([answer?.status, answer?.headers['connection']]).to.deep.equal([408, 'close']);
    await api.stop();
  });
});
