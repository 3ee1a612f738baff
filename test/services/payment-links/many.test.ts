import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { rows, sql } from '../../../src/db/sql.ts';
import { versionOfShown } from '../../../src/services/deposits/shown-version.ts';
import { missedBy, openAmong } from '../../../src/services/payment-links/candidates.ts';
import { LATE_OF_LINK } from '../../../src/services/payment-links/present.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { statementsOf } from '../../support/statements.ts';

/** Beyond what one customer has in a life: nothing may be looked at one by one. */
const MANY = 2_000;

describe('a customer with very many links and payments', function () {
  this.timeout(120_000);
  let shop: Shop;
  let customerId: string;
  let database: FreshDatabase;
  let seeder: Orm;

  before(async () => {
    database = await migratedDatabase();
    shop = await startShop({ databaseUrl: database.url });
    // The tests' own connections end a statement early.
    const connection = { poolSize: 1, applicationName: 'seed', statementTimeoutMs: 0 };
    seeder = await openOrm({ url: database.url, ...connection });
  });
  after(async () => {
    await seeder?.close(true);
    await shop?.stop();
    await database?.drop();
  });
  const seed = (text: string, params: unknown[] = []) => seeder.em.fork().execute(text, params);
  beforeEach(async () => {
    customerId = await shop.customer();
  });
  const planOf = async (statement: ReturnType<typeof sql>) => {
    const lines = await rows(shop.deps.orm.em.fork(), sql<{ 'QUERY PLAN': string }>`explain ${statement}`);
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  };

  it('finds by indexes alone the open link whose amount it is, the oldest that wants money, and the one that late money missed', async () => {
    const oldest = await shop.link({ customerId, usd: '25', expiresInS: 600_000 });
    // Copies, each a second younger than the one before.
    await seed(
      `insert into payment_links select
         (jsonb_populate_record(l,
         jsonb_build_object('id', gen_random_uuid(), 'token', 'pl_' || md5(n::text || l.id::text),
         'created_at', l.created_at + n * interval '1 second', 'expires_at',
           l.expires_at + n * interval '1 second'))).*
       from payment_links l, generate_series(1, ${MANY}) n where l.id = ?`,
      [oldest.id],
    );
    await seed('analyze payment_links');
    shop.pass(MANY + 1);
    const exact = await shop.link({ customerId, usd: '40.01', expiresInS: 600 });
    for (const network of ['bsc', 'tron'] as const) {
      const id = await shop.pay(customerId, { coins: '40.01', network, state: 'detected' });
      expect(await shop.linkOf(id)).to.equal(exact.id);
      await shop.move(id, 'failed', 'REORGED');
    }
    const other = await shop.pay(customerId, { coins: '26', state: 'detected' });
    expect(await shop.linkOf(other)).to.equal(oldest.id);
    const money = { amountUnits: 10n ** 18n, decimals: 18, network: 'bsc', minedAt: shop.clock.now };
    const plans = [
      await planOf(openAmong([{ customerId, money }])),
      await planOf(missedBy({ customerId, money })),
    ].join('\n');
    expect(plans).to.not.match(/Seq Scan on payment_links/);
    for (const index of ['asked', 'wanting', 'open', 'missed', 'short'])
      expect(plans, index).to.include(`payment_links_${index}_index`);
    shop.pass(700_000);
    const late = await shop.pay(customerId, { coins: '40' });
    expect(await shop.linkOf(late)).to.equal(null);
    expect((await shop.row(exact.id)).late).to.equal(true);
  });

  it('looks at a link by indexes alone, also at very many deposits that came too late for it, and shows the twenty oldest', async () => {
    const many = await shop.link({ customerId });
    const few = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    const hash = `0x${'2b'.repeat(32)}`;
    await shop.pay(customerId, { coins: '25', hash });
    await shop.pay(few.customer_id, { coins: '25' });
    shop.pass(1);
    const again = await shop.pay(customerId, { coins: '7', state: 'detected' });
    await seed(
      `with made as (
        insert into deposits select (jsonb_populate_record(d,
          jsonb_build_object('id', gen_random_uuid(), 'transaction_hash', '0x' || md5('late' || n)))).*
        from deposits d, generate_series(1, ${MANY}) n where d.id = ? returning id
      ) insert into late_payments select id, ?, timestamptz '2100-01-01' from made`,
      [again, many.id],
    );
    for (const table of ['deposits', 'late_payments']) await seed(`analyze ${table}`);
    const { late_transactions: late } = await getPublicPayment(shop.deps, many.token);
    expect([late.length, late[0]?.transaction_hash]).to.deep.equal([20, hash]);
    const shown = versionOfShown(shop.deps, sql`where id in (select id from (${LATE_OF_LINK}) late)`);
    const plan = await planOf(sql`select l.id, late.deposits from payment_links l
      cross join lateral (${shown}) late where l.id in (${many.id}, ${few.id})`);
    expect(plan)
      .to.match(/late_payments_link_index/)
      .and.not.match(/Seq Scan on (late_payments|deposits)/);
  });

  it('takes as many statements for the last of very many small payments of one link as for the first', async () => {
    const wanted = async (payer: string) =>
      await shop.link({ customerId: payer, usd: '1000000', expiresInS: 600_000 });
    const [many, few] = [await wanted(customerId), await wanted(await shop.customer())];
    await shop.pay(few.customer_id, { coins: '0.01', state: 'detected' });
    const first = await shop.pay(customerId, { coins: '0.01', state: 'detected' });
    await seed(
      `insert into deposits select
       (jsonb_populate_record(d,
       jsonb_build_object('id', gen_random_uuid(), 'transaction_hash', '0x' || md5(n::text)))).*
       from deposits d, generate_series(1, ${MANY}) n where d.id = ?`,
      [first],
    );
    const { assignedUnits, openCount } = await shop.row(many.id);
    expect([assignedUnits, openCount]).to.deep.equal([BigInt(MANY + 1) * 10n ** 16n, MANY + 1]);
    const sent = await statementsOf(shop.deps.orm);
    const costs: number[] = [];
    for (const link of [many, few]) {
      sent.length = 0;
      const id = await shop.pay(link.customer_id, { coins: '0.01', state: 'confirming' });
      costs.push(sent.length);
      expect(await shop.linkOf(id)).to.equal(link.id);
    }
    expect(costs[0]).to.equal(costs[1]).and.be.above(5);
    expect((await shop.view(many.id)).transactions).to.have.length(100);
  });
});
