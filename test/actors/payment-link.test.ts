import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { type Receiver, startReceiver } from '../../dev/support/receiver.ts';
import {
  cancelPaymentLink,
  createEndpoint,
  createPaymentLink,
  expirePaymentLink,
} from '../../dev/support/use-cases.ts';
import type { PaymentLinkView } from '../../src/contract/payment-link.ts';
import { bodies, expectToldBy, paymentLinksOf } from './support/payment-links.ts';

/** Payment links on a real chain, a real Temporal server and real receivers. */
describe('the actor of a payment link', function () {
  this.timeout(150_000);
  let live: LiveMoney;
  let subscribed: Receiver;
  let own: Receiver;

  before(async () => {
    live = await startLiveMoney({ settings: QUICK, env: { LOG_LEVEL: 'fatal' } });
    subscribed = await startReceiver();
    for (const mode of ['live', 'test'] as const) {
      const events = ['payment.completed'];
      const url = `${subscribed.url}/${mode}`;
      const { secret } = await createEndpoint(live.gateway.deps, {
        merchantId: live.merchantId,
        mode,
        url,
        events,
        description: null,
      });
      if (mode === 'live') subscribed.setSecret(secret);
    }
  });
  after(async () => {
    await live?.stop();
    await subscribed?.stop();
  });
  beforeEach(async () => {
    own = await startReceiver();
  });
  afterEach(async () => {
    await own.stop();
  });

  const deps = () => live.gateway.deps;
  const { view, becomes, actor, statusOf, ends } = paymentLinksOf(() => live);
  const newLink = async (
    input: { usd?: bigint; expiresAt?: Date } = {},
  ): Promise<PaymentLinkView & { address: string }> => {
    const customer = await live.newCustomer();
    const made = input.expiresAt ? new Date(input.expiresAt.getTime() - 300_000) : new Date();
    const { link, webhookSecret } = await createPaymentLink(
      { ...deps(), storedNow: async () => made },
      {
        merchantId: live.merchantId,
        mode: 'live',
        customerId: customer.id,
        amountCents: (input.usd ?? 25n) * 100n,
        publicUrl: 'https://pay.example',
        webhookUrl: own.url,
        expiresInS: 300,
      },
    );
    own.setSecret(webhookSecret);
    return { ...link, address: customer.address };
  };
  const pay = async (address: string, units: bigint) =>
    await live.chain.usdt.call('transfer', [address, units]);
  const expectTold = (link: PaymentLinkView) => expectToldBy([own, subscribed], link.id, () => view(link.id));

  it('carries real USDT in two transactions to the completion and to both webhooks', async () => {
    const link = await newLink();
    const first = await pay(link.address, 10n * USDT_UNIT);
    await live.chain.mine(1);
    const detected = await live.eventOf('deposit.detected', first);
    expect(detected['payment_token']).to.equal(link.token);
    await becomes(link.id, 'processing');
    await live.chain.mine(6);
    await becomes(link.id, 'partially_paid');
    await eventually('the details', async () => {
      const { note } = (await actor(link.id).query('view')) as { note: string };
      return note.startsWith('10 of 25 USDT, expires at');
    });
    const second = await pay(link.address, 15n * USDT_UNIT);
    await live.chain.mine(7);
    await becomes(link.id, 'completed');
    await expectTold(link);
    expect(await view(link.id)).to.include({
      amount_status: 'exact',
      paid_network: 'bsc',
      transaction_hash: second,
    });
    await ends(link.id);
    const run = await actor(link.id).describe();
    expect(run.memo).to.include({ payment_link_id: link.id, amount: '25 USDT' });
    expect(JSON.stringify(run.memo)).to.not.include(link.token);
    expect(run.historyLength).to.be.at.most(120);
    expect(bodies(own, link.id)).to.have.length(1);
  });

  it('is open until the chain was read past its time, then expires, and later money is late', async () => {
    const newest = (await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as {
      timestamp: string;
    };
    const chainMs = Number.parseInt(newest.timestamp, 16) * 1_000;
    const link = await newLink({ expiresAt: new Date(Math.max(chainMs, Date.now()) + 2_000) });
    const expiry = Date.parse(link.expires_at) + 1_000;
    const reason = await eventually(
      'a look after its time',
      async () => {
        if (Date.now() < expiry) return undefined;
        const run = await actor(link.id)
          .describe()
          .catch(() => undefined);
        return run?.raw.pendingActivities?.[0]?.lastFailure?.message ?? undefined;
      },
      60_000,
    );
    expect(reason).to.match(/^0 of 25 USDT; expires when bsc was read past /);
    expect((await view(link.id)).status).to.equal('pending');
    await live.chain.anvil.rpc('evm_setNextBlockTimestamp', [Math.ceil((expiry + 5_000) / 1_000)]);
    await live.chain.mine(1);
    await becomes(link.id, 'expired', 70_000);
    await ends(link.id);
    const hash = await pay(link.address, 25n * USDT_UNIT);
    await live.chain.mine(7);
    expect((await live.eventOf('deposit.completed', hash))['payment_token']).to.equal(null);
    expect(await view(link.id)).to.include({ status: 'expired', amount_status: 'late', paid_amount_usd: 0 });
    expect(bodies(own, link.id)).to.have.length(0);
  });

  it('ends when its link is cancelled, or made over in test mode, and tells nobody that it was paid', async () => {
    const { merchantId } = live;
    const link = await newLink();
    const terms = { merchantId, mode: 'test' as const, email: 'late@example.com', amountCents: 2_500n };
    const made = await createPaymentLink(deps(), { ...terms, publicUrl: '', webhookUrl: own.url });
    for (const { id } of [link, made.link])
      await eventually('the actor', async () => (await statusOf(id)) === 'RUNNING');
    await cancelPaymentLink(deps(), { merchantId, mode: 'live', id: link.id });
    await expirePaymentLink(deps(), { merchantId, token: made.link.token });
    for (const { id } of [link, made.link]) await ends(id);
    expect((await view(made.link.id, 'test')).status).to.equal('expired');
    expect(own.requests).to.have.length(0);
  });
});
