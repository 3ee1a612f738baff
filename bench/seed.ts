import { openOrm } from '../src/db/orm.ts';
import { createMerchant } from '../src/services/merchants/merchants.ts';
import { inParallel } from './bench.ts';
import { depsOf } from './deps.ts';

export type SeedSize = { readonly customers: number; readonly deposits: number };

/** Whose data they are. Customers are `user_1` and so on. */
export type Seeded = { readonly merchantId: string; readonly key: string };

const CHUNK_ROWS = 20_000;
const CONNECTIONS = 2;
const SAY_EVERY_MS = 5_000;
const STATEMENT_LIMIT_MS = 600_000;

/**
 * Fills a migrated, empty database with one merchant's live customers and deposits, as years of business
 * would have left them: with addresses, the totals of a ledger and those of months and days, but without the
 * rows of a ledger and of the audit, events and deliveries, which no bench reads. Written in big statements
 * with the triggers and foreign keys asleep, so it needs a superuser and is for benches only. Stderr shows
 * rows/s and the time left.
 */
export async function seed(databaseUrl: string, size: SeedSize): Promise<Seeded> {
  const orm = await openOrm({
    url: databaseUrl,
    poolSize: CONNECTIONS,
    applicationName: 'seed',
    statementTimeoutMs: STATEMENT_LIMIT_MS,
  });
  try {
    const merchant = { name: 'Bench', subscriptionActive: true };
    const { merchantId, keys } = await createMerchant(depsOf(orm), merchant);
    const run = (sql: readonly string[], values: readonly unknown[]): Promise<void> =>
      orm.em.fork().transactional(async (em) => {
        await em.execute('set local session_replication_role = replica');
        await em.execute('set local synchronous_commit = off');
        for (const statement of sql) await em.execute(statement, named(statement, values));
      });
    await orm.em.fork().execute(SEED_ID);
    const indexes = await orm.em.fork().execute<Index[]>(INDEXES, TABLES);
    for (const { name } of indexes) await orm.em.fork().execute(`drop index ${name}`);
    const { customers, deposits } = size;
    const write = (sql: readonly string[]) => (from: number, to: number) =>
      run(sql, [merchantId, from, to, customers, deposits]);
    await inChunks('customers', customers, write([CUSTOMERS, ADDRESSES]));
    await inChunks('deposits', deposits, write([DEPOSITS]));
    const tell = teller('indexes', indexes.length);
    for (const { definition } of indexes) {
      await orm.em.fork().execute(definition);
      tell(1);
    }
    await run([TOTALS, MONTHS, COUNTS, VOLUMES], [merchantId]);
    await orm.em.fork().execute(`select setval('wallet_index_seq', ?)`, [customers]);
    await orm.em.fork().execute('drop function seed_id(text, bigint)');
    for (const table of TABLES) await orm.em.fork().execute(`vacuum analyze ${table}`);
    return { merchantId, key: keys.live };
  } finally {
    await orm.close(true);
  }
}

/** Chunk after chunk, as many at a time as there are connections. */
async function inChunks(
  name: string,
  rows: number,
  write: (from: number, to: number) => Promise<void>,
): Promise<void> {
  const tell = teller(name, rows);
  await inParallel(Math.ceil(rows / CHUNK_ROWS), CONNECTIONS, async (chunk) => {
    const from = chunk * CHUNK_ROWS + 1;
    const to = Math.min(rows, from + CHUNK_ROWS - 1);
    await write(from, to);
    tell(to - from + 1);
  });
}

/** Says on stderr how much is done, how fast, and how long the rest will take. */
function teller(name: string, total: number): (more: number) => void {
  const began = performance.now();
  let [done, saidAt] = [0, began];
  return (more) => {
    done += more;
    if (done < total && performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    const rate = done / ((saidAt - began) / 1_000);
    const left = Math.ceil((total - done) / rate);
    process.stderr.write(`  ${name}: ${done} of ${total}, ${Math.round(rate)} rows/s, ${left} s left\n`);
  };
}

const TABLES = [
  'customers',
  'deposit_addresses',
  'deposits',
  'balance_totals',
  'monthly_totals',
  'row_counts',
  'daily_volumes',
];

type Index = { readonly name: string; readonly definition: string };

/** What holds no constraint is made anew at the end: that is several times faster. */
const INDEXES = `
select i.indexname as name, i.indexdef as definition from pg_indexes i
where i.tablename in (${TABLES.map(() => '?').join(', ')})
  and not exists (select from pg_constraint c where c.conindid = i.indexname::regclass)`;

/**
 * The driver knows only nameless places, so each says
 * beside it in a comment which of the values it stands for.
 */
function named(sql: string, values: readonly unknown[]): unknown[] {
  return [...sql.matchAll(/\?\/\*(\d)\*\//g)].map(([, place]) => values[Number(place) - 1]);
}

const [MERCHANT, FROM, TO, ALL_CUSTOMERS, ALL_DEPOSITS] = [
  '?/*1*/::uuid',
  '?/*2*/::int',
  '?/*3*/::int',
  '?/*4*/::int',
  '?/*5*/::int',
];

/**
 * A UUID of version 8 that is made from a number, so that rows can name each other without being
 * looked up. It rises with the number: a million random ones would be written all over every index.
 */
const SEED_ID = `
create or replace function seed_id(kind text, n bigint) returns uuid language sql immutable as $$
  select (lpad(to_hex(n), 8, '0') || overlay(overlay(substr(md5(kind || n), 9) placing '8' from 5) placing 'a'
    from 9))::uuid
$$`;

const CUSTOMERS = `
insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index, created_at,
  updated_at)
select seed_id('customer', n), ${MERCHANT}, 'live', 'user_' || n, 'user_' || n || '@example.com',
  'User ' || n, '{"plan":"basic"}', n, at, at
from generate_series(${FROM}, ${TO}) n,
  lateral (select now() - interval '1 year' + n * interval '1 second' as at) times`;

// No key stands behind these addresses: nothing of a bench reads a chain.
const ADDRESSES = `
insert into deposit_addresses (id, customer_id, merchant_id, mode, network, address, address_key, created_at)
select seed_id(network, n), seed_id('customer', n), ${MERCHANT}, 'live', network,
  case network when 'bsc' then '0x' || key else 'T' || substr(key, 1, 33) end, key,
    now() - interval '1 year' + n * interval '1 second'
from generate_series(${FROM}, ${TO}) n, unnest(array['bsc', 'tron']) network,
  lateral (select md5(network || n) || substr(md5(n || network), 1, 8) as key) keys`;

/** Nine tenths completed, some of every other state; four assets; an amount of 1 to 100 coins with cents. */
const FACTS = `
  select n, seed_id('deposit', n) as id, c.customer, a.network, a.currency, a.scale,
    (100 + (n * 7919::bigint) % 9901) * a.scale / 100 as units,
    case when a.currency = 'USDT' then 1 when a.currency = 'BNB' then 600 else 0.3 end * 100000000 as rate,
    case n % 100 when 0 then 'detected' when 1 then 'confirming' when 2 then 'failed'
      else case when n % 100 < 10 then 'settled' else 'completed' end end as status,
    now() - (${ALL_DEPOSITS} - n) * interval '20 seconds' as at
  from generate_series(${FROM}, ${TO}) n,
    lateral (select 1 + (n * 7919::bigint) % ${ALL_CUSTOMERS} as customer) c,
    lateral (select * from (values (0, 'bsc', 'USDT', 1e18), (1, 'tron', 'USDT', 1e6),
      (2, 'bsc', 'USDT', 1e18), (3, 'bsc', 'BNB', 1e18), (4, 'tron', 'TRX', 1e6))
      as assets (k, network, currency, scale) where k = n % 5) a`;

const DEPOSITS = `
insert into deposits (id, merchant_id, customer_id, mode, network, currency, contract_address, address,
  address_key, from_address, transaction_hash,
  block_number, block_hash, amount_units, amount_usd_cents, rate_units, rate_source, rate_at, status,
    state_since, failure_code, failure_reason,
  generation, sequence, posting_count, simulated, required_confirmations, verified_at, mined_at, detected_at,
    completed_at, settled_at, created_at, updated_at)
select f.id, ${MERCHANT}, seed_id('customer', customer), 'live', network, currency,
  case when currency = 'USDT' then 'contract' end,
  case network when 'bsc' then '0x' || key else 'T' || substr(key, 1, 33) end, key, null,
  case network when 'bsc' then '0x' else '' end || lpad(to_hex(n), 32, '0') || md5('hash ' || n), n,
    '0x' || md5('block ' || n) || md5('block2 ' || n),
  units, round(units * rate / scale / 1000000), rate, 'seed', at, status, at,
  case status when 'failed' then 'BELOW_MINIMUM' end, case status when 'failed' then 'below the minimum' end,
  1, case status when 'detected' then 1 when 'confirming' then 2 when 'settled' then 4 else 3 end, 4, false,
    15, at, at, at,
  case when status in ('completed', 'settled') then at end, case status when 'settled' then at end, at, at
from (${FACTS}) f, lateral (select md5(network || customer) || substr(md5(customer || network), 1, 8) as key)
  keys`;

const MONTHS = `
insert into monthly_totals (merchant_id, month, completed_cents)
select merchant_id, to_char(detected_at at time zone 'UTC', 'YYYY-MM'), sum(amount_usd_cents) from deposits
where merchant_id = ${MERCHANT} and status in ('completed', 'settled') group by 1, 2`;

/** What the ledger would come to: each deposit on its account, and less on that of the chain. */
const TOTALS = `
insert into balance_totals (merchant_id, mode, network, currency, account, amount_units, posted_at)
select ${MERCHANT}, 'live', network, currency, account, sum(units), now() from (
  select network, currency, amount_units as units, case status when 'completed' then 'available'
    when 'settled' then 'settled' when 'failed' then 'held' else 'pending' end as account
  from deposits where merchant_id = ${MERCHANT}
  union all select network, currency, -amount_units, 'chain' from deposits where merchant_id = ${MERCHANT}
) parts group by 3, 4, 5`;

const COUNTS = `
insert into row_counts (list, merchant_id, mode, rows) select 'customers', ${MERCHANT}, 'live', count(*)
  from customers
union all select 'deposits', ${MERCHANT}, 'live', count(*) from deposits`;

const VOLUMES = `
insert into daily_volumes (merchant_id, mode, day, cents, deposits)
select merchant_id, mode, (completed_at at time zone 'UTC')::date, sum(amount_usd_cents), count(*) from deposits
where merchant_id = ${MERCHANT} and status in ('completed', 'settled') group by 1, 2, 3`;
