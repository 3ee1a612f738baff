import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { ownTemporal, tempDir } from '../../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../../dev/support/receiver.ts';
import {
  createCustomer,
  createEndpoint,
  createPaymentLink,
  resendDelivery,
  simulateDeposit,
} from '../../../dev/support/use-cases.ts';
import { startTemporal, type Temporal } from '../../../src/embedded/temporal.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { repairActors } from '../../../src/services/repair/repair.ts';
import { type ExpectedDeposit, expectWhole, isQuiet } from '../../support/whole.ts';

const WATCHER_WITHIN_MS = 45_000;

/** Temporal loses actors, or everything it knew: the rows bring them back, and nothing is doubled. */
describe('repair', function () {
  this.timeout(150_000);
  let live: LiveMoney;
  let testReceiver: Receiver;
  let shop: { merchantId: string; customerId: string };
  let fresh: Temporal | undefined;
  let customers = 0;
  const paid: ExpectedDeposit[] = [];

  before(async () => {
    live = await startLiveMoney({ temporal: ownTemporal, env: { LOG_LEVEL: 'fatal' } });
    const { deps } = live.gateway;
    const { merchantId } = await createMerchant(deps, { name: 'Test shop', subscriptionActive: true });
    testReceiver = await startReceiver();
    const endpoint = await createEndpoint(deps, {
      merchantId,
      mode: 'test',
      url: testReceiver.url,
      events: ['*'],
      description: null,
    });
    testReceiver.setSecret(endpoint.secret);
    shop = { merchantId, customerId: '' };
    shop = { merchantId, customerId: await newTestCustomer() };
    await testReceiver.waitFor(1);
  });
  after(async () => {
    await live?.stop();
    await testReceiver?.stop();
    await fresh?.stop();
  });

  const sql = <T>(text: string, params: unknown[] = []) =>
    live.gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const client = () => live.gateway.gateway.link?.client;

  async function newTestCustomer(): Promise<string> {
    customers += 1;
    const facts = { externalId: `test-user-${customers}`, email: null, name: null, metadata: {} };
    return (await createCustomer(live.gateway.deps, { merchantId: shop.merchantId, mode: 'test', ...facts }))
      .id;
  }

  async function simulate(): Promise<string> {
    const made = await simulateDeposit(live.gateway.deps, {
      merchantId: shop.merchantId,
      customerId: shop.customerId,
      network: 'bsc',
      currency: 'USDT',
      amountUnits: USDT_UNIT,
      outcome: 'completed',
      events: 'full',
    });
    return String(made?.deposit.id);
  }

  async function pay(): Promise<string> {
    const amountUnits = BigInt(paid.length + 1) * USDT_UNIT;
    const transactionHash = await live.chain.usdt.call('transfer', [live.address, amountUnits]);
    paid.push({ transactionHash, amountUnits });
    await live.chain.mine();
    return transactionHash;
  }

  const reaches = (hash: string, status: string) =>
    eventually(
      `${hash} ${status}`,
      async () => (await live.deposits(hash))[0]?.['status'] === status,
      30_000,
    );

  /**
   * One deposit waits as confirming and one as detected, and every
   * webhook of theirs and of a new customer waits for its next attempt.
   */
  async function waitingDeposits(): Promise<void> {
    for (const receiver of [live.receiver, testReceiver]) receiver.setBehaviour(503);
    await reaches(await pay(), 'detected');
    await reaches(await pay(), 'detected');
    await reaches(paid.at(-2)?.transactionHash ?? '', 'confirming');
    await newTestCustomer();
    await simulate();
    await eventually('failing webhooks', async () => {
      const [row] = await sql<{ n: number }>(
        `select count(*)::int as n from webhook_deliveries d
          where status = 'pending' and exists (select 1 from webhook_attempts a where a.delivery_id = d.id)`,
      );
      return (row?.n ?? 0) >= 6;
    });
  }

  const runningActors = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const actor of client()?.workflow.list({ query: `ExecutionStatus = 'Running'` }) ?? [])
      ids.push(actor.workflowId);
    return ids;
  };

  async function expectAllDelivered(): Promise<void> {
    await live.chain.mine(6);
    await eventually('the end of everything', async () => await isQuiet(live.gateway.deps, paid), 90_000);
    await expectWhole(live.gateway.deps, live.receiver.requests, paid);
    const failed = await sql(`select id from webhook_deliveries where status <> 'succeeded'`);
    expect(failed).to.deep.equal([]);
    const events = await sql<{ id: string }>(`select id from events where mode = 'test'`);
    const seen = new Set(testReceiver.requests.map((request) => request.headers['x-webhook-id']));
    expect(events.filter((event) => !seen.has(event.id))).to.deep.equal([]);
    const twice = await sql(
      `select delivery_id from webhook_attempts where status_code = 200 group by delivery_id, round
        having count(*) > 1`,
    );
    expect(twice, 'deliveries that were sent on after a success').to.deep.equal([]);
  }

  it('brings back everything after the loss of the whole store of Temporal', async () => {
    // The receiver has it before the row says so.
    const delivery = await eventually(
      'a delivery that succeeded',
      async () =>
        (
          await sql<{ id: string }>(`select id from webhook_deliveries where status = 'succeeded' limit 1`)
        )[0],
    );
    await waitingDeposits();
    const { merchantId } = shop;
    await resendDelivery(live.gateway.deps, { merchantId, mode: 'test', id: delivery.id });
    const { link } = await createPaymentLink(live.gateway.deps, {
      merchantId: live.merchantId,
      mode: 'live',
      email: 'payer@example.com',
      amountCents: 2_500n,
      publicUrl: '',
    });
    const { port, uiUrl } = live.temporal.now;
    await live.temporal.stop();
    // Facts of the time without Temporal: a payment, a
    // simulation, a customer. Their starts wait in the outbox.
    await reaches(await pay(), 'detected');
    await simulate();
    await newTestCustomer();
    const refused = await repairActors(live.gateway.deps).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Error);
    const [outbox] = await sql<{ n: number }>('select count(*)::int as n from outbox');
    expect(outbox?.n).to.be.at.least(3);
    // The same port, and a store that knows nothing.
    const place = { dataDir: await tempDir('wiped-temporal'), port, uiPort: Number(new URL(uiUrl).port) };
    fresh = await startTemporal({ ...place, log: () => undefined });
    for (const receiver of [live.receiver, testReceiver]) receiver.setBehaviour(200);
    const repaired = await eventually(
      'a repair',
      () => repairActors(live.gateway.deps).catch(() => undefined),
      20_000,
    );
    expect(repaired.deposits).to.be.at.least(2);
    expect(repaired.payments).to.equal(1);
    await eventually('the actor of the link', async () =>
      (await runningActors()).includes(`payment:${link.id}`),
    );
    await eventually(
      'the watcher',
      async () => (await runningActors()).includes('chain:bsc'),
      WATCHER_WITHIN_MS,
    );
    await expectAllDelivered();
    const none = { deposits: 0, payments: 0, payouts: 0, deliveries: 0, outbox: 0 };
    expect(await repairActors(live.gateway.deps)).to.deep.equal(none);
    // The watcher follows on.
    await pay();
    await expectAllDelivered();
  });
});
