import { expect } from 'chai';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { generateKey } from '../../../src/services/merchants/key-text.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { type Answer, apiOf, call, type TestMerchant } from '../../support/gateway.ts';
import { exchange } from '../../support/http/raw-http.ts';
import { statementsOf } from '../../support/statements.ts';
import { openRoute } from './open-route.ts';

const PROXY = '127.0.0.9';
/** So slow that nothing comes back while a test runs. */
const SLOW = { requestsPerSecond: 0.001, requestsBurst: 30 };

describe('rate limits', function () {
  this.timeout(30_000);
  const api = apiOf({
    limits: SLOW,
    routes: [...ROUTES, openRoute('/open', async () => ({}))],
    trustedProxies: [PROXY],
  });
  let merchant: TestMerchant;
  beforeEach(async () => {
    merchant = await api.newMerchant();
  });

  const ask = (key: string, path = '/customers/exists?email=a') => call(api.url + path, { key });
  const told = ({ headers }: Answer) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));

  it('are told on every answer to a known caller, also on its errors', async () => {
    const first = await ask(merchant.keys.live);
    expect(first.status).to.equal(200);
    expect(told(first)).to.deep.equal(['30', '29', '1000']);
    const wrong = await ask(merchant.keys.live, '/customers/none');
    expect([wrong.status, told(wrong)[1]]).to.deep.equal([404, '28']);
  });

  it('let the burst pass and answer 429 with the wait to everything above it, for each key on its own', async () => {
    const answers = await Promise.all(Array.from({ length: 45 }, () => ask(merchant.keys.live)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(30);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(15);
    for (const answer of refused) {
      expect(answer.body).to.deep.equal({ error: answer.body['error'], code: 'RATE_LIMITED' });
      expect(Number(answer.headers.get('retry-after'))).to.be.within(900, 1_000);
      expect(told(answer).slice(0, 2)).to.deep.equal(['30', '0']);
    }
    expect((await ask(merchant.keys.test)).status).to.equal(200);
    const other = await createKey(api.deps, { merchantId: merchant.id, mode: 'live' });
    expect((await ask(other.key)).status).to.equal(200);
  });

  it('of public routes are by address, in IPv6 by network', async () => {
    const from = async (client: string) => {
      const head = `GET /api/v1/open HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\nConnection: close\r\n\r\n`;
      return (await exchange(api.origin, head, { from: PROXY }))[0];
    };
    const many = async (count: number, client: (index: number) => string) =>
      (await Promise.all(Array.from({ length: count }, (_, index) => from(client(index))))).map(
        (answer) => answer?.status,
      );
    expect(
      (await many(40, (index) => `2001:db8:1:2::${index.toString(16)}`)).filter((status) => status === 200),
    ).to.have.length(30);
    expect((await from('2001:db8:1:3::1'))?.status).to.equal(200);
  });
});

describe('bad credentials', function () {
  this.timeout(30_000);
  const api = apiOf({ limits: {}, trustedProxies: [PROXY] });
  let queries: string[];
  let client = 0;
  before(async () => {
    queries = await statementsOf(api.deps.orm);
  });
  beforeEach(() => {
    client += 1;
  });

  const ask = async (headers: readonly string[], address = `203.0.113.${client}`) => {
    const head = [
      'GET /api/v1/customers HTTP/1.1',
      'Host: x',
      `X-Forwarded-For: ${address}`,
      ...headers,
      'Connection: close',
    ];
    const [answer] = await exchange(api.origin, `${head.join('\r\n')}\r\n\r\n`, { from: PROXY });
    if (!answer) throw new Error('no answer');
    return answer;
  };
  const key = (text: string) => [`x-api-key: ${text}`];

  it('are answered with 401 twenty times a minute, then with 429', async () => {
    const ways = [
      () => key('sk_live_typo'),
      () => key(generateKey('live')),
      () => ['Authorization: Basic x'],
      () => ['Authorization: Bearer x', 'x-api-key: y'],
      () => [`Cookie: ch_session=${'x'.repeat(43)}`],
    ];
    for (let index = 0; index < 20; index += 1) {
      const answer = await ask(ways[index % ways.length]?.() ?? []);
      expect(
        [answer.status, answer.headers['ratelimit-limit'], answer.headers['ratelimit-remaining']],
        `${index}`,
      ).to.deep.equal([401, '20', `${19 - index}`]);
    }
    for (const way of ways) {
      const answer = await ask(way());
      expect([answer.status, answer.body['code']]).to.deep.equal([429, 'RATE_LIMITED']);
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    }
  });

  it('never hold up a good key from the same address, nor anybody elsewhere', async () => {
    await Promise.all(Array.from({ length: 60 }, () => ask(key('sk_live_typo'))));
    for (const mode of ['live', 'test'] as const)
      expect((await ask(key(api.keys[mode]))).status).to.equal(200);
    const fresh = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
    expect((await ask(key(fresh.key))).status).to.equal(200);
    expect((await ask(key('sk_live_typo'))).status).to.equal(429);
    expect((await ask(key('sk_live_typo'), '198.51.100.1')).status).to.equal(401);
  });

  it('that failed before are refused without a question to the database once the address is over', async () => {
    const unknown = generateKey('live');
    for (let index = 0; index < 20; index += 1) await ask(key('x'));
    const asked = () => queries.filter((text) => text.includes('api_keys')).length;
    const before = asked();
    for (let index = 0; index < 5; index += 1) expect((await ask(key(unknown))).status).to.equal(429);
    expect(asked() - before).to.equal(1);
    expect((await ask(key(api.keys.live))).status).to.equal(200);
  });
});
