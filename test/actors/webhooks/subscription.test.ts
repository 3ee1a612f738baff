import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { QUICK } from '../../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { createApp } from '../../../src/api/app.ts';
import { createServer } from '../../../src/api/server.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { setSubscription } from '../../../src/services/merchants/merchants.ts';
import { call } from '../../support/gateway.ts';

describe("a merchant's subscription", function () {
  this.timeout(90_000);
  let live: LiveMoney;
  before(async () => {
    live = await startLiveMoney({ settings: QUICK });
  });
  after(async () => {
    await live?.stop();
  });

  it('closes only the API when it lapses: what arrives is watched, credited and announced', async () => {
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
