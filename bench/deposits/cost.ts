// What one deposit with one webhook endpoint costs, by part.
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { runCommand } from '../../dev/demo/gateway-process.ts';
import { startTestChain, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { byTheClock, numberOf, type Row, told } from '../bench.ts';
import { type Costs, measureCosts } from '../process-costs.ts';
import { gatewayRole, postgresServer, roleEnv, temporalServer } from '../servers.ts';
import { createApi, type Json } from '../soak/api.ts';

const DEPOSITS = numberOf('BENCH_COST_DEPOSITS', 600);
const [CUSTOMERS, LINKS, READS] = [200, 200, 2_000];
/** What the first use of anything costs a process is no cost of a deposit. */
const WARM_UP = 60;
const IDLE_MS = 60_000;
const BLOCK_MS = 450;
const PER_BLOCK = 2;
const LIMIT_MS = 10 * 60_000;
const MIGHT_BE_AWAY_MS = 60_000;
/** A question to the whole database costs the server something too, though nothing that is counted. */
const LOOK_EVERY_MS = 1_000;
/** After the last delivery the actors end, and Temporal notes it. */
const REST_MS = 5_000;

/** What a deposit, a customer and a payment link are served by, besides the API. */
const PARTS = [
  'worker',
  'PostgreSQL for the gateway',
  'Temporal',
  'PostgreSQL for Temporal',
  'PostgreSQL for both (log, checkpoints, vacuum)',
];
const ALL = ['api', ...PARTS];

type Stage = Awaited<ReturnType<typeof setStage>>;
type Paid = { readonly id: string; readonly address: string };
/** What was used and written while something was done, of which `count` is one. */
type Usage<T = unknown> = {
  readonly costs: Costs;
  readonly bytes: ReadonlyMap<string, number>;
  readonly ms: number;
  readonly count: number;
  readonly result: T;
};

/**
 * The gateway role by role on the production Temporal server, each a process of its own, with blocks that
 * come as on BNB Chain. What the parts use and write while blocks come and nothing is paid is measured first
 * and taken off. It is time of processors, which other load on the machine changes little; only an
 * API that is too slow to answer spoils it, and then this throws. The API has no part in a
 * deposit: told are what it and the others spend on a new customer, a read and a new payment
 * link. PostgreSQL runs without fsync, which saves it waiting and no work worth counting.
 */
export async function run(): Promise<Row[]> {
  const stage = await setStage();
  try {
    return await measure(stage);
  } finally {
    await stage.stop();
  }
}

/** A chain, the two databases' server, Temporal, a receiver and the gateway in two roles, each by itself. */
async function setStage() {
  const [folder, log] = [await tempDir('cost'), () => undefined];
  const chain = await startTestChain();
  const postgres = await postgresServer(folder, log);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer: false, log });
  const env: NodeJS.ProcessEnv = {
    ...roleEnv(postgres.url),
    TEMPORAL_ADDRESS: temporal.address,
    BSC_RPC_URLS: chain.url,
    BSC_USDT_CONTRACT: chain.usdt.address,
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
  };
  await runCommand(['migrate'], env);
  const merchant = await runCommand(['merchant', 'create', '--name', 'Shop'], env);
  const receiver = await startReceiver({});
  const api = await gatewayRole({ name: 'api', role: 'api', folder, env });
  const worker = await gatewayRole({ name: 'worker-1', role: 'worker', folder, env });
  // One connection, whose process is left out of the figures.
  const own = { pool: { min: 1, max: 1 }, discovery: { warnWhenNoEntities: false } };
  const orm = await MikroORM.init({ clientUrl: postgres.url, entities: [], ...own });
  return {
    chain,
    receiver,
    parts: { api, worker, temporal, postgres },
    client: createApi(api.api, MIGHT_BE_AWAY_MS),
    key: (merchant['keys'] as { live: string }).live,
    sql: <T>(text: string) => orm.em.fork().execute<T[]>(text),
    stop: async () => {
      await orm.close(true);
      for (const part of [api, worker, temporal, postgres]) await part.stop();
      await receiver.stop();
      await chain.stop();
    },
  };
}

async function measure(stage: Stage): Promise<Row[]> {
  const { client, key } = stage;
  await client.call('POST', '/webhook-endpoints', key, { url: stage.receiver.url, events: ['*'] });
  const known = await makeCustomers(stage, 'warm', WARM_UP);
  const reads = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await ask(stage, 'GET', `/customers/${known[index % WARM_UP]?.id}`);
  };
  await reads(READS / 4);
  await makeLinks(stage, known, WARM_UP);
  const mining = minePayments(stage.chain);
  mining.pay(await makeCustomers(stage, 'early', WARM_UP), WARM_UP);
  await settled(stage, WARM_UP);
  const idle = await usageOf(stage, 1, () => sleep(IDLE_MS));
  const customers = await usageOf(stage, CUSTOMERS, async () => {
    const made = await makeCustomers(stage, 'user', CUSTOMERS);
    await settled(stage);
    return made;
  });
  const read = await usageOf(stage, READS, () => reads(READS));
  const deposits = await usageOf(stage, DEPOSITS, async () => {
    mining.pay(customers.result, DEPOSITS);
    await settled(stage, WARM_UP + DEPOSITS);
  });
  const links = await usageOf(stage, LINKS, async () => {
    await makeLinks(stage, known, LINKS);
    await settled(stage);
  });
  await mining.end();
  const share = (part: string) => `${(((idle.costs.get(part) ?? 0) / idle.ms) * 100_000).toFixed(1)} %`;
  return [
    told(`deposits, over ${(deposits.ms / 1_000).toFixed(0)} s`, DEPOSITS),
    ...processorRows('one deposit', PARTS, deposits, idle),
    ...processorRows('one new customer', ALL, customers, idle),
    ...processorRows('one read of a customer', ['api', 'PostgreSQL for the gateway'], read, idle),
    ...processorRows('one new payment link', ALL, links, idle),
    ...ALL.map((part) => told(`share of a core while blocks come and nothing is paid, ${part}`, share(part))),
    ...byteRows('one deposit', deposits, idle),
    ...byteRows('one new customer', customers, idle),
    ...byteRows('one new payment link', links, idle),
  ];
}

/** Does the work, and tells what each part used and each table grew by meanwhile. */
async function usageOf<T>(stage: Stage, count: number, work: () => Promise<T>): Promise<Usage<T>> {
  const { api, worker, temporal, postgres } = stage.parts;
  const parts = {
    api: api.pid(),
    worker: worker.pid(),
    Temporal: temporal.pid(),
    PostgreSQL: postgres.pid(),
  };
  const [own] = await stage.sql<{ pid: number }>('select pg_backend_pid() as pid');
  const before = await sizes(stage);
  const began = Date.now();
  const [costs, result] = await measureCosts(parts, new Set([own?.pid ?? 0]), work);
  const ms = Date.now() - began;
  const bytes = new Map(
    [...(await sizes(stage))].map(([name, size]) => [name, size - (before.get(name) ?? 0)]),
  );
  return { costs, bytes, ms, count, result };
}

/** For one of them, without what would have been there in any case. */
function netOf(name: string, kind: 'costs' | 'bytes', usage: Usage, idle: Usage): number {
  const inAnyCase = ((idle[kind].get(name) ?? 0) * usage.ms) / idle.ms;
  return ((usage[kind].get(name) ?? 0) - inAnyCase) / usage.count;
}

function processorRows(what: string, parts: readonly string[], usage: Usage, idle: Usage): Row[] {
  const msOf = (part: string): number => netOf(part, 'costs', usage, idle) * 1_000;
  const all = parts.reduce((sum, part) => sum + msOf(part), 0);
  return [
    ...parts.map((part) => told(`processor time of ${what}, ${part}`, `${msOf(part).toFixed(2)} ms`)),
    told(`processor time of ${what}, all of these`, `${all.toFixed(2)} ms`),
  ];
}

/** Tables grow by whole pages, so what is less than a byte for one is left out. */
function byteRows(what: string, usage: Usage, idle: Usage): Row[] {
  const found = [...usage.bytes.keys()]
    .map((name) => [name, netOf(name, 'bytes', usage, idle)] as const)
    .filter(([, bytes]) => bytes >= 1)
    .sort(([, a], [, b]) => b - a);
  const all = found.reduce((sum, [, bytes]) => sum + bytes, 0);
  return [
    ...found.map(([name, bytes]) => told(`bytes of ${what}, ${name}`, bytes.toFixed(0))),
    told(`bytes of ${what}, all`, all.toFixed(0)),
  ];
}

/** Bytes with indexes: each table of the gateway (a partitioned one as one), and each store of Temporal. */
async function sizes({ sql }: Stage): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; bytes: string }>(
    `select coalesce((select parent.relname from pg_inherits i
       join pg_class parent on parent.oid = i.inhparent where i.inhrelid = c.oid), c.relname)::text as name,
       sum(pg_total_relation_size(c.oid))::text as bytes
     from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1
     union all select 'Temporal (' || datname || ')', pg_database_size(datname)::text
     from pg_database where datname like 'temporal%'`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/**
 * One call that is answered as it should be, at the first try:
 * a repeated one would be counted as one and cost as two.
 */
async function ask({ client, key }: Stage, method: string, path: string, body?: Json): Promise<Json> {
  const sent = () => [...client.counts.values()].reduce((sum, count) => sum + count, 0);
  const before = sent();
  const answer = await client.call(method, path, key, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  const tries = sent() - before;
  if (tries > 1)
    throw new Error(
      `${method} ${path} took ${tries} tries; the figures would be wrong: measure on a quieter machine`,
    );
  return answer.body;
}

/** So many new customers, one after the other, each with an address on BNB Chain. */
async function makeCustomers(stage: Stage, name: string, count: number): Promise<Paid[]> {
  const made: Paid[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = await ask(stage, 'POST', '/customers', { external_id: `${name}-${index}` });
    const addresses = body['addresses'] as { network: string; address: string }[];
    const address = addresses.find(({ network }) => network === 'bsc')?.address ?? '';
    made.push({ id: String(body['id']), address });
  }
  return made;
}

/** So many new payment links, of these customers in turn. */
async function makeLinks(stage: Stage, customers: readonly Paid[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { id } = customers[index % customers.length] ?? {};
    await ask(stage, 'POST', '/request-payment', { customer_id: id, amount_usd: '10.00' });
  }
}

/**
 * Until everything is delivered and nothing is left to
 * start, and a rest; with `completed` deposits at their end.
 */
async function settled({ sql }: Stage, completed = 0): Promise<void> {
  for (const until = Date.now() + LIMIT_MS; ; await sleep(LOOK_EVERY_MS)) {
    const [row] = await sql<{ done: number; open: number }>(
      `select (select count(*)::int from deposits where status = 'completed') as done,
         (select count(*)::int from webhook_deliveries where status = 'pending')
           + (select count(*)::int from outbox) as open`,
    );
    if (row && row.done >= completed && row.open === 0) break;
    if (Date.now() > until)
      throw new Error(`not everything was delivered in ${LIMIT_MS / 60_000} minutes: ${JSON.stringify(row)}`);
  }
  await sleep(REST_MS);
}

/** Mines as BNB Chain does; what was asked to be paid goes into the blocks, a few payments each. */
export function minePayments(chain: TestChain) {
  const state: { left: number; customers: readonly Paid[] } = { left: 0, customers: [] };
  const { end } = byTheClock(BLOCK_MS, async () => {
    for (let index = 0; index < PER_BLOCK && state.left > 0; index += 1, state.left -= 1) {
      const { address } = state.customers[state.left % state.customers.length] ?? {};
      await chain.usdt.call('transfer', [address, USDT_UNIT]);
    }
    await chain.mine(1);
  });
  const pay = (customers: readonly Paid[], count: number) =>
    void Object.assign(state, { left: count, customers });
  return { pay, end };
}
