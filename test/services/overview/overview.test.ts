import { expect } from 'chai';
import { getBalance } from '../../../src/services/ledger/balances.ts';
import { readOverview } from '../../../src/services/overview/overview.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const NONE = { count: 0, at_least: false };
const some = (count: number) => ({ count, at_least: false });

describe('the overview of a merchant', function () {
  this.timeout(60_000);
  let shop: Shop;
  let merchantId: string;
  before(async () => {
    shop = await startShop();
  });
  beforeEach(async () => {
    shop.clock.now = new Date('2026-11-20T09:00:00Z');
    merchantId = (await shop.api.newMerchant()).id;
  });
  after(() => shop?.stop());

  const newCustomer = () => shop.customer('live', merchantId);
  const overview = (mode: 'live' | 'test' = 'live') => readOverview(shop.deps, { merchantId, mode });
  const waits = async (depositId: string, code: string, since: string) =>
    await shop.sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since,
         updated_at)
       select network, address_key, merchant_id, address, currency, ?, 'paused by root: secret', ?, now()
       from deposits where id = ?`,
      [code, since, depositId],
    );

  it('is whole and says nothing untrue where there is nothing yet', async () => {
    const scope = { merchantId, mode: 'live' } as const;
    const seen = await overview();
    expect(seen.balance).to.deep.equal(await getBalance(shop.deps, scope));
    expect(seen.deposits).to.deep.equal([]);
    expect(seen.waiting).to.deep.equal({
      unconfirmed: { ...NONE, oldest: null },
      unpaid: { ...NONE, oldest: null },
      why: [],
      failed: NONE,
      over_limit: NONE,
      open_links: NONE,
    });
    expect(seen.days.length).to.equal(30);
    expect(seen.endpoints).to.deep.equal([]);
  });

  it('shows the last ten deposits, and what waits for the chain, for a payout and for nobody', async () => {
    const customerId = await newCustomer();
    const oldest = await shop.pay(customerId, { coins: '1', state: 'confirming' });
    shop.pass(60);
    await shop.pay(customerId, { coins: '2', state: 'detected' });
    const ids: string[] = [];
    for (let count = 0; count < 11; count += 1) {
      shop.pass(1);
      ids.push(await shop.pay(customerId, { coins: '3' }));
    }
    for (const code of ['MONTHLY_LIMIT', 'BELOW_MINIMUM', 'MONTHLY_LIMIT'] as const) {
      const failed = await shop.pay(customerId, { coins: '5', state: 'confirming' });
      await shop.move(failed, 'failed', code);
    }
    await shop.link({ merchantId, customerId: await newCustomer() });
    await shop.link({ merchantId, customerId: await newCustomer() });
    const { waiting, deposits, days } = await overview();
    expect(deposits.length).to.equal(10);
    const times = deposits.map(({ detected_at: at }) => at);
    expect(times).to.deep.equal(times.toSorted().toReversed());
    expect(waiting).to.deep.equal({
      unconfirmed: { ...some(2), oldest: '2026-11-20T09:00:00Z' },
      unpaid: { ...some(11), oldest: '2026-11-20T09:01:01Z' },
      why: [],
      failed: some(3),
      over_limit: some(2),
      open_links: some(2),
    });
    expect(days.at(-1)).to.deep.equal({ day: '2026-11-20', deposits: 11, amount_usd: 33 });
    expect((await shop.deposit(oldest)).status).to.equal('confirming');
    expect((await overview('test')).waiting.unpaid.count).to.equal(0);
  });

  it('says in a merchant’s words why addresses are not paid out, the longest wait first', async () => {
    for (const [code, since] of [
      ['no_destination', '2026-11-19T00:00:00Z'],
      ['paused', '2026-11-18T00:00:00Z'],
      ['paused', '2026-11-20T00:00:00Z'],
    ] as const)
      await waits(await shop.pay(await newCustomer(), { coins: '1' }), code, since);
    const { why } = (await overview()).waiting;
    expect(why.map(({ code, who, addresses, since }) => ({ code, who, addresses, since }))).to.deep.equal([
      { code: 'paused', who: 'operator', addresses: some(2), since: '2026-11-18T00:00:00Z' },
      { code: 'no_destination', who: 'you', addresses: some(1), since: '2026-11-19T00:00:00Z' },
    ]);
    expect(JSON.stringify(why), 'what operators write to each other').to.not.match(/root|secret/);
    expect((await overview('test')).waiting.why).to.deep.equal([]);
  });
});
