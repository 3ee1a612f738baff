// What stands around the fragments of the README in a merchant's server: a webhook that has just arrived, an order, and a
// book of credits. The signature is made here by hand, so that it runs on every Node.
import { createHmac } from 'node:crypto';

const secret = process.env.WEBHOOK_SECRET ?? '';
const sent = `${new Date().toISOString().slice(0, 19)}Z`;

export const rawBody = Buffer.from(
  JSON.stringify({
    event: 'deposit.completed',
    data: { id: '4842a81f-303e-8696-ab67-15527a19014e', customer_id: 'c', amount_usd: 12.5 },
    timestamp: sent,
  }),
);
export const request = {
  headers: {
    'x-webhook-timestamp': sent,
    'x-webhook-signature': createHmac('sha256', secret).update(`${sent}.`).update(rawBody).digest('hex'),
  },
};
export const creditOnce = async (...deposit) => console.log('credited', ...deposit);
export const order = { id: 'order-1', amount_usd: 25.5 };
export const { GATEWAY_URL, GATEWAY_KEY } = process.env;
export const SHOP_URL = 'http://127.0.0.1:3000';
