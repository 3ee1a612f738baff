// GET /customers?search= through HTTP in a list of 1,000,000 customers
// (BENCH_CUSTOMERS), for texts of every kind, the worst ones too.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { openListPool } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { type Seeded, seed } from '../seed.ts';
import { ask } from './http-load.ts';

const CUSTOMERS = Number.parseInt(process.env['BENCH_CUSTOMERS'] ?? '1000000', 10);
const READS = 20;
const GOAL_MS = 50;
const POOL_SIZE = 10;
const LONGEST = 320;

/**
 * Customer n is the nth. The older half has names that no
 * newer one has, the first one a name that nobody else has.
 */
const TEXTS: readonly (readonly [about: string, text: string, more?: string])[] = [
  ['the beginning of all', 'user_'],
  ['a beginning of one in ninety', 'user_12'],
  ['a beginning of one in nine thousand', 'user_1234'],
  ['a word of one old row', 'zbigniew'],
  ['a word of the older half', 'elder'],
  ['a word of the older half, page 100', 'elder', '&page=100'],
  ['two letters of nobody', 'zq'],
  ['two letters of all', 'us'],
  ['a whole email', `user_${Math.ceil(CUSTOMERS / 3)}@example.com`],
  ['an email of nobody', 'someone@example.net'],
  ['letters of nobody', 'xqzjvw'],
  ['nobody, in groups of letters that all have', 'com user'],
  ['nobody, in groups of letters that half have', 'elder elder'],
  ['a percent sign', '%'],
  ['an underscore', '_'],
  ['one letter', 'e'],
  [
    'the longest, of groups that all have',
    'user_example.com '
      .repeat(LONGEST)
      .slice(0, LONGEST - 1)
      .concat('m'),
  ],
  ['the longest, of percent signs', '%_\\'.repeat(LONGEST).slice(0, LONGEST)],
];

type Task = { readonly databaseUrl: string };

/**
 * The server in a thread of its own; each text is asked for
 * in turns, so that no run of one of them has all to itself.
 */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  let worker: Worker | undefined;
  try {
    const { key } = await fill(postgres.url);
    worker = new Worker(new URL(import.meta.url), {
      workerData: { databaseUrl: postgres.url } satisfies Task,
    });
    const [port] = (await once(worker, 'message')) as [number];
    return await measure(`http://127.0.0.1:${port}/api/v1`, key);
  } finally {
    await worker?.terminate();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(api: string, key: string): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = TEXTS.map(() => [] as number[]);
  for (let read = -1; read < READS; read += 1) {
    for (const [index, [, text, more = '']] of TEXTS.entries()) {
      const began = performance.now();
      await ask(`${api}/customers?search=${encodeURIComponent(text)}${more}`, key, agent);
      if (read >= 0) times[index]?.push(performance.now() - began);
    }
  }
  agent.destroy();
  return TEXTS.map(([about], index) => {
    const [middle, late] = [percentile(times[index] ?? [], 0.5), percentile(times[index] ?? [], 0.95)];
    return {
      figure: `?search= among ${CUSTOMERS} customers: ${about}`,
      value: `p50 ${middle.toFixed(0)} ms, p95 ${late.toFixed(0)} ms`,
      goal: `p95 ≤ ${GOAL_MS} ms`,
      met: late <= GOAL_MS,
    };
  });
}

const OLDER_HALF = `update customers
  set name = case wallet_index when 1 then 'Zbigniew Quux' else 'Elder ' || wallet_index end
  where wallet_index <= ?`;

async function fill(databaseUrl: string): Promise<Seeded> {
  const orm = await openOrm({
    url: databaseUrl,
    poolSize: 1,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  const run = (sql: string, values: unknown[] = []): Promise<{ indexdef: string }[]> =>
    orm.em.fork().execute(sql, values);
  await orm.migrator.up();
  const seeded = await seed(databaseUrl, { customers: CUSTOMERS, deposits: 0 });
  const [index] = await run(`select indexdef from pg_indexes where indexname = 'customers_search_index'`);
  await run('drop index customers_search_index');
  await run(OLDER_HALF, [Math.floor(CUSTOMERS / 2)]);
  await run('vacuum full customers');
  await run(index?.indexdef ?? '');
  await run('vacuum analyze customers');
  await orm.close(true);
  return seeded;
}

async function serve({ databaseUrl }: Task): Promise<number> {
  const deps = depsOf(await openOrm({ url: databaseUrl, poolSize: POOL_SIZE, applicationName: 'gateway' }));
  const listOrm = await openListPool(databaseUrl, 'bench');
  const app = createApp({ deps, listOrm, guards: generousGuards(deps), checkResponses: false });
  return (await createServer(app).listen({ port: 0, host: '127.0.0.1' })).port;
}

if (!isMainThread) parentPort?.postMessage(await serve(workerData as Task));
