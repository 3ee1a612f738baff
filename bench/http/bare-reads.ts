// What an engineer would write who has the same tables and needs
// the same answers, without keys, checks, limits and logs.
import Koa, { type Context } from 'koa';

type Row = Readonly<Record<string, unknown>>;
type Pool = { query(sql: string, values: readonly unknown[]): Promise<{ rows: Row[] }> };

/** The three reads as the plainest Koa application over pg. */
export function bareReads(pool: Pool, merchantId: string): Koa {
  const app = new Koa();
  const routes: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
    '/customers/exists': (context) => exists(pool, merchantId, context.query['external_id']),
    '/customers': () => customers(pool, merchantId),
    '/balance': () => balance(pool, merchantId),
  };
  app.use(async (context) => {
    context.body = await routes[context.path]?.(context);
  });
  return app;
}

async function exists(pool: Pool, merchantId: string, value: unknown): Promise<Row> {
  const sql =
    'select id, external_id, email from customers where merchant_id = $1 and mode = $2 and external_id = $3';
  const { rows } = await pool.query(sql, [merchantId, 'live', value]);
  return { exists: rows.length > 0, match: 'external_id', customer: rows[0] ?? null };
}

async function customers(pool: Pool, merchantId: string): Promise<Row> {
  const scope = [merchantId, 'live'];
  const page = await pool.query(
    'select * from customers where merchant_id = $1 and mode = $2 order by created_at desc, id desc limit 26 offset 0',
    scope,
  );
  const count = await pool.query(
    `select coalesce(sum(rows), 0)::int as total from (
       select rows from row_counts where list = 'customers' and merchant_id = $1 and mode = $2
       union all select rows from row_count_changes where list = 'customers' and merchant_id = $1
         and mode = $2
     ) as parts`,
    scope,
  );
  const rows = page.rows.slice(0, 25);
  const ids = rows.map((row) => row['id']);
  const addresses = await pool.query('select * from deposit_addresses where customer_id = any($1)', [ids]);
  const sums = await pool.query(
    `select customer_id, count(*)::int as deposits,
     coalesce(sum(amount_usd_cents) filter (where status in ('completed', 'settled')), 0)::text as cents
     from deposits where customer_id = any($1) group by customer_id`,
    [ids],
  );
  const data = rows.map((row) => {
    const sum = sums.rows.find((one) => one['customer_id'] === row['id']);
    return {
      id: row['id'],
      external_id: row['external_id'],
      email: row['email'],
      name: row['name'],
      metadata: row['metadata'],
      is_live: true,
      addresses: addresses.rows
        .filter((one) => one['customer_id'] === row['id'])
        .map((one) => ({
          network: one['network'],
          address: one['address'],
          currencies: ['USDT'],
          created_at: one['created_at'],
        })),
      deposit_count: sum?.['deposits'] ?? 0,
      total_deposited_usd: +String(sum?.['cents'] ?? 0) / 100,
      created_at: row['created_at'],
      updated_at: row['updated_at'],
    };
  });
  const total = +String(count.rows[0]?.['total']);
  return {
    data,
    has_more: page.rows.length > 25,
    pagination: { page: 1, limit: 25, total, total_pages: Math.ceil(total / 25) },
  };
}

async function balance(pool: Pool, merchantId: string): Promise<Row> {
  const { rows } = await pool.query(
    `select network, currency, account, sum(amount_units)::text as units, max(posted_at) as posted_at from (
       select network, currency, account, amount_units, posted_at from balance_totals
         where merchant_id = $1 and mode = $2
       union all
       select network, currency, account, amount_units, posted_at from balance_changes
         where merchant_id = $1 and mode = $2
     ) as parts group by network, currency, account`,
    [merchantId, 'live'],
  );
  return { is_live: true, currency: 'USD', balances: rows };
}
