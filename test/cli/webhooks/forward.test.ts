import { readFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { txDeps } from '../../../src/services/deps.ts';
import { createCustomer as create } from '../../../src/services/merchants/customers.ts';
import { transact } from '../../../src/services/transact.ts';
import { call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { gateway, type Running, running, sideBySide } from '../support.ts';
import { LocalShop } from './local-shop.ts';

type Line = {
  event?: string;
  answered?: number | null;
  error?: string | null;
  outage?: string;
  state?: string;
};
describe('command line: webhook listen --forward-to', function () {
  this.timeout(60_000);
  let api: TestApi;
  let front: Server;
  let merchant: TestMerchant;
  let shop: LocalShop;
  let listener: Running | undefined;
  /** What stands between listener and gateway answers by itself; undefined lets everything through. */
  let fault: { status: number; retryAfter?: string } | undefined;
  let asked: number[] = [];
  before(async () => {
    api = await startTestApi();
    front = createServer((incoming, answer) => {
      asked.push(Date.now());
      if (fault) {
        const head = fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter };
        answer.writeHead(fault.status, head).end('{"error":"Not now.","code":"RATE_LIMITED"}');
        return;
      }
      const { headers, url } = incoming;
      request(`${api.origin}${url}`, { headers }, (given) => {
        answer.writeHead(given.statusCode ?? 500, given.headers);
        given.pipe(answer);
      }).end();
    });
    await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
  });
  after(async () => {
    front.closeAllConnections();
    front.close();
    await api.stop();
  });
  beforeEach(async () => {
    merchant = await api.newMerchant();
    shop = new LocalShop();
    await shop.open();
    fault = undefined;
    asked = [];
  });
  afterEach(async () => {
    await listener?.stop();
    listener = undefined;
    await shop.close();
  });

  const at = () => `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const listen = async (...more: string[]) => {
    const words = ['webhook', 'listen', '--api', at(), '--forward-to', shop.url, '--json', ...more];
    listener = await running(words, { GATEWAY_KEY: merchant.keys.test });
    if (typeof listener.ready['secret'] === 'string') shop.secret = listener.ready['secret'];
    return listener;
  };
  const customer = async (name: string) =>
    (
      await call(`${api.url}/customers`, {
        key: merchant.keys.test,
        method: 'POST',
        body: { external_id: name },
      })
    ).body['id'] as string;
  const lines = (): Line[] =>
    (listener?.stderr() ?? '')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  const outages = (part: string) =>
    lines()
      .filter(({ outage }) => outage === part)
      .map(({ state }) => state);
  const got = async (count: number) => {
    await eventually(`${count} webhooks`, () => shop.got.length >= count, 20_000);
    return shop.got;
  };
  const names = () => shop.got.map(({ body }) => JSON.parse(body.toString()).data.external_id as string);

  it('forwards the very bytes with a key alone, in order, and says what the shop answered', async () => {
    await customer('before');
    const { child, ready } = await listen();
    expect(ready).to.include({ following: true, api: `${at()}/api/v1`, forward_to: shop.url, mode: 'test' });
    const id = await customer('ü\u202e');
    const simulation = { customer_id: id, outcome: 'settled', events: 'full' };
    await call(`${api.url}/test/simulate-deposit`, {
      key: merchant.keys.test,
      method: 'POST',
      body: simulation,
    });
    const events = (await got(5)).map(({ event }) => event);
    expect(events).to.deep.equal([
      'customer.created',
      'deposit.detected',
      'deposit.confirming',
      'deposit.completed',
      'deposit.settled',
    ]);
    for (const one of shop.got) {
      const [row] = await api.deps.orm.em
        .fork()
        .execute<{ body: Buffer }[]>('select body from events where id = ?', [one.id]);
      expect(row?.body.equals(one.body), one.event).to.equal(true);
    }
    await eventually('five lines', () => lines().length === 5);
    expect(lines().map(({ event, answered }) => [event, answered])).to.deep.equal(
      events.map((name) => [name, 200]),
    );
    const commandLine = await readFile(`/proc/${child.pid}/cmdline`, 'utf8');
    expect(commandLine).to.contain('listen').and.not.contain('sk_test_');
  });

  it('ends at once when the shop never answers, and says what it had sent', async () => {
    const hanging = createServer((asked) => asked.resume());
    await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done));
    try {
      const to = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
      const words = ['webhook', 'listen', '--api', at(), '--forward-to', to, '--json'];
      listener = await running(words, { GATEWAY_KEY: merchant.keys.test });
      const asking = new Promise((done) => hanging.once('request', done));
      await customer('one');
      await asking;
      expect(await listener.stop()).to.equal(0);
      expect(lines().map(({ event, answered, error }) => [event, answered, error])).to.deep.equal([
        ['customer.created', null, 'ended before the answer'],
      ]);
    } finally {
      hanging.closeAllConnections();
      hanging.close();
      listener = undefined;
    }
  });

  it('says what the shop refuses, and sends it no second time', async () => {
    await listen();
    shop.status = 500;
    await customer('one');
    await got(1);
    shop.status = 200;
    for (const [index, name] of ['two', 'three'].entries()) {
      await customer(name);
      await got(2 + index);
    }
    expect(names()).to.deep.equal(['one', 'two', 'three']);
    await eventually('three lines', () => lines().length === 3);
    expect(lines().map(({ answered }) => answered)).to.deep.equal([500, 200, 200]);
  });

  it('goes on through outages of the shop, with a line when it begins and one when it ends', async () => {
    await listen();
    await shop.close();
    for (const name of ['one', 'two', 'three']) await customer(name);
    await eventually('the outage', () => outages('shop').length === 1, 15_000);
    await shop.open();
    await got(3);
    expect(names()).to.deep.equal(['one', 'two', 'three']);
    await eventually('its end', () => outages('shop').length === 2);
    expect(outages('shop')).to.deep.equal(['began', 'ended']);
  });

  it('goes on through outages of the gateway, and asks no sooner than it says', async () => {
    await listen();
    fault = { status: 503 };
    await customer('one');
    await eventually('the outage', () => outages('gateway').length === 1, 15_000);
    fault = { status: 429, retryAfter: '3' };
    await customer('two');
    const refused = asked.length;
    await eventually('a refusal', () => asked.length > refused, 15_000);
    const last = asked.at(-1) ?? 0;
    fault = undefined;
    await got(2);
    expect((asked.find((time) => time > last) ?? 0) - last).to.be.at.least(2_990);
    expect(names()).to.deep.equal(['one', 'two']);
    expect(outages('gateway')).to.deep.equal(['began', 'ended']);
  });

  it('misses none that was written before others and committed after them', async () => {
    await listen();
    const [written, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = transact(api.deps, async (tx) => {
      const input = { merchantId: merchant.id, mode: 'test' as const, externalId: 'late', email: null };
      await create(tx, txDeps(api.deps), { ...input, name: null, metadata: {} });
      written.resolve();
      await told.promise;
    });
    await written.promise;
    await customer('early');
    await got(1).finally(told.resolve);
    await late;
    await got(2);
    expect(names()).to.deep.equal(['early', 'late']);
    await customer('third');
    await got(3);
    expect(new Set(shop.got.map(({ id }) => id)).size).to.equal(3);
  });

  it('is killed and started again with a time: what happened meanwhile comes', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const begin = new Date().toISOString();
    shop.secret = secret;
    const start = async (...more: string[]) => {
      const words = ['webhook', 'listen', '--api', `${at()}/api/v1`, '--forward-to', shop.url, '--json'];
      const env = { GATEWAY_KEY: merchant.keys.test };
      listener = await running([...words, ...more, '--secret-stdin'], env, `${secret}\n`);
      expect(listener.ready).to.not.have.property('secret');
    };
    await start();
    await customer('one');
    await got(1);
    listener?.child.kill('SIGKILL');
    await customer('two');
    await start('--since', begin);
    await got(3);
    expect(names()).to.deep.equal(['one', 'one', 'two']);
    expect(shop.got[0]?.id, 'the same event').to.equal(shop.got[1]?.id);
  });

  it('forwards only what was asked for, and what has to be named only then', async () => {
    await listen('--events', 'payment.cancelled, webhook.test');
    const key = merchant.keys.test;
    const body = { email: 'ann@example.com', amount_usd: 10 };
    for (const count of [1, 2]) {
      const link = await call(`${api.url}/request-payment`, { key, method: 'POST', body });
      await call(`${api.url}/payment-links/${link.body['id']}/cancel`, { key, method: 'POST' });
      await got(count);
    }
    expect(shop.got.map(({ event }) => event)).to.deep.equal(['payment.cancelled', 'payment.cancelled']);
    expect(await listener?.stop()).to.equal(0);
  });

  it('refuses what cannot work, and says what to do', async () => {
    const to = ['--forward-to', shop.url];
    const key = { GATEWAY_KEY: merchant.keys.test };
    const refused: (readonly [string[], Record<string, string>, number, RegExp])[] = [
      [to, key, 2, /--api, or in GATEWAY_URL/],
      [[...to, '--api', at()], { GATEWAY_KEY: 'nonsense' }, 2, /sk_live_… or sk_test_…/],
      [[...to, '--api', at()], { GATEWAY_KEY: `sk_test_${'x'.repeat(43)}` }, 1, /401.*GATEWAY_KEY/],
      [[...to, '--api', `${api.origin}/docs`], key, 1, /no list of events.*--api/],
    ];
    await sideBySide(refused, async ([words, env, code, says]) => {
      const { code: ended, stdout, stderr } = await gateway(['webhook', 'listen', ...words], env);
      expect([ended, stdout], stderr).to.deep.equal([code, '']);
      expect(stderr.replace(/\s+/g, ' ')).to.match(says);
      expect(stderr).to.not.contain('sk_test_x');
    });
  });
});
