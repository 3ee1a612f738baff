import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MikroORM } from '@mikro-orm/postgresql';
import { runCommand } from '../src/devnet/demo/gateway-process.ts';
import { startTestChain, type TestChain, USDT_UNIT } from '../test/support/chain.ts';
import { eventually } from '../test/support/eventually.ts';
import { SECRETS_KEY } from '../test/support/live-gateway.ts';
import { startReceiver } from '../test/support/receiver.ts';
import { testXpubs } from '../test/support/test-wallet.ts';
import { type Costs, measureCosts } from './process-costs.ts';
import type { Row } from './row.ts';
import { type Api, createApi } from './soak/api.ts';
import { folderIn, gatewayRole, postgresServer, temporalServer } from './soak/servers.ts';

const DEPOSITS = Number(process.env['BENCH_COST_DEPOSITS'] ?? 600);
const CUSTOMERS = 200;
const BLOCK_MS = 450;
const PER_BLOCK = 2;
const IDLE_MS = 30_000;
const READS = 2_000;
const LIMIT_MS = 10 * 60_000;
const MIGHT_BE_AWAY_MS = 60_000;
const silent = () => undefined;

/**
 * What one deposit with one webhook endpoint costs, by part: the gateway role by role on the production Temporal server, each a process of
 * its own, with blocks that come as on BNB Chain. What the parts use while blocks come and nothing is paid is measured first and taken off.
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

async function setUp(folder: string) {
  const chain = await startTestChain();
  const postgres = await postgresServer(folder, silent);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer: false, log: silent });
  const { live, test } = testXpubs();
  const env: NodeJS.ProcessEnv = {
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'development', LOG_LEVEL: 'warn' },
    ...{ DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: temporal.address, BSC_RPC_URLS: chain.url, BSC_USDT_CONTRACT: chain.usdt.address },
    ...{ WALLET_XPUB_BSC: live.bsc, WALLET_XPUB_TRON: live.tron, WALLET_XPUB_TEST_BSC: test.bsc, WALLET_XPUB_TEST_TRON: test.tron },
    ...{ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8', SECRETS_KEY: SECRETS_KEY.toString('base64') },
    ...{ PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1', RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
  };
  await runCommand(['migrate'], env);
  const merchant = await runCommand(['merchant', 'create', '--name', 'Shop'], env);
  const receiver = await startReceiver({});
  const api = await gatewayRole({ name: 'api', role: 'api', folder: folderIn(folder, 'roles'), env });
  const worker = await gatewayRole({ name: 'worker-1', role: 'worker', folder: folderIn(folder, 'roles'), env });
  const orm = await MikroORM.init({ clientUrl: postgres.url, entities: [], discovery: { warnWhenNoEntities: false } });
  return {
    ...{ chain, receiver, postgres, temporal, api, worker, client: createApi(api.api, MIGHT_BE_AWAY_MS) },
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
  const [made, customers] = await costsOf(stage, () => makeCustomers(client, key));
  await settled(stage);
  const [read] = await costsOf(stage, async () => {
    for (let index = 0; index < READS; index += 1) await client.call('GET', `/customers/${customers[index % CUSTOMERS]?.id}`, key);
  });
  const stopMining = mineByTheClock(stage.chain, customers);
  const [idle] = await costsOf(stage, () => sleep(IDLE_MS));
  const before = await sizes(stage);
  const began = Date.now();
  const [busy] = await costsOf(stage, async () => {
    stopMining.pay(DEPOSITS);
    await settled(stage, DEPOSITS);
  });
  const tookMs = Date.now() - began;
  await stopMining.end();
  const after = await sizes(stage);
  const row = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  const perDeposit = (part: string) => ((busy.get(part) ?? 0) - ((idle.get(part) ?? 0) * tookMs) / IDLE_MS) / DEPOSITS;
  const ms = (seconds: number) => `${(seconds * 1_000).toFixed(1)} ms`;
  const parts = [...new Set([...busy.keys(), ...idle.keys()])];
  return [
    row(`deposits, over ${(tookMs / 1_000).toFixed(0)} s`, String(DEPOSITS)),
    ...parts.map((part) => row(`processor time of one deposit, ${part}`, ms(perDeposit(part)))),
    row('processor time of one deposit, all parts', ms(parts.reduce((sum, part) => sum + perDeposit(part), 0))),
    ...parts.map((part) =>
      row(
        `share of a core while blocks come and nothing is paid, ${part}`,
        `${(((idle.get(part) ?? 0) / IDLE_MS) * 100_000).toFixed(1)} %`,
      ),
    ),
    row('processor time of one new customer, api', ms((made.get('api') ?? 0) / CUSTOMERS)),
    row('processor time of one read of a customer, api', ms((read.get('api') ?? 0) / READS)),
    row('the same, PostgreSQL', ms((read.get('PostgreSQL for the gateway') ?? 0) / READS)),
    ...[...after]
      .map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / DEPOSITS] as const)
      .filter(([, bytes]) => bytes >= 1)
      .sort(([, a], [, b]) => b - a)
      .map(([name, bytes]) => row(`bytes of one deposit, ${name}`, bytes.toFixed(0))),
  ];
}

async function makeCustomers(client: Api, key: string): Promise<{ id: string; address: string }[]> {
  const made: { id: string; address: string }[] = [];
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const { body } = await client.call('POST', '/customers', key, { external_id: `user-${index}` });
    const addresses = body['addresses'] as { network: string; address: string }[];
    made.push({ id: String(body['id']), address: addresses.find(({ network }) => network === 'bsc')?.address ?? '' });
  }
  return made;
}

/** Mines as BNB Chain does; what was asked to be paid goes into the blocks, a few payments each. */
function mineByTheClock(chain: TestChain, customers: readonly { address: string }[]) {
  const state = { on: true, left: 0, paid: 0 };
  const turn = async (): Promise<void> => {
    while (state.on) {
      const next = Date.now() + BLOCK_MS;
      for (let index = 0; index < PER_BLOCK && state.left > 0; index += 1, state.left -= 1, state.paid += 1)
        await chain.usdt.call('transfer', [customers[state.paid % CUSTOMERS]?.address, USDT_UNIT]);
      await chain.mine(1);
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const ended = turn();
  return {
    pay: (count: number) => {
      state.left = count;
    },
    end: async () => {
      state.on = false;
      await ended;
    },
  };
}

/** Until everything is delivered and nothing is left to start; with `completed` deposits at their end. */
async function settled({ sql }: Stage, completed = 0): Promise<void> {
  await eventually(
    'that everything is delivered',
    async () => {
      const [row] = await sql<{ done: number; open: number }>(
        `select (select count(*)::int from deposits where status = 'completed') as done,
           (select count(*)::int from webhook_deliveries where status = 'pending') + (select count(*)::int from outbox) as open`,
      );
      return row !== undefined && row.done >= completed && row.open === 0;
    },
    LIMIT_MS,
  );
}

/** Processor seconds by part while `work` runs, and what it gave. */
async function costsOf<T>({ api, worker, temporal, postgres }: Stage, work: () => Promise<T>): Promise<readonly [Costs, T]> {
  return await measureCosts({ api: api.pid(), worker: worker.pid(), Temporal: temporal.pid(), PostgreSQL: postgres.pid() }, work);
}

/** Bytes with indexes: each table of the gateway (a partitioned one as one), and each store of Temporal. */
async function sizes({ sql }: Stage): Promise<Map<string, number>> {
  const tables = await sql<{ name: string; bytes: string }>(
    `select coalesce((select parent.relname from pg_inherits i join pg_class parent on parent.oid = i.inhparent where i.inhrelid = c.oid), c.relname) as name,
       sum(pg_total_relation_size(c.oid))::text as bytes
     from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1`,
  );
  const stores = await sql<{ name: string; bytes: string }>(
    `select 'Temporal (' || datname || ')' as name, pg_database_size(datname)::text as bytes from pg_database where datname like 'temporal%'`,
  );
  return new Map([...tables, ...stores].map(({ name, bytes }) => [name, Number(bytes)]));
}
