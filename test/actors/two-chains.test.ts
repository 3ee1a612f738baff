import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../dev/support/live-money.ts';
import { type Receiver, startReceiver } from '../../dev/support/receiver.ts';
import { createPaymentLink } from '../../dev/support/use-cases.ts';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { readiness } from '../../src/app/health.ts';
import { healthRoutes } from '../../src/app/health-routes.ts';
import type { Network } from '../../src/domain/assets.ts';
import { call } from '../support/gateway.ts';
import { type Gate, startGate } from '../support/http/gate.ts';
import { paymentLinksOf } from './support/payment-links.ts';

const AWAY_MS = 20_000;
const NOTICED_WITHIN_MS = 20_000;
const BLOCK_EVERY_MS = 250;
const STEPS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];
const OTHER = { bsc: 'tron', tron: 'bsc' } as const;

/** One gateway that watches both chains, whose blocks come by the clock. */
describe('two chains that are watched at once', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let gates: Record<Network, Gate>;
  let own: Receiver;
  let server: ReturnType<typeof createServer>;
  let origin: string;
  let clock: NodeJS.Timeout;

  before(async () => {
    const [bsc, tron] = await Promise.all([startGate(), startGate()]);
    gates = { bsc, tron };
    own = await startReceiver();
    const behind = (gate: Gate) => (node: { readonly url: string }) => {
      gate.target(node.url);
      return gate.url;
    };
    chains = await startLiveChains({
      // What the tests take away would be logged as errors.
      env: { LOG_LEVEL: 'fatal' },
      tron: { blockTimeMs: BLOCK_EVERY_MS },
      rpcUrls: behind(bsc),
      apiUrl: behind(tron),
    });
    live = chains.live;
    clock = setInterval(() => void chains.bsc.mine().catch(() => undefined), BLOCK_EVERY_MS);
    const { gateway, deps } = live.gateway;
    const app = createApp({
      deps,
      checkResponses: true,
      before: [healthRoutes(gateway, () => readiness(gateway, new Date(0)))],
    });
    server = createServer(app);
    origin = `http://127.0.0.1:${(await server.listen({ port: 0, host: '127.0.0.1' })).port}`;
    await eventually('readiness', async () => (await ready()).status === 200, NOTICED_WITHIN_MS);
  });
  after(async () => {
    clearInterval(clock);
    await server?.close(1_000);
    await chains?.stop();
    await own?.stop();
    await Promise.all(Object.values(gates ?? {}).map((gate) => gate.close()));
  });

  const ready = () => call(`${origin}/health/ready`);
  const told = (hash: string): string[] =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);
  /** Waits for every event of the deposit, once each; the order of their arrival is nobody's promise. */
  const toldAll = async (hash: string): Promise<void> => {
    await eventually(`the events of ${hash}`, () => told(hash).length >= STEPS.length);
    expect(told(hash)).to.have.members(STEPS);
  };
  const { view, becomes, ends } = paymentLinksOf(() => live);
  const pay = (chain: LiveChain, coins: bigint, to?: string) =>
    chain.pay({ currency: 'USDT', units: coins * chain.usdtUnit }, to);

  it('credit one customer who pays on both at once, each payment once', async () => {
    const both = [chains.bsc, chains.tron];
    const hashes = await Promise.all(both.map((chain) => pay(chain, 40n)));
    const completed = await Promise.all(hashes.map((hash) => live.eventOf('deposit.completed', hash)));
    expect(completed.map((data) => [data['network'], data['address'], data['amount']])).to.deep.equal(
      both.map(({ network, address }) => [network, address, '40']),
    );
    for (const data of completed) expect(data['customer_id']).to.equal(live.customer.id);
    for (const hash of hashes) await toldAll(hash);
    for (const { network, usdtUnit } of both)
      expect(await live.ledger('USDT', network)).to.include({ available: 40n * usdtUnit, pending: 0n });
  });

  it('pay a link half each, and its webhook is sent once', async () => {
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
    const onTron = await chains.tron.pay({ currency: 'USDT', units: 12_500_000n }, customer.tron);
    await becomes(link.id, 'partially_paid');
    const onBsc = await chains.bsc.pay(
      { currency: 'USDT', units: (25n * chains.bsc.usdtUnit) / 2n },
      customer.address,
    );
    await becomes(link.id, 'completed');
    await ends(link.id);
    const paid = await view(link.id);
    expect(paid).to.include({ amount_status: 'exact', paid_amount_usd: 25 });
    expect(paid.transactions.map((row) => [row.network, row.transaction_hash])).to.have.deep.members([
      ['tron', onTron],
      ['bsc', onBsc],
    ]);
    await eventually('the webhook of the link', () => own.requests.length > 0);
    expect(own.requests).to.have.length(1);
    expect(own.requests[0]).to.include({ verified: true });
  });

  for (const network of ['tron', 'bsc'] as const) {
    it(`go on without ${network}, which is named within 20 s and caught up with by itself`, async () => {
      const [away, other] = [chains[network], chains[OTHER[network]]];
      const sinceMs = Date.now();
      await gates[network].close();
      const paid: string[] = [];
      for (const coins of [1n, 2n, 3n]) paid.push(await pay(away, coins));
      const during = await pay(other, 9n);
      const named = await eventually(
        `readiness naming ${network}`,
        async () => {
          const { status, body } = await ready();
          return status === 503 && (body['reasons'] as string[]);
        },
        NOTICED_WITHIN_MS,
      );
      expect(named.join(), 'the reasons').to.match(new RegExp(`^${network} was not read for \\d+ s: `));
      expect(named.join(), 'the chain that goes on').not.to.match(new RegExp(`\\b${other.network}\\b`));
      await live.eventOf('deposit.completed', during, 20_000);
      expect(paid.flatMap(told)).to.deep.equal([]);
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS - (Date.now() - sinceMs)));
      await gates[network].open();
      await eventually('readiness', async () => (await ready()).status === 200, 30_000);
      for (const hash of paid) {
        await live.eventOf('deposit.completed', hash);
        await toldAll(hash);
        expect(await live.deposits(hash)).to.have.length(1);
      }
      await toldAll(during);
      expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
    });
  }
});
