import { expect } from 'chai';
import { apiOf, call, startTestApi } from '../support/gateway.ts';

/** What anybody may read of us without a key. */
describe('what is served to anybody', function () {
  this.timeout(30_000);
  const api = apiOf({ limits: { requestsPerSecond: 0.001, requestsBurst: 10 } });

  it('says that we come by https alone where that is our address, whatever the answer', async () => {
    const told = async (publicUrl: string) => {
      const named = await startTestApi({ publicUrl });
      const paths = ['/docs', '/login', '/nowhere', '/api/v1/balance', '/pay/none'];
      const answers = await Promise.all(paths.map((path) => fetch(`${named.origin}${path}`)));
      await named.stop();
      return [...new Set(answers.map((answer) => answer.headers.get('strict-transport-security')))];
    };
    expect(await told('https://pay.shop.test')).to.deep.equal(['max-age=31536000']);
    expect(await told('http://pay.shop.test')).to.deep.equal([null]);
  });

  it('counts against the limit of the address', async () => {
    const statuses: number[] = [];
    for (let times = 0; times < 5; times += 1)
      for (const path of ['/docs', '/openapi.json', '/login'])
        statuses.push((await call(`${api.origin}${path}`)).status);
    expect(statuses).to.deep.equal([...Array(10).fill(200), ...Array(5).fill(429)]);
  });
});
