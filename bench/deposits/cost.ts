import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { runCommand } from '../../dev/demo/gateway-process.ts';
import { startTestChain, type TestChain, USDT_UNIT } from '../../dev/support/chain.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { type Costs, measureCosts } from '../process-costs.ts';
import type { Row } from '../row.ts';
import { createApi, type Json } from '../soak/api.ts';
import { folderIn, gatewayRole, postgresServer, temporalServer } from '../soak/servers.ts';

const DEPOSITS = Number(process.env['BENCH_COST_DEPOSITS'] ?? 600);
const CUSTOMERS = 200;
const LINKS = 200;
const READS = 2_000;
/** What the first use of anything costs a process is no cost of a deposit. */
const WARM_UP = 60;
const BLOCK_MS = 450;
const PER_BLOCK = 2;
const IDLE_MS = 60_000;
const LIMIT_MS = 10 * 60_000;
const MIGHT_BE_AWAY_MS = 60_000;
/** A question to the whole database costs the server something too, though nothing that is counted. */
const LOOK_EVERY_MS = 1_000;
/** After the last delivery the actors end, and Temporal notes it. */
const REST_MS = 5_000;
const PARTS = [
  'worker',
  'PostgreSQL for the gateway',
  'Temporal',
  'PostgreSQL for Temporal',
  'PostgreSQL for both (log, checkpoints, vacuum)',
];
const silent = () => undefined;

/**
 * What one deposit with one webhook endpoint costs, by part: the gateway role by role on the
 * production Temporal server, each a process of its own, with blocks that come as on BNB Chain.
 * What the parts use and write while blocks come and nothing is paid is measured first and
 * taken off. It is time of processors, which other load on the machine changes little; only an
 * API that is too slow to answer spoils it, and then this throws. The API has no part in a
 * deposit: told are what it and the others spend on a new customer, a read and a new payment
 * link. PostgreSQL runs without fsync, which saves it waiting and no work worth counting.
 */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cost-'));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user where we are root
  const stage = await setUp(folder);
  try {
    const rows = await measure(stage);
    return rows;
  } finally {
    await stage.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Stage = Awaited<ReturnType<typeof setUp>>;
type Paid = { readonly id: string; readonly address: string };

async function setUp(folder: string) {
  const chain = await startTestChain();
  const postgres = await postgresServer(folder, silent);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer: false, log: silent });
  const { live, test } = testXpubs();
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    BSC_RPC_URLS: chain.url,
    BSC_USDT_CONTRACT: chain.usdt.address,
    WALLET_XPUB_BSC: live.bsc,
    WALLET_XPUB_TRON: live.tron,
    WALLET_XPUB_TEST_BSC: test.bsc,
    WALLET_XPUB_TEST_TRON: test.tron,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
  };
  await runCommand(['migrate'], env);
  const merchant = await runCommand(['merchant', 'create', '--name', 'Shop'], env);
  const receiver = await startReceiver({});
  const api = await gatewayRole({ name: 'api', role: 'api', folder: folderIn(folder, 'roles'), env });
  const worker = await gatewayRole({
    name: 'worker-1',
    role: 'worker',
    folder: folderIn(folder, 'roles'),
    env,
  });
  // One connection, whose process is left out of the figures.
  const own = { pool: { min: 1, max: 1 }, discovery: { warnWhenNoEntities: false } };
  const orm = await MikroORM.init({ clientUrl: postgres.url, entities: [], ...own });
  return {
    chain,
    receiver,
    postgres,
    temporal,
    api,
    worker,
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
  const mining = mineByTheClock(stage.chain);
  mining.pay(await makeCustomers(stage, 'early', WARM_UP), WARM_UP);
  await settled(stage, WARM_UP);
  const idle = await usageOf(stage, () => sleep(IDLE_MS));
  const customers = await usageOf(stage, async () => {
    const made = await makeCustomers(stage, 'user', CUSTOMERS);
    await settled(stage);
    return made;
  });
  const read = await usageOf(stage, () => reads(READS));
  const deposits = await usageOf(stage, async () => {
    mining.pay(customers.result, DEPOSITS);
    await settled(stage, WARM_UP + DEPOSITS);
  });
  const links = await usageOf(stage, async () => {
    await makeLinks(stage, known, LINKS);
    await settled(stage);
  });
  await mining.end();
  return [
    {
      figure: `deposits, over ${(deposits.ms / 1_000).toFixed(0)} s`,
      value: String(DEPOSITS),
      goal: '',
      met: true,
    },
    ...processorRows('one deposit', PARTS, deposits, idle, DEPOSITS),
    ...processorRows('one new customer', ['api', ...PARTS], customers, idle, CUSTOMERS),
    ...processorRows('one read of a customer', ['api', 'PostgreSQL for the gateway'], read, idle, READS),
    ...processorRows('one new payment link', ['api', ...PARTS], links, idle, LINKS),
    ...shareRows(idle),
    ...byteRows('one deposit', deposits, idle, DEPOSITS),
    ...byteRows('one new customer', customers, idle, CUSTOMERS),
    ...byteRows('one new payment link', links, idle, LINKS),
  ];
}

/** What was used and written while something was done. */
type Usage<T = unknown> = {
  readonly costs: Costs;
  readonly bytes: ReadonlyMap<string, number>;
  readonly ms: number;
  readonly result: T;
};

async function usageOf<T>(stage: Stage, work: () => Promise<T>): Promise<Usage<T>> {
  const { api, worker, temporal, postgres } = stage;
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
  const after = await sizes(stage);
  const bytes = new Map([...after].map(([name, size]) => [name, size - (before.get(name) ?? 0)]));
  return { costs, bytes, ms, result };
}

/** For one of `count`, without what would have been there in any case. */
function netOf(name: string, kind: 'costs' | 'bytes', usage: Usage, idle: Usage, count: number): number {
  return ((usage[kind].get(name) ?? 0) - ((idle[kind].get(name) ?? 0) * usage.ms) / idle.ms) / count;
}

const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });

function processorRows(
  what: string,
  parts: readonly string[],
  usage: Usage,
  idle: Usage,
  count: number,
): Row[] {
  const msOf = (part: string): number => netOf(part, 'costs', usage, idle, count) * 1_000;
  const all = parts.reduce((sum, part) => sum + msOf(part), 0);
  return [
    ...parts.map((part) => told(`processor time of ${what}, ${part}`, `${msOf(part).toFixed(2)} ms`)),
    told(`processor time of ${what}, all of these`, `${all.toFixed(2)} ms`),
  ];
}

function shareRows(idle: Usage): Row[] {
  return ['api', ...PARTS].map((part) =>
    told(
      `share of a core while blocks come and nothing is paid, ${part}`,
      `${(((idle.costs.get(part) ?? 0) / idle.ms) * 100_000).toFixed(1)} %`,
    ),
  );
}

/** Tables grow by whole pages, so what is less than a byte for one is left out. */
function byteRows(what: string, usage: Usage, idle: Usage, count: number): Row[] {
  const found = [...usage.bytes.keys()]
    .map((name) => [name, netOf(name, 'bytes', usage, idle, count)] as const)
    .filter(([, bytes]) => bytes >= 1)
    .sort(([, a], [, b]) => b - a);
  const all = found.reduce((sum, [, bytes]) => sum + bytes, 0);
  return [
    ...found.map(([name, bytes]) => told(`bytes of ${what}, ${name}`, bytes.toFixed(0))),
    told(`bytes of ${what}, all`, all.toFixed(0)),
  ];
}

/**
 * One call that is answered as it should be, at the first try:
 * a repeated one would be counted as one and cost as two.
 */
async function ask({ client, key }: Stage, method: string, path: string, body?: Json): Promise<Json> {
  const calls = [...client.counts.values()].reduce((sum, count) => sum + count, 0);
  const answer = await client.call(method, path, key, body);
  const tries = [...client.counts.values()].reduce((sum, count) => sum + count, 0) - calls;
  if (answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (tries > 1)
    throw new Error(
      `${method} ${path} took ${tries} tries; the figures would be wrong: measure on a quieter machine`,
    );
  return answer.body;
}

async function makeCustomers(stage: Stage, name: string, count: number): Promise<Paid[]> {
  const made: Paid[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = await ask(stage, 'POST', '/customers', { external_id: `${name}-${index}` });
    const addresses = body['addresses'] as { network: string; address: string }[];
    made.push({
      id: String(body['id']),
      address: addresses.find(({ network }) => network === 'bsc')?.address ?? '',
    });
  }
  return made;
}

async function makeLinks(stage: Stage, customers: readonly Paid[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await ask(stage, 'POST', '/request-payment', {
      customer_id: customers[index % customers.length]?.id,
      amount_usd: '10.00',
    });
}

/** Mines as BNB Chain does; what was asked to be paid goes into the blocks, a few payments each. */
function mineByTheClock(chain: TestChain) {
  const state: { on: boolean; left: number; customers: readonly Paid[] } = {
    on: true,
    left: 0,
    customers: [],
  };
  const turn = async (): Promise<void> => {
    while (state.on) {
      const next = Date.now() + BLOCK_MS;
      for (let index = 0; index < PER_BLOCK && state.left > 0; index += 1, state.left -= 1)
        await chain.usdt.call('transfer', [
          state.customers[state.left % state.customers.length]?.address,
          USDT_UNIT,
        ]);
      await chain.mine(1);
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const ended = turn();
  return {
    pay: (customers: readonly Paid[], count: number) => {
      Object.assign(state, { left: count, customers });
    },
    end: async () => {
      state.on = false;
      await ended;
    },
  };
}

/**
 * Until everything is delivered and nothing is left to
 * start, and a rest; with `completed` deposits at their end.
 */
async function settled({ sql }: Stage, completed = 0): Promise<void> {
  for (const until = Date.now() + LIMIT_MS; ; await sleep(LOOK_EVERY_MS)) {
    const [row] = await sql<{ done: number; open: number }>(
      `select (select count(*)::int from deposits where status = 'completed') as done,
         (select count(*)::int from webhook_deliveries where status = 'pending') + (select count(*)::int
           from outbox) as open`,
    );
    if (row && row.done >= completed && row.open === 0) break;
    if (Date.now() > until)
      throw new Error(
        `not everything was delivered within ${LIMIT_MS / 60_000} minutes: ${JSON.stringify(row)}`,
      );
  }
  await sleep(REST_MS);
}

/** Bytes with indexes: each table of the gateway (a partitioned one as one), and each store of Temporal. */
async function sizes({ sql }: Stage): Promise<Map<string, number>> {
  const tables = await sql<{ name: string; bytes: string }>(
    `select coalesce((select parent.relname from pg_inherits i
       join pg_class parent on parent.oid = i.inhparent where i.inhrelid = c.oid), c.relname) as name,
       sum(pg_total_relation_size(c.oid))::text as bytes
     from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  );
  const stores = await sql<{ name: string; bytes: string }>(
    `select 'Temporal (' || datname || ')' as name, pg_database_size(datname)::text as bytes from pg_database
      where datname like 'temporal%'`,
  );
  return new Map([...tables, ...stores].map(({ name, bytes }) => [name, Number(bytes)]));
}
