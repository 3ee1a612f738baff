// What is left of a bare Koa and pg handler's speed in the reads of the API,
// over as many rows as years of business leave behind (BENCH_CUSTOMERS,
// BENCH_DEPOSITS), and whether the last page of a list is as quick as the first.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { type Seeded, seed } from '../seed.ts';
import { bareReads } from './bare-reads.ts';
import { ask, load } from './http-load.ts';

const CUSTOMERS = Number.parseInt(process.env['BENCH_CUSTOMERS'] ?? '100000', 10);
const DEPOSITS = Number.parseInt(process.env['BENCH_DEPOSITS'] ?? '1000000', 10);
const CONNECTIONS = 16;
const WARM_MS = 1_500;
const ROUND_MS = 2_000;
const ROUNDS = 5;
const PAGE_READS = 60;
const PAGE_ROWS = 25;
const GOAL_RATIO = 0.8;
const GOAL_LAST_PAGE = 1.5;
const POOL_SIZE = 10;

type Kind = 'bare' | 'gateway';
type Task = { readonly kind: Kind; readonly databaseUrl: string; readonly merchantId: string };
type Servers = Readonly<Record<Kind, string>>;

/** Both servers answer the same questions from the same rows, in turns, each in a thread of its own. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  const workers: Worker[] = [];
  try {
    const seeded = await fill(postgres.url);
    const servers: Record<Kind, string> = { bare: '', gateway: '' };
    for (const kind of ['bare', 'gateway'] as const) {
      const task: Task = { kind, databaseUrl: postgres.url, merchantId: seeded.merchantId };
      const worker = new Worker(new URL(import.meta.url), { workerData: task });
      workers.push(worker);
      const [port] = (await once(worker, 'message')) as [number];
      servers[kind] = `http://127.0.0.1:${port}${kind === 'bare' ? '' : '/api/v1'}`;
    }
    const rows: Row[] = [];
    for (const path of PATHS) rows.push(await compare(servers, seeded, path));
    for (const list of ['customers', 'deposits'] as const)
      rows.push(await lastPage(postgres.url, servers.gateway, seeded, list));
    return rows;
  } finally {
    for (const worker of workers) await worker.terminate();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const randomCustomer = (): number => 1 + Math.floor(Math.random() * CUSTOMERS * 1.1);

const PATHS: readonly { readonly name: string; readonly path: () => string }[] = [
  { name: '/customers/exists', path: () => `/customers/exists?external_id=user_${randomCustomer()}` },
  { name: '/customers', path: () => '/customers' },
  { name: '/balance', path: () => '/balance' },
];

async function fill(databaseUrl: string): Promise<Seeded> {
  const orm = await openOrm({ url: databaseUrl, poolSize: 1, applicationName: 'bench' });
  await orm.migrator.up();
  await orm.close(true);
  return await seed(databaseUrl, { customers: CUSTOMERS, deposits: DEPOSITS });
}

async function compare(
  servers: Servers,
  { key }: Seeded,
  { name, path }: (typeof PATHS)[number],
): Promise<Row> {
  const rate = (kind: Kind, durationMs: number): Promise<number> =>
    load({ url: () => servers[kind] + path(), key, durationMs, connections: CONNECTIONS });
  for (const kind of ['bare', 'gateway'] as const) await rate(kind, WARM_MS);
  const rounds: { bare: number; gateway: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ bare: await rate('bare', ROUND_MS), gateway: await rate('gateway', ROUND_MS) });
  const ratios = rounds.map(({ bare, gateway }) => gateway / bare);
  const ratio = percentile(ratios, 0.5);
  const { bare = 0, gateway = 0 } = rounds[ratios.indexOf(ratio)] ?? {};
  return {
    figure: `GET ${name} of bare Koa + pg, ${CUSTOMERS} customers, ${DEPOSITS} deposits`,
    value: `${ratio.toFixed(2)} (${Math.round(gateway)}/s of ${Math.round(bare)}/s)`,
    goal: `≥ ${GOAL_RATIO}`,
    met: ratio >= GOAL_RATIO,
  };
}

/**
 * The middle time of the first page and of the oldest page, which is reached by its cursor, asked in turns.
 */
async function lastPage(
  databaseUrl: string,
  server: string,
  { merchantId, key }: Seeded,
  list: 'customers' | 'deposits',
): Promise<Row> {
  const orm = await openOrm({ url: databaseUrl, poolSize: 1, applicationName: 'bench' });
  const [cursor] = await orm.em
    .fork()
    .execute<{ id: string }[]>(
      `select id from ${list} where merchant_id = ? order by created_at, id offset ? limit 1`,
      [merchantId, PAGE_ROWS],
    );
  await orm.close(true);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: { first: number[]; last: number[] } = { first: [], last: [] };
  for (let read = 0; read < PAGE_READS; read += 1) {
    for (const [place, query] of [
      ['first', ''] as const,
      ['last', `?starting_after=${cursor?.id}`] as const,
    ]) {
      const began = performance.now();
      await ask(`${server}/${list}${query}`, key, agent);
      times[place].push(performance.now() - began);
    }
  }
  agent.destroy();
  const [first, last] = [percentile(times.first, 0.5), percentile(times.last, 0.5)];
  return {
    figure: `GET /${list}, last page of the first one's time`,
    value: `${(last / first).toFixed(2)} (${last.toFixed(1)} ms of ${first.toFixed(1)} ms)`,
    goal: `≤ ${GOAL_LAST_PAGE}`,
    met: last / first <= GOAL_LAST_PAGE,
  };
}

async function serve({ kind, databaseUrl, merchantId }: Task): Promise<number> {
  const orm = await openOrm({ url: databaseUrl, poolSize: POOL_SIZE, applicationName: kind });
  if (kind === 'bare') {
    const server = bareReads(await orm.em.getConnection().getNativeClient(), merchantId).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  const fixed = { BNB: 60_000_000_000n, TRX: 30_000_000n, USDT: 100_000_000n };
  const prices = {
    price: async (currency: keyof typeof fixed) => ({
      usd8: fixed[currency],
      source: 'fixed',
      at: new Date(),
      stale: false,
    }),
  };
  const deps = { ...depsOf(orm), prices };
  const app = createApp({ deps, guards: generousGuards(deps), checkResponses: false });
  const { port } = await createServer(app).listen({ port: 0, host: '127.0.0.1' });
  return port;
}

if (!isMainThread) parentPort?.postMessage(await serve(workerData as Task));
