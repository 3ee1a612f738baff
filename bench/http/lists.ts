// What 150 dear lists of one key, once and kept in flight, cost another
// merchant's GET /customers/exists, with the connections that the product has.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { openListPool, REQUEST_STATEMENT_MS } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { seed } from '../seed.ts';

const CUSTOMERS = Number.parseInt(process.env['BENCH_CUSTOMERS'] ?? '200000', 10);
const DEPOSITS = Number.parseInt(process.env['BENCH_DEPOSITS'] ?? '500000', 10);
const LISTS = 150;
const SAMPLES = 300;
const ROUNDS = 2;
const BURSTS = 6;
const EVERY_MS = 10;
const GOAL_RATIO = 2;
const POOL_SIZE = 10;

/** Each has to look at as many rows as a list may. */
const DEAR = [
  '/customers?search=com%20user',
  '/deposits?currency=TRX&limit=100',
  '/deposits?status=failed&limit=100',
  '/customers?page=400&limit=100',
];

type Task = { readonly databaseUrl: string };
type Answer = { readonly status: number; readonly ms: number };

/** The server in a thread of its own; quiet and busy are measured in turns. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  let worker: Worker | undefined;
  try {
    const keys = await fill(postgres.url);
    worker = new Worker(new URL(import.meta.url), {
      workerData: { databaseUrl: postgres.url } satisfies Task,
    });
    const [port] = (await once(worker, 'message')) as [number];
    return await measure(`http://127.0.0.1:${port}/api/v1`, keys);
  } finally {
    await worker?.terminate();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(api: string, keys: { readonly busy: string; readonly other: string }): Promise<Row[]> {
  const quiet: Answer[] = [];
  const [beside, lists]: [Answer[], Answer[]] = [[], []];
  const [besideOnce, listsOnce]: [Answer[], Answer[]] = [[], []];
  await exists(api, keys.other, SAMPLES);
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(...(await exists(api, keys.other, SAMPLES)));
    let over = false;
    const rush = rushes(api, keys.busy, lists, () => over);
    beside.push(...(await exists(api, keys.other, SAMPLES)));
    over = true;
    await rush;
  }
  for (let burst = 0; burst < BURSTS; burst += 1) {
    let left = true;
    const rush = rushes(api, keys.busy, listsOnce, () => true).finally(() => {
      left = false;
    });
    while (left) besideOnce.push(...(await exists(api, keys.other, 1)));
    await rush;
  }
  const times = (answers: readonly Answer[]): number =>
    percentile(
      answers.map(({ ms }) => ms),
      0.95,
    );
  const refused = (answers: readonly Answer[]): number =>
    answers.filter(({ status }) => status !== 200).length;
  const besideRow = (what: string, answers: readonly Answer[]): Row => {
    const ratio = times(answers) / times(quiet);
    const value = `${ratio.toFixed(2)} (${times(answers).toFixed(1)} ms of ${times(quiet).toFixed(1)} ms)`;
    return {
      figure: `exists of another merchant beside ${what}, p95 of quiet`,
      value,
      goal: `≤ ${GOAL_RATIO}`,
      met: ratio <= GOAL_RATIO,
    };
  };
  const asked = [...beside, ...besideOnce];
  return [
    besideRow(`${LISTS} lists at a time`, beside),
    besideRow(`${LISTS} lists once`, besideOnce),
    {
      figure: 'exists that were not answered with 200',
      value: `${refused(asked)} of ${asked.length}`,
      goal: '0',
      met: refused(asked) === 0,
    },
    {
      figure: 'lists that had no turn within their 2 s, at a time and once',
      value: `${refused(lists)} of ${lists.length}, ${refused(listsOnce)} of ${listsOnce.length}`,
      goal: '',
      met: true,
    },
  ];
}

async function exists(api: string, key: string, samples: number): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: Answer[] = [];
  for (let index = 0; index < samples; index += 1) {
    answers.push(await asked(`${api}/customers/exists?external_id=user_${index}`, key, agent));
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  agent.destroy();
  return answers;
}

/** Asks for so many lists at once, and again for each that is answered until it is over. */
async function rushes(api: string, key: string, answers: Answer[], isOver: () => boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: LISTS });
  const client = async (number: number): Promise<void> => {
    let turn = number;
    do {
      answers.push(await asked(api + DEAR[turn % DEAR.length], key, agent));
      turn += 1;
    } while (!isOver());
  };
  await Promise.all(Array.from({ length: LISTS }, (_, number) => client(number)));
  agent.destroy();
}

function asked(url: string, key: string, agent: Agent): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { Authorization: `Bearer ${key}` } }, (response) => {
      response.resume();
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - began }),
      );
    }).once('error', reject);
  });
}

async function fill(databaseUrl: string): Promise<{ busy: string; other: string }> {
  const orm = await openOrm({
    url: databaseUrl,
    poolSize: 1,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  await orm.migrator.up();
  const { key: busy } = await seed(databaseUrl, { customers: CUSTOMERS, deposits: DEPOSITS, history: false });
  const { keys } = await createMerchant(depsOf(orm), { name: 'Other', subscriptionActive: true });
  await orm.close(true);
  return { busy, other: keys.live };
}

async function serve({ databaseUrl }: Task): Promise<number> {
  const limits = { poolSize: POOL_SIZE, statementTimeoutMs: REQUEST_STATEMENT_MS };
  const deps = depsOf(await openOrm({ url: databaseUrl, applicationName: 'gateway', ...limits }));
  const listOrm = await openListPool(databaseUrl, 'bench');
  const app = createApp({ deps, listOrm, guards: generousGuards(deps), checkResponses: false });
  return (await createServer(app).listen({ port: 0, host: '127.0.0.1' })).port;
}

if (!isMainThread) parentPort?.postMessage(await serve(workerData as Task));
