import { expect } from 'chai';
import { z } from 'zod';
import { createApp } from '../../../src/api/app.ts';
import { createGuards } from '../../../src/api/requests/rate-limits.ts';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { createServer } from '../../../src/api/server.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/limits.ts';
import { generateKey } from '../../../src/services/merchants/key-text.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { type Answer, call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { exchange } from '../../support/http/raw-http.ts';

const PROXY = '127.0.0.9';
/** So slow that nothing comes back while a test runs. */
const SLOW = { requestsPerSecond: 0.001, requestsBurst: 30 };

const open = route({
  method: 'get',
  path: '/open',
  operationId: 'open',
  auth: 'none',
  scope: 'none',
  tag: 'Test',
  statuses: [200],
  summary: 'For everybody',
  response: z.strictObject({}),
  read: async () => ok({}),
});

describe('rate limits', function () {
  this.timeout(30_000);
  let api: TestApi;
  let merchant: TestMerchant;
  before(async () => {
    api = await startTestApi({ limits: SLOW, routes: [...ROUTES, open], trustedProxies: [PROXY] });
  });
  after(() => api.stop());
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
    const answers = [
      await ask(merchant.keys.live, '/customers/exists'),
      await ask(merchant.keys.live, '/customers/none'),
      await call(`${api.url}/customers`, {
        key: merchant.keys.live,
        method: 'POST',
        body: 'x'.repeat(2_000_000),
      }),
      await call(`${api.url}/customers`, { key: merchant.keys.live, body: {} }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([400, 404, 413, 400]);
    expect(answers.map((answer) => told(answer)[1])).to.deep.equal(['28', '27', '26', '25']);
    expect(told(await ask('sk_live_typo'))[0], 'a caller who is not known').to.equal('20');
    expect(told(await call(`${api.url}/customers`)), 'a caller who shows nothing').to.deep.equal([
      null,
      null,
      null,
    ]);
  });

  it('let the burst pass and answer 429 with the wait to everything above it, for each key on its own', async () => {
    const answers = await Promise.all(Array.from({ length: 45 }, () => ask(merchant.keys.live)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(30);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(15);
    for (const answer of refused) {
      expect(answer.body).to.deep.equal({ error: answer.body['error'], code: 'RATE_LIMITED' });
      expect(answer.headers.get('retry-after')).to.match(/^(1000|99\d)$/);
      expect(told(answer).slice(0, 2)).to.deep.equal(['30', '0']);
    }
    expect((await ask(merchant.keys.test)).status).to.equal(200);
    const other = await createKey(api.deps, { merchantId: merchant.id, mode: 'live' });
    expect((await ask(other.key)).status).to.equal(200);
  });

  it('do not count what is refused with 403, and come after it', async () => {
    await Promise.all(Array.from({ length: 30 }, () => ask(merchant.keys.live)));
    expect((await ask(merchant.keys.live)).status).to.equal(429);
    await setSubscription(api.deps, { merchantId: merchant.id, active: false });
    for (const key of Object.values(merchant.keys)) {
      const answer = await ask(key);
      expect(answer.status).to.equal(403);
      expect(told(answer).slice(0, 2)).to.deep.equal(['30', key === merchant.keys.live ? '0' : '30']);
    }
  });

  it('come before the request itself is looked at', async () => {
    await Promise.all(Array.from({ length: 30 }, () => ask(merchant.keys.live)));
    for (const input of [
      { body: 'x'.repeat(2_000_000) },
      { body: '{', headers: { 'Content-Type': 'text/plain' } },
      { body: {} },
    ]) {
      expect(
        (await call(`${api.url}/customers`, { key: merchant.keys.live, method: 'POST', ...input })).status,
      ).to.equal(429);
    }
    expect((await ask(merchant.keys.live, '/customers/none')).status).to.equal(429);
    expect((await ask(merchant.keys.live, '/none')).status, 'an unknown route').to.equal(404);
    expect(
      (await call(`${api.url}/customers`, { method: 'PATCH', key: merchant.keys.live })).status,
    ).to.equal(405);
  });

  it('hold for two servers over one database together', async () => {
    const guards = createGuards(api.deps, { limits: { ...DEFAULT_LIMITS, ...SLOW } });
    const second = createServer(createApp({ deps: api.deps, guards, checkResponses: true }));
    const { port } = await second.listen({ port: 0, host: '127.0.0.1' });
    const urls = [api.url, `http://127.0.0.1:${port}/api/v1`];
    const get = (index: number) =>
      call(`${urls[index % 2]}/customers/exists?email=a`, { key: merchant.keys.live });
    const answers = await Promise.all(Array.from({ length: 80 }, (_, index) => get(index)));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(passed).to.be.within(30, 30 + 2 * 3);
    for (const index of [0, 1, 0, 1]) expect((await get(index)).status).to.equal(429);
    await second.close();
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
    const next = await from('203.0.113.7');
    expect([
      next?.status,
      next?.headers['ratelimit-limit'],
      next?.headers['ratelimit-remaining'],
    ]).to.deep.equal([200, '30', '29']);
    const spread = await many(400, (index) => `2001:db8:9:${index.toString(16)}::1`);
    expect(
      spread.filter((status) => status === 200),
      'a /48 has ten times as much',
    ).to.have.length(300);
    expect((await from('2001:db8:9:ffff::1'))?.headers['ratelimit-limit']).to.equal('300');
    expect((await from('2001:db8:a::1'))?.status).to.equal(200);
  });
});

describe('bad credentials', function () {
  this.timeout(30_000);
  let api: TestApi;
  let queries: string[];
  let client = 0;
  before(async () => {
    api = await startTestApi({ limits: {}, trustedProxies: [PROXY] });
    const pool = await api.deps.orm.em.getConnection().getNativeClient();
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    queries = [];
    // Listens to what is asked, and changes nothing.
    Object.assign(pool, {
      query: (...args: [{ name?: string; text?: string } | string, ...unknown[]]) => {
        queries.push(typeof args[0] === 'string' ? args[0] : (args[0].name ?? args[0].text ?? ''));
        return query(...args);
      },
    });
  });
  after(() => api.stop());
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
      expect(Number(answer.headers['retry-after'])).to.be.within(40, 60);
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

  it('are counted by network in IPv6', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, index) => ask(key('x'), `2001:db8:7:7:${index}::1`)),
    );
    expect(answers.filter(({ status }) => status === 401)).to.have.length(20);
    expect((await ask(key('x'), '2001:db8:7:8::1')).status).to.equal(401);
    const spread = await Promise.all(
      Array.from({ length: 260 }, (_, index) => ask(key('x'), `2001:db8:6:${index.toString(16)}::1`)),
    );
    expect(
      spread.filter(({ status }) => status === 401),
      'a /48 has ten times as many',
    ).to.have.length(200);
    expect((await ask(key(api.keys.live), '2001:db8:6:1::1')).status, 'a good key from there').to.equal(200);
    expect((await ask(key('x'), '2001:db8:5::1')).status).to.equal(401);
  });

  it('are not what a request without any is', async () => {
    for (let index = 0; index < 30; index += 1) expect((await ask([])).status).to.equal(401);
    expect((await ask(key('x'))).headers['ratelimit-remaining']).to.equal('19');
  });

  it('that failed before are refused without a question to the database once the address is over', async () => {
    const unknown = generateKey('live');
    for (let index = 0; index < 20; index += 1) await ask(key('x'));
    const asked = () => queries.filter((name) => name === 'find-key-owner').length;
    const before = asked();
    for (let index = 0; index < 5; index += 1) expect((await ask(key(unknown))).status).to.equal(429);
    expect(asked() - before).to.equal(1);
    expect((await ask(key(api.keys.live))).status).to.equal(200);
  });

  it('do not include a good key that once stood beside a key in the query string', async () => {
    for (let index = 0; index < 20; index += 1) await ask(key('x'));
    const head = `GET /api/v1/customers?k=${api.keys.live} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.${client}\r\nx-api-key: ${api.keys.live}`;
    const [answer] = await exchange(api.origin, `${head}\r\nConnection: close\r\n\r\n`, { from: PROXY });
    expect(answer?.status).to.equal(429);
    expect((await ask(key(api.keys.live))).status).to.equal(200);
  });

  it('are throttled for all servers over one database', async () => {
    for (let index = 0; index < 21; index += 1) await ask(key('x'));
    const rows = async () =>
      await api.deps.orm.em
        .fork()
        .execute<{ tokens: number }[]>('select tokens from rate_limits where id = ?', [
          `failures:203.0.113.${client}`,
        ]);
    for (let tries = 0; tries < 50 && (await rows())[0]?.tokens !== 0; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await rows())[0]?.tokens).to.equal(0);
  });
});
