// A shop that takes USDT for its orders: Koa, Node 24 and the gateway's
// SDK. One order is one payment link. How to run it: ../README.md.
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import {
  createClient,
  type PaymentLink,
  verifyWebhook,
  WebhookVerificationError,
} from '@deposit-gateway/sdk';
import Koa, { type Context } from 'koa';

const {
  GATEWAY_URL = '',
  GATEWAY_KEY = '',
  PORT = '3000',
  SHOP_URL = `http://127.0.0.1:${PORT}`,
  SHOP_DATABASE = 'shop.sqlite',
} = process.env;
const PRICE_USD = '25.50';
const MAX_BODY_BYTES = 1_048_576;

if (GATEWAY_URL === '' || GATEWAY_KEY === '') {
  console.error(
    'Set GATEWAY_URL to the URL of the API, which ends in /api/v1, and GATEWAY_KEY to a key of it.',
  );
  process.exit(1);
}

const gateway = createClient({ baseUrl: GATEWAY_URL, apiKey: GATEWAY_KEY });

type Order = {
  id: string;
  amount_usd: string;
  pay_url: string | null;
  link_id: string | null;
  webhook_secret: string | null;
  paid_at: string | null;
};
const database = new DatabaseSync(SHOP_DATABASE);
database.exec(`create table if not exists orders (
  id text primary key, amount_usd text not null, pay_url text, link_id text, webhook_secret text, paid_at text,
    shipped integer not null default 0)`);

const orderOf = (id: string) =>
  database.prepare('select * from orders where id = ?').get(id) as Order | undefined;

/**
 * The page where the order is paid. With the order's id as key it has one link, however often this is tried.
 */
async function payUrlOf(order: Order): Promise<string> {
  if (order.pay_url) return order.pay_url;
  const link = await gateway.payments.request(
    {
      email: 'ann@example.com',
      amount_usd: order.amount_usd,
      description: `Order ${order.id.slice(0, 8)}`,
      external_id: order.id,
      success_url: `${SHOP_URL}/orders/${order.id}`,
      webhook_url: `${SHOP_URL}/webhooks/${order.id}`,
    },
    { idempotencyKey: order.id },
  );
  database
    .prepare('update orders set pay_url = ?, link_id = ?, webhook_secret = ? where id = ?')
    .run(link.url, link.id, link.webhook_secret, order.id);
  return link.url;
}

/**
 * An event can come more than once, also at the same time:
 * only the update that finds the order unpaid ships it.
 */
function markPaid(order: Order, link: PaymentLink): 'paid' | 'paid before' {
  const { changes } = database
    .prepare('update orders set paid_at = ?, shipped = shipped + 1 where id = ? and paid_at is null')
    .run(link.completed_at, order.id);
  return changes === 1 ? 'paid' : 'paid before';
}

/**
 * What the payer reads who returns from the checkout. The webhook may come a moment later, or was lost: the
 * gateway is asked, and an order that it calls paid is shipped, once, whoever says so first.
 */
async function stateOf(order: Order): Promise<string> {
  const link = order.link_id && !order.paid_at ? await gateway.paymentLinks.get(order.link_id) : undefined;
  if (link?.status === 'completed') markPaid(order, link);
  const paidAt = orderOf(order.id)?.paid_at;
  if (paidAt) return `Paid at ${paidAt}`;
  if (link?.status === 'processing') return 'Your payment was seen and waits for the network.';
  return `Not paid yet. <a href="/orders/${order.id}/pay">Pay now</a>`;
}

/**
 * Answers 400 to what is not genuine. The order is named by
 * the path, and its own secret must have signed what comes.
 */
async function takeWebhook(context: Context, order: Order): Promise<void> {
  const rawBody = await rawBodyOf(context);
  if (order.webhook_secret === null) context.throw(503); // not known yet: the gateway sends the event again
  try {
    const { event, data } = verifyWebhook<PaymentLink>({
      rawBody,
      headers: context.headers,
      secret: order.webhook_secret,
    });
    const isOurs =
      event === 'payment.completed' &&
      data.external_id === order.id &&
      data.amount_usd === Number(order.amount_usd);
    context.body = isOurs ? markPaid(order, data) : 'ignored';
  } catch (error) {
    // Koa answers 500: the gateway sends the event again
    if (!(error instanceof WebhookVerificationError)) throw error;
    context.status = 400;
    context.body = error.code;
  }
}

/** The body as it arrived: a parsed one that is printed again has another signature. */
async function rawBodyOf(context: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of context.req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) context.throw(413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const app = new Koa();

app.use(async (context) => {
  const [, place, id = '', action] = context.path.split('/');
  const order = orderOf(id);
  if (context.method === 'GET' && context.path === '/') {
    context.body = `<!doctype html><title>Shop</title><form method="post" action="/orders"><button>Buy for ${PRICE_USD} USD</button></form>`;
  } else if (context.method === 'POST' && context.path === '/orders') {
    const id = randomUUID();
    database.prepare('insert into orders (id, amount_usd) values (?, ?)').run(id, PRICE_USD);
    context.status = 303;
    context.redirect(`/orders/${id}/pay`);
  } else if (context.method === 'GET' && place === 'orders' && order && action === 'pay') {
    context.redirect(await payUrlOf(order));
  } else if (context.method === 'POST' && place === 'webhooks' && order) {
    await takeWebhook(context, order);
  } else if (context.method === 'GET' && place === 'orders' && order) {
    context.body = `<!doctype html><title>Order</title><h1>Order ${order.id}</h1><p>${await stateOf(order)}</p>`;
  } else {
    context.throw(404);
  }
});

app.listen(Number(PORT), '127.0.0.1', () => console.log(`the shop is at ${SHOP_URL}`));
