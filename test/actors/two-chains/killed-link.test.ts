import { expect } from 'chai';
import { type LiveChains, startLiveChains, tronEnv } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import { createEndpoint, createPaymentLink } from '../../../dev/support/use-cases.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { bodies, expectToldBy, paymentLinksOf } from '../support/payment-links.ts';

/** How often Tron has a block. */
const BLOCK_EVERY_MS = 500;

/** A payment link whose worker is killed, on either chain. */
describe('the actor of a payment link that is paid while its worker is killed', function () {
  this.timeout(180_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let subscribed: Receiver;
  let own: Receiver;
  let child: GatewayChild | undefined;

  before(async () => {
    // Blocks come by the clock: those that are made by hand are older than the link.
    chains = await startLiveChains({ env: { LOG_LEVEL: 'fatal' }, tron: { blockTimeMs: BLOCK_EVERY_MS } });
    live = chains.live;
    // Only the child works; the gateway of this process is kept for its services.
    await live.gateway.stopWorker();
    subscribed = await startReceiver();
    const { secret } = await createEndpoint(live.gateway.deps, {
      merchantId: live.merchantId,
      mode: 'live',
      url: subscribed.url,
      events: ['payment.completed'],
      description: null,
    });
    subscribed.setSecret(secret);
  });
  after(async () => {
    await chains?.stop();
    await subscribed?.stop();
  });
  beforeEach(async () => {
    own = await startReceiver();
  });
  afterEach(async () => {
    await child?.child.kill();
    await own.stop();
  });

  const { view, becomes, ends } = paymentLinksOf(() => live);
  const env = () => ({
    DATABASE_URL: live.databaseUrl,
    TEMPORAL_ADDRESS: live.temporal.now.address,
    DUST_FLOOR: 'none',
    BSC_RPC_URLS: live.chain.url,
    BSC_USDT_CONTRACT: live.chain.usdt.address,
    BSC_CONFIRMATIONS: '3',
    ...tronEnv(chains.node),
  });

  for (const network of ['tron', 'bsc'] as const)
    it(`goes on after a SIGKILL between the completion on ${network} and its webhooks`, async () => {
      const chain = chains[network];
      const customer = await live.newCustomer();
      const { link, webhookSecret } = await createPaymentLink(live.gateway.deps, {
        merchantId: live.merchantId,
        mode: 'live',
        customerId: customer.id,
        amountCents: 2_500n,
        publicUrl: 'https://pay.example',
        webhookUrl: own.url,
        expiresInS: 300,
      });
      own.setSecret(webhookSecret);
      for (const receiver of [own, subscribed]) receiver.setBehaviour({ kind: 'hang' });
      child = await startGatewayChild(env());
      const to = network === 'tron' ? customer.tron : customer.address;
      const hash = await chain.pay({ currency: 'USDT', units: 25n * chain.usdtUnit }, to);
      if (network === 'bsc') await chain.finish();
      await becomes(link.id, 'completed', 90_000);
      await own.waitFor(1, 30_000);
      await child.child.kill();
      for (const receiver of [own, subscribed]) receiver.setBehaviour(200);
      child = await startGatewayChild(env());
      await ends(link.id, 90_000);
      await expectToldBy([own, subscribed], link.id, () => view(link.id));
      expect(await view(link.id)).to.include({
        amount_status: 'exact',
        paid_network: network,
        transaction_hash: hash,
      });
      const told = [own, subscribed].flatMap((receiver) => bodies(receiver, link.id));
      const attempts = told.map(({ headers }) => Number(headers['x-webhook-attempt']));
      expect(Math.max(...attempts), 'each was told again once, and then it was enough').to.equal(2);
    });
});
