import { expect } from 'chai';
import { apiOf, call, startTestApi } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';

const DOCUMENTS = ['/docs', '/openapi.json'];

/** What anybody may read of us without a key. */
describe('what is served to anybody', function () {
  this.timeout(30_000);
  const api = apiOf({ limits: { requestsPerSecond: 0.001, requestsBurst: 10 } });

  it('may be kept for five minutes, and is not sent again to whoever has it', async () => {
    const fresh = await startTestApi();
    for (const path of DOCUMENTS) {
      const { status, headers } = await call(`${fresh.origin}${path}`);
      const etag = headers.get('etag') ?? '';
      expect([status, headers.get('cache-control')], path).to.deep.equal([200, 'max-age=300']);
      expect(etag).to.match(/^"[\w-]{43}"$/);
      const ask = async (known: string) => {
        // As bytes: the fetch of this runtime adds that it wants nothing that was kept.
        const head = `GET ${path} HTTP/1.1\r\nHost: here\r\nIf-None-Match: ${known}\r\nConnection: close\r\n\r\n`;
        return (await exchange(fresh.origin, head))[0];
      };
      const again = await ask(etag);
      expect([again?.status, again?.text, again?.headers['etag']]).to.deep.equal([304, '', etag]);
      expect((await ask('"another"'))?.status).to.equal(200);
      const head = await call(`${fresh.origin}${path}`, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag')]).to.deep.equal([200, etag]);
    }
    const login = await call(`${fresh.origin}/login`);
    expect([login.headers.get('cache-control'), login.headers.get('etag')]).to.deep.equal(['no-store', null]);
    await fresh.stop();
  });

  it('says that we come by https alone where that is our address, whatever the answer', async () => {
    const told = async (publicUrl: string | undefined) => {
      const named = await startTestApi(publicUrl === undefined ? {} : { publicUrl });
      const paths = ['/docs', '/login', '/nowhere', '/api/v1/balance', '/pay/none'];
      const answers = await Promise.all(paths.map((path) => fetch(`${named.origin}${path}`)));
      await named.stop();
      return [...new Set(answers.map((answer) => answer.headers.get('strict-transport-security')))];
    };
    expect(await told('https://pay.shop.test')).to.deep.equal(['max-age=31536000']);
    expect(await told('http://pay.shop.test')).to.deep.equal([null]);
    expect(await told(undefined)).to.deep.equal([null]);
  });

  it('counts against the limit of the address, also where it was kept', async () => {
    const statuses: number[] = [];
    for (let times = 0; times < 5; times += 1)
      for (const path of [...DOCUMENTS, '/login']) {
        const answer = await call(`${api.origin}${path}`);
        statuses.push(answer.status);
        expect(answer.headers.get('ratelimit-limit'), path).to.equal('10');
        if (answer.status === 429) expect(answer.headers.get('cache-control'), path).to.equal('no-store');
      }
    expect(statuses).to.deep.equal([...Array(10).fill(200), ...Array(5).fill(429)]);
  });
});
