import { expect } from 'chai';
import fc from 'fast-check';
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

/**
 * Whoever counts first under a limit is over before the
 * next one looks; whoever has no limit waits for nobody.
 */
describe('the monthly limit', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customer: string;
  before(async () => {
    shop = await startShop();
    customer = await shop.customer();
  });
  after(() => shop?.stop());
  beforeEach(async () => {
    await limitTo(null);
    await shop.sql('delete from monthly_changes');
    await shop.sql('delete from monthly_totals');
  });

  const limitTo = (cents: bigint | null) =>
    updateMerchant(shop.deps, { merchantId: shop.merchantId, monthlyLimitCents: cents });
  const arrived = (coins: string) => shop.pay(customer, { coins, state: 'confirming' });
  const take = async (em: Em, id: string) => await takeMonthlyLimit(em, await em.findOneOrFail(Deposit, id));
  const taken = async (id: string) => await shop.deps.orm.em.fork().transactional((em) => take(em, id));
  const counted = async () =>
    (
      await shop.sql<{ cents: string }>(
        `select coalesce(sum(cents), 0)::text as cents
          from (select completed_cents as cents from monthly_totals union all select cents
          from monthly_changes) c`,
      )
    )[0]?.cents;

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
    const em = shop.deps.orm.em.fork();
    await em.begin();
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

  it('makes nobody wait where there is none', async () => {
    const [one, other] = [await arrived('6'), await arrived('6')];
    const em = shop.deps.orm.em.fork();
    await em.begin();
    expect(await take(em, one)).to.equal(true);
    expect(await taken(other)).to.equal(true);
    await em.commit();
    expect(await counted()).to.equal('1200');
  });

  it('knows what was completed in the month before it was set, also by a transaction that was not over', async () => {
    const [one, other] = [await arrived('6'), await arrived('6')];
    const em = shop.deps.orm.em.fork();
    await em.begin();
    expect(await take(em, one)).to.equal(true);
    let set = false;
    const setting = limitTo(1_000n).then(() => {
      set = true;
    });
    await eventually('the wait of the new limit', async () => {
      const [row] = await shop.sql<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`,
      );
      return row?.n === 1;
    });
    expect(set).to.equal(false);
    await em.commit();
    await setting;
    expect(await taken(other)).to.equal(false);
  });

  it('gets an amount back although nothing of the month was folded yet, and although its total is being made at that moment', async () => {
    const id = await arrived('6');
    await taken(id);
    await shop.sql("update deposits set status = 'completed', sequence = sequence + 1 where id = ?", [id]);
    await limitTo(1_000n);
    const em = shop.deps.orm.em.fork();
    await em.begin();
    expect(await take(em, await arrived('4'))).to.equal(true);
    await shop.deps.orm.em
      .fork()
      .transactional(async (inner) => giveBackMonthlyLimit(inner, await inner.findOneOrFail(Deposit, id)));
    await em.commit();
    await foldMonths(shop.deps);
    expect(await shop.sql('select completed_cents::text as cents from monthly_totals')).to.deep.equal([
      { cents: '400' },
    ]);
  });

  it('sums no deposits when the first one of a month is completed', async () => {
    await limitTo(100_000n);
    const id = await arrived('1');
    await shop.deps.orm.em.fork().transactional(async (em) => {
      const deposit = await em.findOneOrFail(Deposit, id);
      const scanned = async () =>
        (
          await em.execute<{ n: string }[]>(
            `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text as n
              from pg_stat_xact_user_tables where relname = 'deposits'`,
          )
        )[0]?.n;
      const before = await scanned();
      expect(await takeMonthlyLimit(em, deposit)).to.equal(true);
      // The foreign key of the new row looks one deposit up.
      expect(Number(await scanned()) - Number(before)).to.be.at.most(1);
    });
  });

  it('counts every completion once, whatever is folded, limited or given back in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({ do: fc.constant('take' as const), cents: fc.integer({ min: 1, max: 900 }) }),
            fc.record({
              do: fc.constant('limit' as const),
              cents: fc.option(fc.integer({ min: 0, max: 2_000 })),
            }),
            fc.constant({ do: 'fold' as const, cents: 0 }),
            fc.constant({ do: 'back' as const, cents: 0 }),
          ),
          { maxLength: 12 },
        ),
        async (steps) => {
          await shop.sql('delete from monthly_changes');
          await shop.sql('delete from monthly_totals');
          let sum = 0;
          let limit: number | null = null;
          const completed: { id: string; cents: number }[] = [];
          await limitTo(null);
          for (const step of steps) {
            if (step.do === 'limit') {
              limit = step.cents;
              await limitTo(limit === null ? null : BigInt(limit));
            } else if (step.do === 'fold') await foldMonths(shop.deps);
            else if (step.do === 'take') {
              const id = await arrived((step.cents / 100).toFixed(2));
              const fits: boolean = limit === null || sum + step.cents <= limit;
              expect(await taken(id)).to.equal(fits);
              if (!fits) continue;
              sum += step.cents;
              completed.push({ id, cents: step.cents });
              await shop.sql(
                "update deposits set status = 'completed', sequence = sequence + 1 where id = ?",
                [id],
              );
            } else {
              const last = completed.pop();
              if (!last) continue;
              const em = shop.deps.orm.em.fork();
              await em.transactional(async (inner) =>
                giveBackMonthlyLimit(inner, await inner.findOneOrFail(Deposit, last.id)),
              );
              sum -= last.cents;
            }
            expect(await counted()).to.equal(String(sum));
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});
