import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { ownPostgres } from '../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../dev/support/receiver.ts';
import { createEndpoint } from '../../dev/support/use-cases.ts';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { readiness } from '../../src/app/health.ts';
import { healthRoutes } from '../../src/app/health-routes.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { missingSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { call } from '../support/gateway.ts';
import { type Gate, startGate } from '../support/http/gate.ts';
import { type ExpectedDeposit, expectWhole, isQuiet } from '../support/whole.ts';

const OUTAGE_MS = 20_000;
const NOTICED_WITHIN_MS = 20_000;
const BLOCK_EVERY_MS = 1_000;
const PAY_UNTIL_MS = 12_000;

/**
 * Each part in turn is away for 20 s while customers go on paying: nothing may be lost and nothing doubled.
 */
describe('an outage', function () {
  this.timeout(150_000);
  let postgres: Awaited<ReturnType<typeof ownPostgres>>;
  let gate: Gate;
  let live: LiveMoney;
  let server: ReturnType<typeof createServer>;
  let origin: string;
  let key: string;
  let testReceiver: Receiver;
  const paid: ExpectedDeposit[] = [];

  before(async () => {
    [postgres, gate] = await Promise.all([ownPostgres(), startGate()]);
    live = await startLiveMoney({
      databaseUrl: postgres.now.url,
      // Every refused request of these minutes would be logged as an error.
      env: { LOG_LEVEL: 'fatal' },
      rpcUrls: (chain) => {
        gate.target(chain.url);
        return gate.url;
      },
    });
    const { gateway, deps } = live.gateway;
    const startedAt = new Date();
    const app = createApp({
      deps,
      checkResponses: true,
      before: [healthRoutes(gateway, () => readiness(gateway, startedAt))],
    });
    server = createServer(app);
    origin = `http://127.0.0.1:${(await server.listen({ port: 0, host: '127.0.0.1' })).port}`;
    const merchant = await createMerchant(deps, { name: 'Shop of the API', subscriptionActive: true });
    key = merchant.keys.test;
    testReceiver = await startReceiver();
    const scope = { merchantId: merchant.merchantId, mode: 'test' as const };
    const events = ['customer.created', 'deposit.completed'];
    const endpoint = await createEndpoint(deps, {
      ...scope,
      url: testReceiver.url,
      events,
      description: null,
    });
    testReceiver.setSecret(endpoint.secret);
    await eventually('readiness', async () => (await ready()).status === 200, NOTICED_WITHIN_MS);
  });
  after(async () => {
    await server?.close(1_000);
    await live?.stop();
    await testReceiver?.stop();
    await gate?.close();
    await postgres?.stop();
  });

  const ready = () => call(`${origin}/health/ready`);
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Customers pay all the time, each a different amount, and blocks go on. */
  async function payFor(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while (Date.now() < until) {
      const amountUnits = BigInt(paid.length + 1) * USDT_UNIT;
      const transactionHash = await live.chain.usdt.call('transfer', [live.address, amountUnits]);
      paid.push({ transactionHash, amountUnits });
      await live.chain.mine();
      await sleep(BLOCK_EVERY_MS);
    }
  }

  /** The reason is named within 20 s of the beginning. */
  async function expectNoticed(sinceMs: number, reason: RegExp): Promise<void> {
    const seen = await eventually(
      `readiness naming ${reason}`,
      async () => {
        const answer = await ready();
        return (
          answer.status === 503 &&
          answer.body['reasons'].some((text: string) => reason.test(text)) &&
          answer.body['reasons']
        );
      },
      Math.max(1_000, NOTICED_WITHIN_MS - (Date.now() - sinceMs)),
    );
    expect(seen).to.satisfy((reasons: string[]) => reasons.some((text) => reason.test(text)));
  }

  async function expectHealed(): Promise<void> {
    await eventually('readiness', async () => (await ready()).status === 200, 30_000);
    await live.chain.mine(6);
    await eventually(
      'the end of every deposit',
      async () => await isQuiet(live.gateway.deps, paid).catch(() => false),
      60_000,
    );
    await expectWhole(live.gateway.deps, live.receiver.requests, paid);
    expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
  }

  async function ask(path: string, body?: unknown) {
    const startedMs = Date.now();
    const answer = await call(`${origin}/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
    return { ...answer, tookMs: Date.now() - startedMs };
  }

  async function rest(sinceMs: number): Promise<void> {
    await sleep(Math.max(0, OUTAGE_MS - (Date.now() - sinceMs)));
  }

  it('of PostgreSQL is answered with 503 within 2 s, named, and caught up afterwards', async () => {
    await payFor(2_500);
    const sinceMs = Date.now();
    await postgres.stop();
    const paying = payFor(PAY_UNTIL_MS);
    for (const [path, body] of [
      ['/customers'],
      ['/customers', { external_id: 'lost' }],
      ['/webhook-endpoints'],
    ] as const) {
      const answer = await ask(path, body);
      expect(answer, path).to.include({ status: 503 });
      expect(answer.body).to.include({ code: 'UNAVAILABLE' });
      expect(answer.tookMs, path).to.be.below(2_500);
    }
    await expectNoticed(sinceMs, /PostgreSQL/);
    await paying;
    await rest(sinceMs);
    await postgres.start();
    await expectHealed();
    expect((await ask('/customers')).body['data']).to.deep.equal([]);
  });

  it('of a PostgreSQL that hangs is answered with 503 within 2 s too', async () => {
    await payFor(1_500);
    const sinceMs = Date.now();
    postgres.now.pause();
    const paying = payFor(PAY_UNTIL_MS);
    try {
      for (let count = 0; count < 12; count += 1)
        expect(await ask('/customers'))
          .to.include({ status: 503 })
          .and.property('tookMs')
          .below(2_500);
      await expectNoticed(sinceMs, /PostgreSQL/);
      await paying;
      await rest(sinceMs);
    } finally {
      postgres.now.resume();
    }
    await expectHealed();
  });

  it('of Temporal stops neither the API nor the recording of deposits, and what they announce is delivered afterwards', async () => {
    const sinceMs = Date.now();
    await live.temporal.stop();
    const paying = payFor(PAY_UNTIL_MS);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const customer = await ask('/customers', { external_id: `away-${count}` });
      expect(customer).to.include({ status: 201 });
      expect(customer.tookMs).to.be.below(2_000);
      const simulated = await ask('/test/simulate-deposit', {
        customer_id: customer.body['id'],
        amount: '10',
      });
      expect(simulated).to.include({ status: 201 });
      expect(simulated.tookMs).to.be.below(2_000);
      made.push(String(customer.body['id']), String(simulated.body['id']));
    }
    await expectNoticed(sinceMs, /Temporal/);
    await paying;
    await rest(sinceMs);
    expect(testReceiver.requests).to.have.length(0);
    await live.temporal.start();
    await expectHealed();
    const about = testReceiver.requests.map((request) => String(JSON.parse(request.body.toString()).data.id));
    expect(new Set(about)).to.deep.equal(new Set(made));
    const ids = testReceiver.requests.map((request) => request.headers['x-webhook-id']);
    expect(new Set(ids).size).to.equal(made.length);
  });

  it('of a Temporal that takes calls and answers none keeps no worker from starting', async () => {
    const { link, config } = live.gateway.gateway;
    if (!link) throw new Error('this gateway has no Temporal');
    expect(await missingSearchAttributes(link, config.temporal.namespace)).to.deep.equal([]);
    live.temporal.now.pause();
    const sinceMs = Date.now();
    try {
      const checked = await missingSearchAttributes(link, config.temporal.namespace).then(
        () => 'answered',
        () => 'failed',
      );
      expect(checked).to.equal('failed');
      expect(Date.now() - sinceMs).to.be.below(10_000);
    } finally {
      live.temporal.now.resume();
    }
  });

  it('of every RPC endpoint that hangs is named and caught up', async () => {
    await payFor(1_500);
    const sinceMs = Date.now();
    live.chain.anvil.pause();
    try {
      await expectNoticed(sinceMs, /^bsc was not read for \d+ s: /);
      await rest(sinceMs);
    } finally {
      live.chain.anvil.resume();
    }
    await payFor(1_500);
    await expectHealed();
  });

  it('of every RPC endpoint that refuses is named, and the blocks of that time are caught up in order', async () => {
    const sinceMs = Date.now();
    await gate.close();
    const paying = payFor(PAY_UNTIL_MS);
    await expectNoticed(sinceMs, /^bsc was not read for \d+ s: /);
    await paying;
    await rest(sinceMs);
    await gate.open();
    await expectHealed();
  });
});
