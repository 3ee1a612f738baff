import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { type Part, POOL_SIZES } from '../../src/app/pools.ts';
import { createKey } from '../../src/services/merchants/keys.ts';
import { setSubscription } from '../../src/services/merchants/merchants.ts';
import { call } from '../support/gateway.ts';

/** A worker, of which a part uses up all its connections, and whose merchants may have lapsed. */
describe('a worker', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ settings: QUICK });
  });
  after(async () => {
    await live?.stop();
  });

  /** Runs `work` while every connection of a part is held. */
  async function without(parts: readonly Part[], work: () => Promise<void>): Promise<void> {
    const { pools } = live.gateway.gateway;
    if (!pools) throw new Error('this gateway has no parts');
    const held = parts.flatMap((part) =>
      Array.from({ length: POOL_SIZES[part] }, () => pools[part].em.fork()),
    );
    await Promise.all(held.map((em) => em.begin()));
    // A slow machine is no caller that forgot its transactions.
    await Promise.all(held.map((em) => em.execute('set local idle_in_transaction_session_timeout = 0')));
    try {
      await work();
    } finally {
      await Promise.all(held.map((em) => em.rollback().catch(() => undefined)));
    }
  }

  it('has connections for each part: without those for webhooks a block is still recorded, and its webhook comes afterwards', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
    await without(['webhooks'], async () => {
      await live.chain.mine(1);
      await eventually('the deposit', async () => (await live.deposits(hash)).length === 1);
      expect(live.events().filter(({ data }) => data['transaction_hash'] === hash)).to.deep.equal([]);
    });
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
  });

  it('goes on for a merchant whose subscription has lapsed, to whom only the API is closed', async () => {
    const { deps } = live.gateway;
    const { merchantId } = live;
    const keys = [
      await createKey(deps, { merchantId, mode: 'live' }),
      await createKey(deps, { merchantId, mode: 'test' }),
    ];
    const server = createServer(createApp({ deps, checkResponses: true }));
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    const statuses = async () =>
      await Promise.all(
        keys.map(async ({ key }) => (await call(`http://127.0.0.1:${port}/api/v1/deposits`, { key })).status),
      );
    try {
      expect(await statuses()).to.deep.equal([200, 200]);
      await setSubscription(deps, { merchantId, active: true, until: new Date(Date.now() - 1) });
      expect(await statuses()).to.deep.equal([403, 403]);
      const available = (await live.ledger())['available'] ?? 0n;
      const hash = await live.chain.usdt.call('transfer', [live.address, 3n * USDT_UNIT]);
      await live.chain.mine(7);
      for (const event of ['deposit.detected', 'deposit.confirming', 'deposit.completed'])
        await live.eventOf(event, hash);
      expect(((await live.ledger())['available'] ?? 0n) - available).to.equal(3n * USDT_UNIT);
      expect(await statuses()).to.deep.equal([403, 403]);
      await setSubscription(deps, { merchantId, active: true });
      expect(await statuses()).to.deep.equal([200, 200]);
    } finally {
      await setSubscription(deps, { merchantId, active: true });
      await server.close(1_000);
    }
  });
});
