// How much of a bare Koa and pg handler's speed is left of GET
// /customers/exists, with its key, subscription, checks and log line.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import Koa from 'koa';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import type { Row } from '../row.ts';
import { load } from './http-load.ts';

const CUSTOMERS = 100_000;
const CONNECTIONS = 16;
const ROUND_MS = 2_000;
const ROUNDS = 5;
const GOAL_RATIO = 0.8;
const POOL_SIZE = 10;

type Task = { readonly kind: 'bare' | 'gateway'; readonly databaseUrl: string; readonly merchantId: string };

/** Both servers answer the same lookups from the same table, in turns, each in a thread of its own. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  const workers: Worker[] = [];
  try {
    const { merchantId, key } = await fill(postgres.url);
    const urls: Record<Task['kind'], string> = { bare: '', gateway: '' };
    for (const kind of ['bare', 'gateway'] as const) {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { kind, databaseUrl: postgres.url, merchantId } satisfies Task,
      });
      workers.push(worker);
      const [port] = (await once(worker, 'message')) as [number];
      urls[kind] = `http://127.0.0.1:${port}${kind === 'bare' ? '/' : '/api/v1/customers/exists'}`;
      await lookUps(urls[kind], key);
    }
    const rates: { bare: number; gateway: number; ratio: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const bare = await lookUps(urls.bare, key);
      const gateway = await lookUps(urls.gateway, key);
      rates.push({ bare, gateway, ratio: gateway / bare });
    }
    const median = rates.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(ROUNDS / 2)];
    if (!median) return [];
    return [
      {
        figure: `GET /customers/exists of bare Koa + pg, ${CUSTOMERS} customers`,
        value: `${median.ratio.toFixed(2)} (${Math.round(median.gateway)}/s of ${Math.round(median.bare)}/s)`,
        goal: `≥ ${GOAL_RATIO}`,
        met: median.ratio >= GOAL_RATIO,
      },
    ];
  } finally {
    for (const worker of workers) await worker.terminate();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(databaseUrl: string): Promise<{ merchantId: string; key: string }> {
  const orm = await openOrm({
    url: databaseUrl,
    poolSize: 2,
    applicationName: 'bench',
    statementTimeoutMs: 120_000,
  });
  await orm.migrator.up();
  const { merchantId, keys } = await createMerchant(depsOf(orm), { name: 'Bench', subscriptionActive: true });
  await orm.em.fork().execute(
    `insert into customers (id, merchant_id, mode, external_id, email, metadata, wallet_index, created_at,
     updated_at)
     select gen_random_uuid(), ?, 'live', 'user_' || n, 'user_' || n || '@example.com', '{}', n, now(), now()
       from generate_series(1, ?) n`,
    [merchantId, CUSTOMERS],
  );
  await orm.em.fork().execute('vacuum analyze customers');
  await orm.close(true);
  return { merchantId, key: keys.live };
}

function lookUps(url: string, key: string): Promise<number> {
  const random = (): number => 1 + Math.floor(Math.random() * CUSTOMERS * 1.1);
  return load({
    url: () => `${url}?external_id=user_${random()}`,
    key,
    durationMs: ROUND_MS,
    connections: CONNECTIONS,
  });
}

/** The least that answers the question: no key, no checks, no log. */
async function serveBare(orm: Orm, merchantId: string): Promise<number> {
  const pool = await orm.em.getConnection().getNativeClient();
  const app = new Koa();
  app.use(async (context) => {
    const value = context.query['external_id'];
    const sql =
      'select id, external_id, email from customers where merchant_id = $1 and mode = $2 and external_id = $3';
    const { rows } = await pool.query(sql, [merchantId, 'live', value]);
    context.body = { exists: rows.length > 0, match: 'external_id', customer: rows[0] ?? null };
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serve({ kind, databaseUrl, merchantId }: Task): Promise<number> {
  const orm = await openOrm({ url: databaseUrl, poolSize: POOL_SIZE, applicationName: kind });
  if (kind === 'bare') return await serveBare(orm, merchantId);
  const deps = depsOf(orm);
  const app = createApp({ deps, guards: generousGuards(deps), checkResponses: false });
  const { port } = await createServer(app).listen({ port: 0, host: '127.0.0.1' });
  return port;
}

if (!isMainThread) parentPort?.postMessage(await serve(workerData as Task));
