import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import type { Em } from '../../../src/db/orm.ts';
import {
  foldMonths,
  giveBackMonthlyLimit,
  takeMonthlyLimit,
} from '../../../src/services/deposits/monthly-limit.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const BUSY = '55P03';

describe('the monthly limit', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customer: string;
  before(async () => {
    shop = await startShop();
    customer = await shop.customer();
  });
  after(() => shop?.stop());
  const begin = async () => {
    await limitTo(null);
    for (const table of ['monthly_changes', 'monthly_totals']) await shop.sql(`delete from ${table}`);
  };
  beforeEach(begin);

  const limitTo = (cents: bigint | null) =>
    updateMerchant(shop.deps, { merchantId: shop.merchantId, monthlyLimitCents: cents });
  const arrived = (coins: string) => shop.pay(customer, { coins, state: 'confirming' });
  const take = async (em: Em, id: string) => await takeMonthlyLimit(em, await em.findOneOrFail(Deposit, id));
  const taken = async (id: string) => await shop.deps.orm.em.fork().transactional((em) => take(em, id));
  const counted = async () => {
    const [row] = await shop.sql<{ cents: string }>(
      `select coalesce(sum(cents), 0)::text as cents from (
         select completed_cents as cents from monthly_totals union all select cents from monthly_changes) c`,
    );
    return row?.cents;
  };
  const begun = async () => {
    const em = shop.deps.orm.em.fork();
    await em.begin();
    return em;
  };
  const completed = (id: string) =>
    shop.sql("update deposits set status = 'completed', sequence = sequence + 1 where id = ?", [id]);
  const giveBack = (id: string) =>
    shop.deps.orm.em
      .fork()
      .transactional(async (em) => giveBackMonthlyLimit(em, await em.findOneOrFail(Deposit, id)));

  it('lets exactly one of two simultaneous deposits cross it, and the other one comes back instead of waiting', async () => {
    await limitTo(1_000n);
    const [one, other] = [await arrived('6'), await arrived('6')];
    // The month has begun: of two that begin it at once, the other
    // one waits for as long as its connection waits for any lock.
    await shop.sql(
      `insert into monthly_totals (merchant_id, month, completed_cents)
        select merchant_id, to_char(detected_at at time zone 'UTC', 'YYYY-MM'), 0 from deposits where id = ?`,
      [one],
    );
    const em = await begun();
    expect(await take(em, one)).to.equal(true);
    const busy = await shop.deps.orm.em
      .fork()
      .transactional(async (another) => {
        // Whoever waits for the lock then waits for longer than a statement may take.
        await another.execute('set local lock_timeout = 0');
        return await take(another, other);
      })
      .catch((error: Error & { code?: string }) => error.code);
    expect(busy).to.equal(BUSY);
    await em.commit();
    expect(await taken(other)).to.equal(false);
    expect(await counted()).to.equal('600');
    expect(await taken(await arrived('4')), 'reaching it exactly is allowed').to.equal(true);
  });

  it('knows what was completed in the month before it was set, also by a transaction that was not over', async () => {
    const [one, other] = [await arrived('6'), await arrived('6')];
    const em = await begun();
    expect(await take(em, one)).to.equal(true);
    let set = false;
    const setting = limitTo(1_000n).then(() => {
      set = true;
    });
    await eventually('the wait of the new limit', async () => {
      const waiting = await shop.sql(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return waiting.length === 1;
    });
    expect(set).to.equal(false);
    await em.commit();
    await setting;
    expect(await taken(other)).to.equal(false);
  });

  it('gets an amount back although nothing of the month was folded yet, and although its total is being made at that moment', async () => {
    const id = await arrived('6');
    await taken(id);
    await completed(id);
    await limitTo(1_000n);
    const em = await begun();
    expect(await take(em, await arrived('4'))).to.equal(true);
    await giveBack(id);
    await em.commit();
    await foldMonths(shop.deps);
    expect(await shop.sql('select completed_cents::text as cents from monthly_totals')).to.deep.equal([
      { cents: '400' },
    ]);
  });
});
