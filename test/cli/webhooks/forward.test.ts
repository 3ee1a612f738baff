import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { gateway, type Running, running, sideBySide } from '../support.ts';
import { LocalShop } from './local-shop.ts';

type Line = {
  event?: string;
  answered?: number | null;
  outage?: string;
  state?: string;
};
describe('command line: webhook listen --forward-to', function () {
  this.timeout(60_000);
  let api: TestApi;
  let merchant: TestMerchant;
  let shop: LocalShop;
  let listener: Running | undefined;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());
  beforeEach(async () => {
    merchant = await api.newMerchant();
    shop = new LocalShop();
    await shop.open();
  });
  afterEach(async () => {
    await listener?.stop();
    listener = undefined;
    await shop.close();
  });

  const listen = async (...more: string[]) => {
    const words = ['webhook', 'listen', '--api', api.origin, '--forward-to', shop.url, '--json', ...more];
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
  const outages = () =>
    lines()
      .filter(({ outage }) => outage === 'shop')
      .map(({ state }) => state);
  const got = async (count: number) => {
    await eventually(`${count} webhooks`, () => shop.got.length >= count, 20_000);
    return shop.got;
  };
  const names = () => shop.got.map(({ body }) => JSON.parse(body.toString()).data.external_id as string);

  it('forwards the very bytes with a key alone, in order, and says what the shop answered', async () => {
    await customer('before');
    const { child, ready } = await listen();
    expect(ready).to.include({
      following: true,
      api: `${api.origin}/api/v1`,
      forward_to: shop.url,
      mode: 'test',
    });
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
    await eventually('the outage', () => outages().length === 1, 15_000);
    await shop.open();
    await got(3);
    expect(names()).to.deep.equal(['one', 'two', 'three']);
    await eventually('its end', () => outages().length === 2);
    expect(outages()).to.deep.equal(['began', 'ended']);
  });

  it('is killed and started again with a time: what happened meanwhile comes', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const begin = new Date().toISOString();
    shop.secret = secret;
    const start = async (...more: string[]) => {
      const words = [
        'webhook',
        'listen',
        '--api',
        `${api.origin}/api/v1`,
        '--forward-to',
        shop.url,
        '--json',
      ];
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

  it('refuses what cannot work, and says what to do', async () => {
    const to = ['--forward-to', shop.url];
    const key = { GATEWAY_KEY: merchant.keys.test };
    const refused: (readonly [string[], Record<string, string>, number, RegExp])[] = [
      [to, key, 2, /--api, or in GATEWAY_URL/],
      [[...to, '--api', api.origin], { GATEWAY_KEY: 'nonsense' }, 2, /sk_live_… or sk_test_…/],
      [[...to, '--api', api.origin], { GATEWAY_KEY: `sk_test_${'x'.repeat(43)}` }, 1, /401.*GATEWAY_KEY/],
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
