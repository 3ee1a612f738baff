import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { freshDatabase } from '../../../dev/support/parts.ts';
import { closedPort } from '../../../dev/support/receiver.ts';
import { deleteEndpoint } from '../../../dev/support/use-cases.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { type Registered, type Shops, startShops, type TestMerchantShop } from '../../support/shop.ts';

const SOCKETS = 10;
const HUNG_EVENTS = 30;
const SLOW_EVENTS = 80;

/** Two worker processes, as an installation has them. */
describe('two workers together', function () {
  this.timeout(150_000);
  let shops: Shops;
  let ports: number[] = [];
  let workers: GatewayChild[] = [];

  before(async () => {
    const { url } = await freshDatabase();
    shops = await startShops(url);
    await shops.gateway.stopWorker();
    const env = { DATABASE_URL: url, TEMPORAL_ADDRESS: shops.temporalAddress };
    ports = [await closedPort(), await closedPort()];
    workers = await Promise.all(
      ports.map((port) => startGatewayChild({ ...env, PORT: String(port) }, 'worker')),
    );
  });
  after(async () => {
    await Promise.all(workers.map(({ child }) => child.stop()));
    await shops?.stop();
  });

  /** What the worker on this port has sent so far, in its own words. */
  const attemptsBy = async (port: number): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return [...text.matchAll(/^gateway_webhook_attempts_total\{[^}]*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };
  /** The most sockets that were open at a time while `work` ran, looked at every two milliseconds. */
  const mostOpen = async ({ receiver }: Registered, work: () => Promise<void>): Promise<number> => {
    let most = 0;
    const sampler = setInterval(() => {
      most = Math.max(most, receiver.openSockets());
    }, 2);
    try {
      await work();
      return most;
    } finally {
      clearInterval(sampler);
    }
  };
  const announce = async (merchant: TestMerchantShop, count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await merchant.announce();
  };

  it('open ten connections at most to a receiver that hangs, and what waits for one uses up no attempt', async () => {
    const merchant = await shops.merchant();
    const hung = await merchant.register({ kind: 'hang' });
    const before = await Promise.all(ports.map(attemptsBy));
    const most = await mostOpen(hung, async () => {
      await announce(merchant, HUNG_EVENTS);
      await hung.receiver.waitFor(SOCKETS * 2, 60_000);
    });
    const rows = await shops.deliveriesTo(hung.endpointId);
    await deleteEndpoint(shops.gateway.deps, { ...merchant.scope, id: hung.endpointId });
    expect(most).to.equal(SOCKETS);
    expect(
      rows.filter(({ attempts }) => attempts.length === 0).length,
      'deliveries that wait without an attempt',
    ).to.be.at.least(1);
    expect(rows.every(({ status }) => status === 'pending')).to.equal(true);
    const after = await eventually(
      'the ends of the attempts',
      async () => {
        const now = await Promise.all(ports.map(attemptsBy));
        return now.every((count, index) => count > (before[index] ?? 0)) && now;
      },
      30_000,
    );
    expect(after).to.have.length(2);
  });

  it('share them while the receiver answers slowly: everything arrives once', async () => {
    const merchant = await shops.merchant();
    const slow = await merchant.register({ kind: 'answer', status: 200, delayMs: 400 });
    const most = await mostOpen(slow, async () => {
      await Promise.all(Array.from({ length: 4 }, () => announce(merchant, SLOW_EVENTS / 4)));
      await eventually(
        'every delivery',
        async () => {
          const rows = await shops.deliveriesTo(slow.endpointId);
          return rows.length === SLOW_EVENTS && rows.every(({ status }) => status === 'succeeded');
        },
        90_000,
      );
    });
    expect(most).to.be.within(3, SOCKETS);
    expect(slow.receiver.requests).to.have.length(SLOW_EVENTS);
    expect(new Set(slow.receiver.requests.map(({ headers }) => headers['x-webhook-id'])).size).to.equal(
      SLOW_EVENTS,
    );
  });
});
