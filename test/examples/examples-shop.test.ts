import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveGateway, startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal, tempDir } from '../../dev/support/parts.ts';
import { closedPort } from '../../dev/support/receiver.ts';
import { serve } from '../../dev/support/served.ts';
import { createClient, type GatewayClient } from '../../packages/sdk/src/client.ts';
import { signTestEvent } from '../../packages/sdk/src/index.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { type AnswerProxy, startAnswerProxy } from '../support/http/answer-proxy.ts';

const SHOP = join(import.meta.dirname, '../../examples/shop/shop.ts');
const README = join(import.meta.dirname, '../../README.md');

type Row = { id: string; pay_url: string; webhook_secret: string; paid_at: string | null; shipped: number };

describe('the example shop', function () {
  this.timeout(60_000);
  let temporal: Awaited<ReturnType<typeof ownTemporal>>;
  let gateway: LiveGateway;
  let served: Awaited<ReturnType<typeof serve>>;
  let proxy: AnswerProxy;
  let client: GatewayClient;
  let shop: ChildProcess;
  let shopUrl: string;
  let database: DatabaseSync;
  let databaseFile = '';

  before(async () => {
    const [store, own] = await Promise.all([freshDatabase(), ownTemporal()]);
    temporal = own;
    gateway = await startLiveGateway({ databaseUrl: store.url, temporalAddress: own.now.address });
    const { deps } = gateway;
    served = await serve(deps);
    const { keys } = await createMerchant(deps, { name: 'My shop', subscriptionActive: true });
    proxy = await startAnswerProxy(`${served.origin}/api/v1`);
    client = createClient({ baseUrl: proxy.url, apiKey: keys.test });
    databaseFile = join(await tempDir('shop'), 'shop.sqlite');
    shopUrl = `http://127.0.0.1:${await closedPort()}`;
    const shopEnv = {
      GATEWAY_URL: proxy.url,
      GATEWAY_KEY: keys.test,
      SHOP_DATABASE: databaseFile,
      PORT: new URL(shopUrl).port,
    };
    shop = spawn(process.execPath, [SHOP], {
      env: { ...process.env, ...shopEnv },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await eventually('the shop’s first answer', () => fetch(shopUrl).catch(() => undefined));
    database = new DatabaseSync(databaseFile, { readOnly: true });
  });
  after(async () => {
    database?.close();
    if (shop && shop.exitCode === null) {
      const ended = new Promise((resolve) => shop.once('exit', resolve));
      shop.kill();
      await ended;
    }
    await proxy?.stop();
    await served?.stop();
    await gateway?.stop();
    await temporal?.stop();
  });

  const go = async (path: string, method = 'GET') => {
    const response = await fetch(new URL(path, shopUrl), { method, redirect: 'manual' });
    return {
      status: response.status,
      text: await response.text(),
      location: response.headers.get('location') ?? '',
    };
  };
  const buy = async (): Promise<Row> => {
    const ordered = await go('/orders', 'POST');
    expect(ordered.status).to.equal(303);
    const [, , id = ''] = ordered.location.split('/');
    const sent = await go(ordered.location);
    expect(sent.status).to.equal(302);
    const order = rowOf(id);
    expect(sent.location).to.equal(order.pay_url);
    return order;
  };
  const rowOf = (id: string) =>
    database.prepare('select * from orders where id = ?').get(id) as unknown as Row;
  const linkOf = async ({ id }: Row) => {
    const { data } = await client.paymentLinks.list({ search: id });
    expect(data).to.have.length(1);
    return data[0] ?? expect.fail('there is no link');
  };

  it('sells an order: link, page, payment, webhook, and an order that is paid and shipped once', async () => {
    expect((await go('/')).text).to.include('Buy for 25.50 USD');
    // The first answer is lost; the order has one link all the same, which linkOf looks for.
    proxy.play('lose');
    const order = await buy();
    expect((await linkOf(order)).url).to.equal(order.pay_url);
    expect(await (await fetch(order.pay_url)).text())
      .to.include('25.50 USD')
      .and.include('My shop');
    expect((await go(`/orders/${order.id}`)).text).to.include('Not paid yet');
    const link = await linkOf(order);
    await client.test.simulateDeposit({
      customer_id: link.customer_id,
      amount: '25.5',
      payment_token: link.token,
    });
    const page = await eventually('the paid order', async () => {
      const { text } = await go(`/orders/${order.id}`);
      return text.includes('Paid at') && text;
    });
    expect(page).to.include((await client.paymentLinks.get(link.id)).completed_at ?? 'never');
    expect(rowOf(order.id).shipped).to.equal(1);
    const [delivery] = (await client.endpoints.deliveries(link.id)).data;
    const deliveryId = delivery?.id ?? '';
    await eventually(
      'the end of the delivery',
      async () => (await deliveryOf(link.id, deliveryId))?.status === 'succeeded',
    );
    await client.deliveries.resend(deliveryId);
    await eventually('the second delivery', async () => {
      const attempts = (await deliveryOf(link.id, deliveryId))?.attempts ?? [];
      return attempts.length === 2 && attempts[1]?.status_code === 200;
    });
    expect(rowOf(order.id).shipped).to.equal(1);
  });

  const deliveryOf = async (linkId: string, id: string) =>
    (await client.endpoints.deliveries(linkId)).data.find((row) => row.id === id);

  it('takes the same event ten times at once and ships once; what is forged, or another order’s, changes nothing', async () => {
    const [order, other] = [await buy(), await buy()];
    const link = await linkOf(order);
    const send = async (secret: string, data: object, event = 'payment.completed') => {
      const { rawBody, headers } = signTestEvent({
        secret,
        event,
        data: { ...link, completed_at: '2026-11-20T10:12:00Z', ...data },
      });
      const response = await fetch(`${shopUrl}/webhooks/${order.id}`, {
        method: 'POST',
        headers,
        body: rawBody,
      });
      return `${response.status} ${await response.text()}`;
    };
    expect(await send(other.webhook_secret, {})).to.equal('400 SIGNATURE_MISMATCH');
    expect(await send(order.webhook_secret, { external_id: other.id })).to.equal('200 ignored');
    expect(await send(order.webhook_secret, { amount_usd: 5 })).to.equal('200 ignored');
    expect(await send(order.webhook_secret, {}, 'deposit.completed')).to.equal('200 ignored');
    expect(rowOf(order.id)).to.include({ shipped: 0, paid_at: null });
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(order.webhook_secret, {})));
    expect(answers.sort()).to.deep.equal(['200 paid', ...Array(9).fill('200 paid before')]);
    expect([rowOf(order.id).shipped, rowOf(other.id).shipped]).to.deep.equal([1, 0]);
  });

  it('is where the lines of the README come from', () => {
    const snippets = [...readFileSync(README, 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(
      ([, text]) => text,
    );
    const snippet = snippets.find((text) => text?.includes('createClient(')) ?? '';
    const linesOf = (text: string) => text.split('\n').map((line) => line.trim());
    const lines = linesOf(readFileSync(SHOP, 'utf8'));
    // Where the package comes from is the reader's own.
    const wanted = linesOf(snippet).filter((line) => line !== '' && !line.startsWith('import '));
    expect(wanted.length).to.be.greaterThan(5);
    let from = 0;
    for (const line of wanted) {
      const at = lines.indexOf(line, from);
      expect(at, line).not.to.equal(-1);
      from = at + 1;
    }
  });
});
