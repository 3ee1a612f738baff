import { expect } from 'chai';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';
import { newUser, postLogin, signIn } from '../../../support/sign-in.ts';

const ACCOUNTS = 320;
/** Tries that a /48 of IPv6 or a /24 of IPv4 has in five minutes. */
const OF_NETWORK = 100;

describe('a flood of logins out of one network', function () {
  this.timeout(120_000);
  let api: TestApi;
  const clockMs = Date.now();
  before(async () => {
    api = await startTestApi({ trustedProxies: ['127.0.0.1'], deps: { now: () => new Date(clockMs) } });
  });
  after(() => api.stop());

  /** One guess for each of many accounts, each from another address. */
  const flood = (from: (index: number) => string, name: string) =>
    Promise.all(
      Array.from({ length: ACCOUNTS }, async (_, index) => {
        const stranger = { email: `${name}${index}@example.com`, password: 'not the password' };
        return (await postLogin(api, stranger, { from: from(index) })).status;
      }),
    );
  const count = (statuses: readonly number[], status: number) =>
    statuses.filter((one) => one === status).length;

  it('is mostly not carried out, and the owner gets in meanwhile from where the account knows him', async () => {
    const owner = await newUser(api);
    await signIn(api, owner, { from: '198.51.100.7' });
    const attack = flood((index) => `2001:db8:77:${index.toString(16)}::1`, 'a');
    const logins: number[] = [];
    for (let index = 0; index < 6; index += 1)
      logins.push((await postLogin(api, owner, { from: '198.51.100.7' })).status);
    const statuses = await attack;
    expect(logins).to.deep.equal(Array(6).fill(200));
    expect(count(statuses, 401)).to.be.within(1, OF_NETWORK);
    expect(count(statuses, 401) + count(statuses, 429)).to.equal(ACCOUNTS);
  });
});
