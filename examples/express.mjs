// A receiver for Express 4 or 5 on Node 18 or newer. Copy this file and credit.mjs, then:
// npm install express https://GATEWAY/sdk/deposit-gateway-sdk-0.1.0.tgz
// WEBHOOK_SECRET=whsec_… PORT=3000 node express.mjs
import { verifyWebhook, WebhookVerificationError } from '@deposit-gateway/sdk';
import express from 'express';
import { creditOnce } from './credit.mjs';

// During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
const secret = process.env.WEBHOOK_SECRET ?? '';
// A 400 is final: a receiver that cannot verify anything must not answer at all.
if (!secret.startsWith('whsec_')) {
  console.error(
    'Set WEBHOOK_SECRET to the secret of your endpoint (whsec_…): the gateway showed it when the endpoint was made.',
  );
  process.exit(1);
}
const app = express();

// The raw bytes are what is signed: express.json() must not have run before this route.
app.post('/webhooks', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  try {
    const { event, data } = verifyWebhook({ rawBody: request.body, headers: request.headers, secret });
    if (event !== 'deposit.completed') response.send('ignored');
    else response.send((await creditOnce(data)) ? 'credited' : 'credited before');
  } catch (error) {
    if (error instanceof WebhookVerificationError) response.status(400).send(error.code);
    else {
      console.error(error);
      response.status(500).send('not credited, try again');
    }
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on port ${server.address().port}`),
);
