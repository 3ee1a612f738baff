import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { createApp } from '../../../src/api/app.ts';
import { createServer } from '../../../src/api/server.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { setSubscription, updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { call } from '../../support/gateway.ts';

const PARALLEL = 20;
const FIT = 13;

describe("a merchant's subscription and monthly limit", function () {
  this.timeout(90_000);
  let live: LiveMoney;
  before(async () => {
    live = await startLiveMoney();
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

  it(`lets exactly ${FIT} of ${PARALLEL} simultaneous deposits complete where ${FIT} fit into the month, to the cent`, async () => {
    const { deps } = live.gateway;
    const counted = await deps.orm.em.fork().execute<{ sum: string }[]>(
      `select coalesce(sum(amount_usd_cents), 0)::text as sum from deposits
          where merchant_id = ? and status in ('completed', 'settled')`,
      [live.merchantId],
    );
    const limit = BigInt(counted[0]?.sum ?? '0') + BigInt(FIT) * 1_000n;
    await updateMerchant(deps, { merchantId: live.merchantId, monthlyLimitCents: limit });
    const customers = await Promise.all(Array.from({ length: PARALLEL }, () => live.newCustomer()));
    const hashes: string[] = [];
    for (const { address } of customers)
      hashes.push(await live.chain.usdt.call('transfer', [address, 10n * USDT_UNIT]));
    await live.chain.mine(7);
    const rows = await eventually(
      'every end',
      async () => {
        const all = (await Promise.all(hashes.map((hash) => live.deposits(hash)))).flat();
        return (
          all.length === PARALLEL &&
          all.every((row) => row['status'] === 'completed' || row['status'] === 'failed') &&
          all
        );
      },
      60_000,
    );
    const failed = rows.filter((row) => row['status'] === 'failed');
    expect(failed).to.have.length(PARALLEL - FIT);
    for (const row of failed) expect(row).to.include({ failure_code: 'MONTHLY_LIMIT' });
    const totals = await deps.orm.em.fork().execute<{ cents: string }[]>(
      `select sum(cents)::text as cents
           from (select completed_cents as cents from monthly_totals where merchant_id = ?
           union all select cents from monthly_changes where merchant_id = ?) c`,
      [live.merchantId, live.merchantId],
    );
    expect(totals).to.deep.equal([{ cents: limit.toString() }]);
    for (const row of failed) await live.eventOf('deposit.failed', String(row['transaction_hash']));
  });
});
