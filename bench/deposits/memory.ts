// Whether the API keeps something of the requests that it has answered: its heap and its
// resident memory after 20,000 of them and at the end (BENCH_REQUESTS, 200,000), each after
// a collection. Good, refused and malformed requests, many keys, many client addresses.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request as startRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createApp } from '../../src/api/app.ts';
import { createGuards } from '../../src/api/requests/rate-limits.ts';
import { createServer } from '../../src/api/server.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf } from '../bench-deps.ts';
import type { Row } from '../row.ts';

const REQUESTS = Number.parseInt(process.env['BENCH_REQUESTS'] ?? '200000', 10);
const SETTLED_AFTER = Math.min(20_000, Math.floor(REQUESTS / 5));
const CONNECTIONS = 32;
const MERCHANTS = 20;
const MIB = 1024 * 1024;
/** What may differ between two collections of a process that keeps nothing. */
const HEAP_SLACK_MIB = 8;
const RSS_SLACK_MIB = 40;
const TELL_EVERY = 20_000;
/** Everything that was counted for a moment is written and forgotten. */
const SETTLE_MS = 1_500;

type Memory = { readonly heapMib: number; readonly rssMib: number };
type Started = { readonly port: number };

/** One server in a process of its own, so that its memory is measured and not ours. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  let child: ChildProcess | undefined;
  try {
    const keys = await fill(postgres.url);
    child = fork(import.meta.filename, [], { env: { ...process.env, BENCH_MEMORY_DATABASE: postgres.url } });
    const [{ port }] = (await once(child, 'message')) as [Started];
    const startedAt = performance.now();
    await send({ port, keys, from: 0, to: SETTLED_AFTER });
    const early = await measure(child);
    await send({ port, keys, from: SETTLED_AFTER, to: REQUESTS });
    const late = await measure(child);
    const rate = REQUESTS / ((performance.now() - startedAt) / 1_000);
    return rowsOf(early, late, rate);
  } finally {
    child?.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(early: Memory, late: Memory, rate: number): Row[] {
  const span = `after ${SETTLED_AFTER} and ${REQUESTS} requests`;
  const told = (from: number, to: number) => `${from.toFixed(1)} → ${to.toFixed(1)} MiB`;
  return [
    {
      figure: `heap ${span}`,
      value: told(early.heapMib, late.heapMib),
      goal: `+ ${HEAP_SLACK_MIB} MiB at most`,
      met: late.heapMib - early.heapMib <= HEAP_SLACK_MIB,
    },
    {
      figure: `resident ${span}`,
      value: told(early.rssMib, late.rssMib),
      goal: `+ ${RSS_SLACK_MIB} MiB at most`,
      met: late.rssMib - early.rssMib <= RSS_SLACK_MIB,
    },
    { figure: 'requests of every kind', value: `${Math.round(rate)}/s`, goal: '', met: true },
  ];
}

async function fill(databaseUrl: string): Promise<string[]> {
  const orm = await openOrm({ url: databaseUrl, poolSize: 2, applicationName: 'bench' });
  await orm.migrator.up();
  const keys: string[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) {
    const made = await createMerchant(depsOf(orm), { name: `Bench ${index}`, subscriptionActive: true });
    keys.push(made.keys.live, made.keys.test);
  }
  await orm.close(true);
  return keys;
}

/** The requests in turn; what each is depends on its number alone. */
async function send(input: {
  port: number;
  keys: readonly string[];
  from: number;
  to: number;
}): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = input.from;
  const client = async (): Promise<void> => {
    while (next < input.to) {
      const number = next;
      next += 1;
      if (number > 0 && number % TELL_EVERY === 0)
        process.stderr.write(`${number} of ${REQUESTS} requests\n`);
      await ask(agent, input.port, number, input.keys[number % input.keys.length] ?? '');
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
}

function ask(agent: Agent, port: number, number: number, key: string): Promise<void> {
  const json = { 'Content-Type': 'application/json' };
  const kinds = [
    { path: `/customers/exists?external_id=user_${number}`, headers: {} },
    { path: '/customers?limit=5', headers: {} },
    { path: `/customers/${number}`, headers: {} },
    { path: `/none/${number}`, headers: {} },
    { path: '/customers/exists', headers: { 'x-api-key': `sk_live_${number}` } },
    { path: '/customers', method: 'POST', headers: json, body: '{"external_id":' },
    {
      path: '/customers',
      method: 'POST',
      headers: json,
      body: JSON.stringify({ external_id: '', note: 'x'.repeat(2_000) }),
    },
    { path: `/payments/pl_${`${number}`.padStart(32, '0')}`, headers: {} },
  ];
  const { path, headers, method = 'GET', body } = kinds[number % kinds.length] ?? { path: '/', headers: {} };
  // 127.0.0.1 is a proxy here: every request comes from an address of its own.
  const from = `${10 + (number & 1)}.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  return new Promise((resolve, reject) => {
    const request = startRequest(
      {
        agent,
        port,
        host: '127.0.0.1',
        path: `/api/v1${path}`,
        method,
        headers: { 'x-api-key': key, 'X-Forwarded-For': from, ...headers },
      },
      (response) => {
        if ((response.statusCode ?? 500) >= 500)
          reject(new Error(`${method} ${path} answered ${response.statusCode}`));
        response.resume();
        response.once('end', resolve);
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

async function measure(child: ChildProcess): Promise<Memory> {
  await sleep(SETTLE_MS);
  child.send('measure');
  const [memory] = (await once(child, 'message')) as [Memory];
  return memory;
}

async function serve(databaseUrl: string): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const deps = depsOf(await openOrm({ url: databaseUrl, poolSize: 10, applicationName: 'bench' }));
  const guards = createGuards(deps, {
    limits: { requestsPerSecond: 1e6, requestsBurst: 1e6, badCredentialsPerMinute: 20, testsPerSecond: 1e6 },
    trustedProxies: ['127.0.0.1'],
  });
  const { port } = await createServer(createApp({ deps, guards, checkResponses: false })).listen({
    port: 0,
    host: '127.0.0.1',
  });
  process.on('message', () => {
    for (let round = 0; round < 3; round += 1) collect();
    const { heapUsed, rss } = process.memoryUsage();
    process.send?.({ heapMib: heapUsed / MIB, rssMib: rss / MIB } satisfies Memory);
  });
  process.send?.({ port } satisfies Started);
}

const { BENCH_MEMORY_DATABASE } = process.env;
if (BENCH_MEMORY_DATABASE !== undefined && process.send) await serve(BENCH_MEMORY_DATABASE);
