// A receiver for Koa 3 on Node 18 or newer, without any body parser. Copy this file and credit.mjs, then:
// npm install koa https://GATEWAY/sdk/deposit-gateway-sdk-0.1.0.tgz
// WEBHOOK_SECRET=whsec_… PORT=3000 node koa.mjs
import { verifyWebhook, WebhookVerificationError } from '@deposit-gateway/sdk';
import Koa from 'koa';
import { creditOnce } from './credit.mjs';

const MAX_BODY_BYTES = 1_048_576;
// During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
const secret = process.env.WEBHOOK_SECRET ?? '';
// A 400 is final: a receiver that cannot verify anything must not answer at all.
if (!secret.startsWith('whsec_')) {
  console.error(
    'Set WEBHOOK_SECRET to the secret of your endpoint (whsec_…): the gateway showed it when the endpoint was made.',
  );
  process.exit(1);
}

/** The body as it arrived. A body parser would give an object, and its JSON has another signature. */
async function rawBodyOf(context) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of context.req) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) context.throw(413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const app = new Koa();

app.use(async (context) => {
  if (context.path !== '/webhooks' || context.method !== 'POST') context.throw(404);
  const rawBody = await rawBodyOf(context);
  try {
    const { event, data } = verifyWebhook({ rawBody, headers: context.headers, secret });
    if (event !== 'deposit.completed') context.body = 'ignored';
    else context.body = (await creditOnce(data)) ? 'credited' : 'credited before';
  } catch (error) {
    // Koa answers 500: the gateway sends the event again
    if (!(error instanceof WebhookVerificationError)) throw error;
    context.status = 400;
    context.body = error.code;
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on port ${server.address().port}`),
);
