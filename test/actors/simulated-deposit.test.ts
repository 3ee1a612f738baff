import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveGateway, randomHash, startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal } from '../../dev/support/parts.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import {
  createCustomer,
  createEndpoint,
  deleteEndpoint,
  simulateDeposit,
} from '../../dev/support/use-cases.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';

describe('a simulated deposit', function () {
  this.timeout(60_000);
  let gateway: LiveGateway;
  let merchantId: string;
  let customerId: string;
  let temporal: Awaited<ReturnType<typeof ownTemporal>>;

  before(async () => {
    const [database, server] = await Promise.all([freshDatabase(), ownTemporal()]);
    temporal = server;
    gateway = await startLiveGateway({ databaseUrl: database.url, temporalAddress: temporal.now.address });
    merchantId = (await createMerchant(gateway.deps, { name: 'Shop', subscriptionActive: true })).merchantId;
    const customer = await createCustomer(gateway.deps, {
      merchantId,
      mode: 'test',
      externalId: 'user-1',
      email: null,
      name: null,
      metadata: {},
    });
    customerId = customer.id;
  });

  after(async () => {
    await gateway?.stop();
    await temporal?.stop();
  });

  async function receiverFor(events: string[]) {
    const receiver = await startReceiver();
    const endpoint = await createEndpoint(gateway.deps, {
      merchantId,
      mode: 'test',
      url: receiver.url,
      events,
      description: null,
    });
    receiver.setSecret(endpoint.secret);
    const stop = async (): Promise<void> => {
      await deleteEndpoint(gateway.deps, { merchantId, mode: 'test', id: endpoint.id });
      await receiver.stop();
    };
    return { ...receiver, endpointId: endpoint.id, stop };
  }

  const simulate = (more: object = {}) =>
    simulateDeposit(gateway.deps, {
      merchantId,
      customerId,
      network: 'bsc',
      currency: 'USDT',
      amountUnits: 10n * 10n ** 18n,
      transactionHash: randomHash(),
      outcome: 'completed',
      events: 'final',
      ...more,
    });

  const sql = (text: string, params: unknown[] = []) => gateway.deps.orm.em.fork().execute(text, params);
  /** The end of the deposit's actor: it sends nothing afterwards. */
  const ended = (deposit: { transactionHash: string; address: string } | undefined) =>
    eventually('the end of the actor', async () => {
      const handle = gateway.gateway.link?.client.workflow.getHandle(
        `deposit:bsc:${deposit?.transactionHash}:${deposit?.address}:USDT`,
      );
      return (await handle?.describe().catch(() => undefined))?.status.name === 'COMPLETED';
    });

  it('rests in its state and sends exactly its final event, signed', async () => {
    const receiver = await receiverFor(['*']);
    const made = await simulate();
    expect(made?.deposit.status).to.equal('completed');
    const [request] = await receiver.waitFor(1, 15_000);
    const body = JSON.parse(request?.body.toString() ?? '');
    expect(request?.verified).to.equal(true);
    expect(body.event).to.equal('deposit.completed');
    expect(body.data).to.include({
      id: made?.deposit.id,
      amount: '10',
      amount_usd: 10,
      status: 'completed',
      sequence: 3,
      is_live: false,
    });
    await ended(made?.deposit);
    expect(receiver.requests).to.have.length(1);
    await receiver.stop();
  });

  it('sends every state on the way where all are asked for', async () => {
    const receiver = await receiverFor([
      'deposit.detected',
      'deposit.confirming',
      'deposit.completed',
      'deposit.settled',
    ]);
    await simulate({ outcome: 'settled', events: 'full' });
    const requests = await receiver.waitFor(4, 15_000);
    const names = requests.map((request) => JSON.parse(request.body.toString()).event);
    expect(new Set(names)).to.deep.equal(
      new Set(['deposit.detected', 'deposit.confirming', 'deposit.completed', 'deposit.settled']),
    );
    await receiver.stop();
  });

  it('is the same deposit when the hash is repeated, and sends nothing again', async () => {
    const receiver = await receiverFor(['deposit.completed']);
    const transactionHash = randomHash();
    const first = await simulate({ transactionHash });
    const second = await simulate({ transactionHash, amountUnits: 5n });
    expect(second).to.deep.include({ created: false });
    expect(second?.deposit.id).to.equal(first?.deposit.id);
    expect(second?.deposit.amountUnits).to.equal(10n * 10n ** 18n);
    await receiver.waitFor(1);
    await ended(first?.deposit);
    expect(receiver.requests).to.have.length(1);
    expect(
      await sql('select id from webhook_deliveries where endpoint_id = ?', [receiver.endpointId]),
    ).to.have.length(1);
    await receiver.stop();
  });

  it('ends its actor and leaves nothing in the outbox', async () => {
    const made = await simulate({ outcome: 'reorged' });
    await ended(made?.deposit);
    expect(await sql('select * from outbox')).to.deep.equal([]);
  });
});
