// A gateway with its API in this process, over servers of its own that can be taken away from it.
import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import type { LiveGateway, LiveOptions } from '../../../dev/support/live-gateway.ts';
import { startLiveMoney } from '../../../dev/support/live-money.ts';
import { ownPostgres, ownTemporal } from '../../../dev/support/parts.ts';
import { startReceiver } from '../../../dev/support/receiver.ts';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { createApp } from '../../../src/api/app.ts';
import { createServer } from '../../../src/api/server.ts';
import { readiness } from '../../../src/app/health.ts';
import { healthRoutes } from '../../../src/app/health-routes.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { call } from '../../support/gateway.ts';
import { startGate } from '../../support/http/gate.ts';
import { type ExpectedDeposit, expectWhole, isQuiet } from '../../support/whole.ts';

export type OutageStage = Awaited<ReturnType<typeof startOutageStage>>;

/** Starts everything; readiness is good then. `gate` stands before the RPC endpoint. */
export async function startOutageStage(settings: NonNullable<LiveOptions['settings']> = {}) {
  const [postgres, gate] = await Promise.all([ownPostgres(), startGate()]);
  const live = await startLiveMoney({
    settings,
    temporal: ownTemporal,
    databaseUrl: postgres.now.url,
    // Every refused request of an outage would be logged as an error.
    env: { LOG_LEVEL: 'fatal' },
    rpcUrls: (chain) => {
      gate.target(chain.url);
      return gate.url;
    },
  });
  const { deps } = live.gateway;
  const api = await openApi(live.gateway);
  const isReady = () => eventually('readiness', async () => (await api.ready()).status === 200);
  await isReady();
  const paid: ExpectedDeposit[] = [];
  return {
    live,
    postgres,
    gate,
    ...api,
    /** Each payment is of another amount, in a block of its own. */
    async pay(): Promise<void> {
      const amountUnits = BigInt(paid.length + 1) * USDT_UNIT;
      const transactionHash = await live.chain.usdt.call('transfer', [live.address, amountUnits]);
      paid.push({ transactionHash, amountUnits });
      await live.chain.mine();
    },
    /** Waits until readiness names the reason. */
    named: (reason: RegExp, limitMs?: number) =>
      eventually(
        `readiness naming ${reason}`,
        async () => {
          const { status, body } = await api.ready();
          return status === 503 && body['reasons'].some((text: string) => reason.test(text));
        },
        limitMs,
        async () => (await api.ready()).text,
      ),
    /** Waits until all is well again, and looks at everything that was paid. */
    async expectHealed(): Promise<void> {
      await isReady();
      await live.chain.mine(6);
      await eventually(
        'the end of every deposit',
        async () => await isQuiet(deps, paid).catch(() => false),
        60_000,
      );
      await expectWhole(deps, live.receiver.requests, paid);
      expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
    },
    async stop(): Promise<void> {
      await api.close();
      await live.stop();
      await gate.close();
      await postgres.stop();
    },
  };
}

/** The API with a merchant in test mode and his receiver. */
async function openApi({ gateway, deps }: LiveGateway) {
  const startedAt = new Date();
  const before = [healthRoutes(gateway, () => readiness(gateway, startedAt))];
  const server = createServer(createApp({ deps, checkResponses: true, before }));
  const origin = `http://127.0.0.1:${(await server.listen({ port: 0, host: '127.0.0.1' })).port}`;
  const { merchantId, keys } = await createMerchant(deps, { name: 'API', subscriptionActive: true });
  const testReceiver = await startReceiver();
  const events = ['customer.created', 'deposit.completed'];
  const { url } = testReceiver;
  await createEndpoint(deps, { merchantId, mode: 'test', url, events, description: null });
  return {
    testReceiver,
    ready: () => call(`${origin}/health/ready`),
    /** A request to the API, and how long its answer took. */
    async ask(path: string, body?: unknown) {
      const startedMs = Date.now();
      const more = body === undefined ? {} : { body };
      const answer = await call(`${origin}/api/v1${path}`, { key: keys.test, ...more });
      return { ...answer, tookMs: Date.now() - startedMs };
    },
    async close(): Promise<void> {
      await server.close(1_000);
      await testReceiver.stop();
    },
  };
}
