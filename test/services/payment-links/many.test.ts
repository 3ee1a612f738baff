import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { rows, sql } from '../../../src/db/sql.ts';
import { versionOfShown } from '../../../src/services/deposits/shown-version.ts';
import { missedBy, openAmong } from '../../../src/services/payment-links/candidates.ts';
import { LATE_OF_LINK } from '../../../src/services/payment-links/present.ts';
import { getPublicPayment } from '../../../src/services/payment-links/public.ts';
import { changedLinks } from '../../../src/services/payment-links/versions.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

/** Beyond what one customer has in a life: nothing may be looked at one by one. */
const LINKS = 3_000;
const DEPOSITS = 10_000;
const LATE = 5_000;
const MEASURED = 25;

describe('a customer with very many links and payments', function () {
  this.timeout(120_000);
  let shop: Shop;
  let customerId: string;
  let database: FreshDatabase;
  let seeder: Orm;

  before(async () => {
    database = await freshDatabase();
    shop = await startShop({ databaseUrl: database.url });
    // The tests' own connections end a statement early.
    seeder = await openOrm({
      url: database.url,
      poolSize: 1,
      applicationName: 'seed',
      statementTimeoutMs: 0,
    });
  });
  after(async () => {
    await seeder?.close(true);
    await shop?.stop();
    await database?.drop();
  });
  const seed = (sql: string, params: unknown[]) => seeder.em.fork().execute(sql, params);
  beforeEach(async () => {
    customerId = await shop.customer();
  });

  /** Copies of a link, each a second younger than the one before. */
  async function copies(linkId: string, count: number): Promise<void> {
    await seed(
      `insert into payment_links select
         (jsonb_populate_record(l,
         jsonb_build_object('id', gen_random_uuid(), 'token', 'pl_' || md5(n::text || l.id::text),
         'created_at', l.created_at + n * interval '1 second', 'expires_at',
           l.expires_at + n * interval '1 second'))).*
       from payment_links l, generate_series(1, ${count}) n where l.id = ?`,
      [linkId],
    );
    await seed('analyze payment_links', []);
  }

  it('finds the open link whose amount it is, the oldest that wants money, and the one that late money missed', async () => {
    const oldest = await shop.link({ customerId, usd: '25', expiresInS: 600_000 });
    await copies(oldest.id, LINKS);
    shop.pass(LINKS + 1);
    const exact = await shop.link({ customerId, usd: '40.01', expiresInS: 600 });
    for (const network of ['bsc', 'tron'] as const) {
      const id = await shop.pay(customerId, { coins: '40.01', network, state: 'detected' });
      expect(await shop.linkOf(id)).to.equal(exact.id);
      await shop.move(id, 'failed', 'REORGED');
    }
    const other = await shop.pay(customerId, { coins: '26', state: 'detected' });
    expect(await shop.linkOf(other)).to.equal(oldest.id);
    shop.pass(700_000);
    const late = await shop.pay(customerId, { coins: '40' });
    expect(await shop.linkOf(late)).to.equal(null);
    expect((await shop.row(exact.id)).late).to.equal(true);
  });

  it('asks the links by their indexes alone', async () => {
    await copies((await shop.link({ customerId, expiresInS: 600_000 })).id, LINKS);
    const payment = {
      customerId,
      money: { amountUnits: 10n ** 18n, decimals: 18, network: 'bsc', minedAt: shop.clock.now },
    };
    const plans: string[] = [];
    for (const statement of [openAmong([payment]), missedBy(payment)]) {
      const lines = await rows(shop.deps.orm.em.fork(), sql<{ 'QUERY PLAN': string }>`explain ${statement}`);
      plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
    }
    for (const plan of plans) expect(plan).to.not.match(/Seq Scan on payment_links/);
    for (const index of ['asked', 'wanting', 'open', 'missed', 'short'])
      expect(plans.join('\n'), index).to.include(`payment_links_${index}_index`);
  });

  it('costs a look at a link no more for very many deposits that came too late for it', async () => {
    const many = await shop.link({ customerId });
    const few = await shop.link({ customerId: await shop.customer() });
    shop.pass(3_700);
    for (const { customer_id: payer } of [many, few]) await shop.pay(payer, { coins: '25' });
    const again = await shop.pay(customerId, { coins: '7', state: 'detected' });
    await seed(
      `with made as (
        insert into deposits select (jsonb_populate_record(d,
          jsonb_build_object('id', gen_random_uuid(), 'transaction_hash', '0x' || md5('late' || n)))).*
        from deposits d, generate_series(1, ${LATE}) n where d.id = ? returning id
      ) insert into late_payments select id, ?, now() from made`,
      [again, many.id],
    );
    for (const table of ['deposits', 'late_payments']) await seed(`analyze ${table}`, []);
    const middle = (took: number[]) => took.sort((a, b) => a - b)[Math.floor(MEASURED / 2)] ?? 0;
    const took = { many: [] as number[], few: [] as number[] };
    for (let count = 0; count < MEASURED; count += 1)
      for (const [name, { token }] of Object.entries({ many, few })) {
        const began = performance.now();
        expect((await changedLinks(shop.deps, new Map([[token, '']]))).size).to.equal(1);
        expect((await getPublicPayment(shop.deps, token)).late_transactions).not.to.have.length(0);
        took[name as keyof typeof took].push(performance.now() - began);
      }
    expect(middle(took.many)).to.be.lessThan(10 * middle(took.few) + 20);
    const which = sql`where id in (select id from (${LATE_OF_LINK}) late)`;
    const shown = versionOfShown(shop.deps, which);
    const lines = await rows(
      shop.deps.orm.em.fork(),
      sql<{ 'QUERY PLAN': string }>`explain analyze select l.id, late.deposits from payment_links l
        cross join lateral (${shown}) late where l.id in (${many.id}, ${few.id})`,
    );
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan)
      .to.match(/late_payments_link_index/)
      .and.not.match(/Seq Scan on (late_payments|deposits)/);
  });

  it('costs as much for the last of very many small payments of one link as for the first', async () => {
    const newLink = async (payer: string) => ({
      payer,
      took: [] as number[],
      link: await shop.link({ customerId: payer, usd: '1000000', expiresInS: 600_000 }),
    });
    const [many, few] = [await newLink(customerId), await newLink(await shop.customer())];
    const { link } = many;
    const first = await shop.pay(customerId, { coins: '0.01', state: 'detected' });
    await seed(
      `insert into deposits select
       (jsonb_populate_record(d,
       jsonb_build_object('id', gen_random_uuid(), 'transaction_hash', '0x' || md5(n::text)))).*
       from deposits d, generate_series(1, ${DEPOSITS}) n where d.id = ?`,
      [first],
    );
    await seed('analyze deposits', []);
    const { assignedUnits, openCount } = await shop.row(link.id);
    expect([assignedUnits, openCount]).to.deep.equal([BigInt(DEPOSITS + 1) * 10n ** 16n, DEPOSITS + 1]);
    // In turn, so that a busy moment of the machine meets both.
    for (let count = 0; count < MEASURED; count += 1)
      for (const { payer, link: wanted, took } of [many, few]) {
        const beganMs = performance.now();
        expect(await shop.linkOf(await shop.pay(payer, { coins: '0.01', state: 'confirming' }))).to.equal(
          wanted.id,
        );
        took.push(performance.now() - beganMs);
      }
    const medianMs = ({ took }: { took: number[] }) =>
      took.sort((a, b) => a - b)[Math.floor(MEASURED / 2)] ?? 0;
    expect(medianMs(many) / medianMs(few)).to.be.below(2);
    expect((await shop.view(link.id)).transactions).to.have.length(100);
  });
});
