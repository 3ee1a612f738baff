import { openOrm } from '../src/db/orm.ts';
import { createMerchant } from '../src/services/merchants/merchants.ts';
import { depsOf } from './bench-deps.ts';
import { progressBar } from './progress-bar.ts';

/**
 * `history` false leaves out audit rows and ledger, five
 * sixths of all rows, where a bench reads deposits alone.
 */
export type SeedSize = { readonly customers: number; readonly deposits: number; readonly history?: boolean };

/** Whose data they are. `lastExternalId` counts customers from `user_1`. */
export type Seeded = { readonly merchantId: string; readonly key: string };

const CHUNK_ROWS = 20_000;
const CONNECTIONS = 2;
const STATEMENT_LIMIT_MS = 600_000;

/**
 * Fills a migrated, empty database with one merchant's live customers and deposits, as years of business
 * would have left them: with addresses, audit rows, a ledger that is balanced and counted, and totals of the
 * months, but without events and deliveries. Written in big statements with the triggers and foreign keys
 * asleep, so it needs a superuser and is for benches only. The bar on stderr shows rows/s and the time left.
 */
export async function seed(databaseUrl: string, size: SeedSize): Promise<Seeded> {
  const orm = await openOrm({
    url: databaseUrl,
    poolSize: CONNECTIONS,
    applicationName: 'seed',
    statementTimeoutMs: STATEMENT_LIMIT_MS,
  });
  try {
    const { merchantId, keys } = await createMerchant(depsOf(orm), {
      name: 'Bench',
      subscriptionActive: true,
    });
    const run = (sql: readonly string[], values: readonly unknown[]): Promise<void> =>
      orm.em.fork().transactional(async (em) => {
        await em.execute('set local session_replication_role = replica');
        await em.execute('set local synchronous_commit = off');
        for (const statement of sql) await em.execute(statement, named(statement, values));
      });
    await orm.em.fork().execute(SEED_ID);
    const indexes = await orm.em.fork().execute<Index[]>(INDEXES, TABLES);
    for (const { name } of indexes) await orm.em.fork().execute(`drop index ${name}`);
    for (const part of [
      { name: 'customers', rows: size.customers, sql: [CUSTOMERS, ADDRESSES] },
      {
        name: 'deposits',
        rows: size.deposits,
        sql: size.history === false ? [DEPOSITS] : [DEPOSITS, ...HISTORY],
      },
    ]) {
      await inChunks(part.name, part.rows, (from, to) =>
        run(part.sql, [merchantId, from, to, size.customers, size.deposits]),
      );
    }
    const bar = progressBar('indexes', indexes.length);
    for (const [done, { definition }] of indexes.entries()) {
      await orm.em.fork().execute(definition);
      bar.at(done + 1);
    }
    bar.done();
    await run([TOTALS, MONTHS, COUNTS, VOLUMES], [merchantId]);
    await orm.em.fork().execute(`select setval('wallet_index_seq', ?)`, [size.customers]);
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
  const bar = progressBar(name, rows);
  let begun = 0;
  let done = 0;
  const writer = async (): Promise<void> => {
    while (begun < rows) {
      const [from, to] = [begun + 1, Math.min(rows, begun + CHUNK_ROWS)];
      begun = to;
      await write(from, to);
      done += to - from + 1;
      bar.at(done);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, writer));
  bar.done();
}

const TABLES = [
  'customers',
  'deposit_addresses',
  'deposits',
  'deposit_transitions',
  'ledger_transactions',
  'ledger_entries',
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

/** The states that each deposit passed, in order. */
const STEPS = `
  select f.*, step.sequence, step.from_state, step.to_state from (${FACTS}) f,
    lateral (select * from (values (1, null, 'detected'), (2, 'detected', 'confirming'),
      (3, 'confirming', case when status in ('completed', 'settled') then 'completed' else status end),
        (4, 'completed', 'settled')) as way (sequence, from_state, to_state)
      where sequence <= case status when 'detected' then 1 when 'confirming' then 2 when 'settled' then 4
        else 3 end) step`;

const TRANSITIONS = `
insert into deposit_transitions (deposit_id, sequence, from_state, to_state, generation, failure_code, reason,
  at)
select id, sequence, from_state, to_state, 1, case to_state when 'failed' then 'BELOW_MINIMUM' end,
  case to_state when 'failed' then 'below the minimum' end, at
from (${STEPS}) s`;

const LEDGER_TRANSACTIONS = `
insert into ledger_transactions (id, deposit_id, number, kind, sequence, created_at)
select id_of_posting(d.created_at, s.id, s.sequence), s.id, s.sequence, 'deposit.' || to_state, s.sequence, at
from (${STEPS}) s join deposits d on d.id = s.id where to_state <> 'confirming'`;

const LEDGER_ENTRIES = `
insert into ledger_entries (transaction_id, line, merchant_id, mode, network, currency, account, amount_units)
select id_of_posting(d.created_at, s.id, s.sequence), line, ${MERCHANT}, 'live', s.network, s.currency,
  case line when 1 then from_account else to_account end, case line when 1 then -units else units end
from (${STEPS}) s join deposits d on d.id = s.id,
  lateral (select case to_state when 'detected' then 'chain' when 'settled' then 'available'
  else 'pending' end as from_account,
  case to_state when 'detected' then 'pending' when 'completed' then 'available' when 'settled' then 'settled'
    else 'held' end as to_account) accounts,
  generate_series(1, 2) line
where to_state <> 'confirming'`;

const HISTORY = [TRANSITIONS, LEDGER_TRANSACTIONS, LEDGER_ENTRIES];

const MONTHS = `
insert into monthly_totals (merchant_id, month, completed_cents)
select merchant_id, to_char(detected_at at time zone 'UTC', 'YYYY-MM'), sum(amount_usd_cents) from deposits
where merchant_id = ${MERCHANT} and status in ('completed', 'settled') group by 1, 2`;

const TOTALS = `
insert into balance_totals (merchant_id, mode, network, currency, account, amount_units, posted_at)
select merchant_id, mode, network, currency, account, sum(amount_units), now() from ledger_entries
  where merchant_id = ${MERCHANT} group by 1, 2, 3, 4, 5`;

const COUNTS = `
insert into row_counts (list, merchant_id, mode, rows) select 'customers', ${MERCHANT}, 'live', count(*)
  from customers
union all select 'deposits', ${MERCHANT}, 'live', count(*) from deposits`;

const VOLUMES = `
insert into daily_volumes (merchant_id, mode, day, cents, deposits)
select merchant_id, mode, (completed_at at time zone 'UTC')::date, sum(amount_usd_cents), count(*) from deposits
where merchant_id = ${MERCHANT} and status in ('completed', 'settled') group by 1, 2, 3`;
