// A receiver for Express 4 or 5. It needs `npm install express` in your own project, and Node 24
// for the TypeScript file that it imports. Run: WEBHOOK_SECRET=whsec_… PORT=3000 node express.mjs
import express from 'express';
import { verifyWebhook, WebhookVerificationError } from '../src/sdk/webhook.ts';
import { creditOnce } from './credit.mjs';

// During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
const secret = process.env.WEBHOOK_SECRET;
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
