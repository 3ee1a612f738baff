import { randomUUID } from 'node:crypto';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { createCustomer, createEndpoint, simulateDeposit } from '../../../dev/support/use-cases.ts';
import type { SimulatedOutcome } from '../../../src/domain/deposit.ts';
import type { Deps, ServiceSettings } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { testDeps } from '../../support/gateway.ts';

export type Calendar = Awaited<ReturnType<typeof startCalendar>>;

/** A merchant with one customer and one endpoint, on a real database, by a clock that the test sets. */
export async function startCalendar(at: string, settings: Partial<ServiceSettings> = {}) {
  const database = await migratedDatabase();
  let nowMs = Date.parse(at);
  // Making and dropping a year of partitions takes a busy machine longer than statements of tests have.
  const deps: Deps = await testDeps(database.url, [], {
    deps: { now: () => new Date(nowMs) },
    settings,
    poolSize: 10,
    statementTimeoutMs: 15_000,
  });
  const sql = <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    deps.orm.em.fork().execute<T[]>(text, values);
  await beginWithMonthsOf(deps, at);
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'test' as const };
  const endpoint = await createEndpoint(deps, {
    ...scope,
    url: 'http://127.0.0.1:9/hook',
    events: ['*'],
    description: null,
  });
  const newCustomer = () =>
    createCustomer(deps, { ...scope, externalId: randomUUID(), email: null, name: null, metadata: {} });
  const customer = await newCustomer();
  return {
    deps,
    sql,
    scope,
    endpointId: endpoint.id,
    newCustomer,
    databaseUrl: database.url,
    now: () => new Date(nowMs),
    setClock: (to: string | number) => {
      nowMs = typeof to === 'number' ? to : Date.parse(to);
    },
    simulate: async (outcome: SimulatedOutcome, transactionHash?: string) => {
      const made = await simulateDeposit(deps, {
        merchantId,
        customerId: customer.id,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: 10n ** 19n,
        outcome,
        events: 'full',
        transactionHash,
      });
      if (!made) throw new Error('no deposit');
      return made.deposit;
    },
    /** Every delivery has come to this end. */
    finish: (status: 'succeeded' | 'failed') =>
      sql(
        `with ended as (update webhook_deliveries set status = ?, next_attempt_at = null,
         finished_at = created_at where status = 'pending' returning id, round)
         insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, status_code,
           response_body)
         select id, round, 1, now(), now(), 200, 'thanks' from ended`,
        [status],
      ),
    /** How many rows lie in each partition of a table, by its name; those without any are left out. */
    rowsByPartition: (table: string) => countByPartition(deps, table),
    stop: async () => {
      await deps.orm.close(true);
      await database.drop();
    },
  };
}

/** The migration makes the months of the database's own clock; a test begins with those of its own. */
async function beginWithMonthsOf(deps: Deps, at: string): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('set local statement_timeout = 0');
    const tables = await em.execute<{ name: string }[]>(
      `select relname as name from pg_class where relispartition and relkind = 'r'`,
    );
    await em.execute(`drop table ${tables.map(({ name }) => name).join(', ')} cascade`);
    await em.execute('delete from partition_months');
    const month = `date_trunc('month', ?::timestamptz at time zone 'UTC')`;
    await em.execute(`select make_months(${month}::date, (${month} + interval '3 months')::date)`, [at, at]);
  });
}

async function countByPartition(deps: Deps, table: string): Promise<Record<string, number>> {
  const found = await deps.orm.em
    .fork()
    .execute<{ name: string; rows: number }[]>(
      `select tableoid::regclass::text as name, count(*)::int as rows from ${table} group by 1`,
    );
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]));
}
