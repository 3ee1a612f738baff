// What 1,000 payers' pages at once from 20 addresses cost, how many of them are refused, and what another
// merchant's GET /customers/exists takes beside them.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/api/app.ts';
import { createGuards } from '../../src/api/requests/rate-limits.ts';
import { createServer } from '../../src/api/server.ts';
import { payOptions } from '../../src/app/pay-options.ts';
import { REQUEST_STATEMENT_MS } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { payPages } from '../../src/web/pay.ts';
import { depsOf } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { depsWithChains, fillLinks } from './links.ts';

const PAGES = 1_000;
const ADDRESSES = 20;
const ROUNDS = Number.parseInt(process.env['BENCH_ROUNDS'] ?? '3', 10);
const QUIET_SAMPLES = 300;
const EVERY_MS = 10;
/** The limits of an address and of a key are whole again. */
const REFILL_MS = 3_000;
const GOAL_RATIO = 2;
const POOL_SIZE = 10;
const ROLE = 'BENCH_PAGES_DATABASE';

type Answer = { readonly status: number; readonly ms: number };
type Stage = { readonly server: ChildProcess; readonly origin: string; readonly key: string };

/** The server in a process of its own, so that what it uses is what the pages use. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  let server: ChildProcess | undefined;
  try {
    const tokens = await fillLinks(postgres.url, PAGES);
    const key = await otherKey(postgres.url);
    server = fork(import.meta.filename, { env: { ...process.env, [ROLE]: postgres.url } });
    const [port] = (await once(server, 'message')) as [number];
    const stage = { server, origin: `http://127.0.0.1:${port}`, key };
    const [link = ''] = tokens;
    const kinds = { '/pay of a link each': tokens, '/pay of one link': tokens.map(() => link) };
    const rows: Row[] = [];
    for (const [what, some] of Object.entries(kinds)) rows.push(...(await measure(stage, what, some)));
    return rows;
  } finally {
    server?.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(stage: Stage, what: string, tokens: readonly string[]): Promise<Row[]> {
  const [quiet, beside, pages, lasts, costs]: [Answer[], Answer[], Answer[], number[], number[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  await loadAll(stage, tokens.slice(0, ADDRESSES));
  await exists(stage, () => false, QUIET_SAMPLES);
  for (let round = 0; round < ROUNDS; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, REFILL_MS));
    quiet.push(...(await exists(stage, () => false, QUIET_SAMPLES)));
    const before = await usedMs(stage.server);
    const began = performance.now();
    let over = false;
    const loading = loadAll(stage, tokens).finally(() => {
      over = true;
      lasts.push(performance.now() - began);
    });
    beside.push(...(await exists(stage, () => !over, 1)));
    pages.push(...(await loading));
    costs.push(((await usedMs(stage.server)) - before) / tokens.length);
  }
  const p95 = (answers: readonly Answer[]): number =>
    percentile(
      answers.map(({ ms }) => ms),
      0.95,
    );
  const bad = (answers: readonly Answer[]): number => answers.filter(({ status }) => status !== 200).length;
  const ratio = p95(beside) / p95(quiet);
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  const none = (figure: string, answers: readonly Answer[]): Row => ({
    figure,
    value: `${bad(answers)} of ${answers.length}`,
    goal: '0',
    met: bad(answers) === 0,
  });
  return [
    none(`${PAGES} ${what} at once, not answered with 200`, pages),
    told('until the last is answered, p50', `${(percentile(lasts, 0.5) / 1_000).toFixed(1)} s`),
    told('processor time of the server for each, exists beside', `${percentile(costs, 0.5).toFixed(1)} ms`),
    {
      figure: 'exists of another merchant beside them, p95 of quiet',
      value: `${ratio.toFixed(2)} (${p95(beside).toFixed(1)} ms of ${p95(quiet).toFixed(1)} ms, ${beside.length})`,
      goal: `≤ ${GOAL_RATIO}`,
      met: ratio <= GOAL_RATIO,
    },
    none('of these, not answered with 200', beside),
  ];
}

/** Each page on a connection of its own, as each reader comes. */
async function loadAll({ origin }: Stage, tokens: readonly string[]): Promise<Answer[]> {
  return await Promise.all(
    tokens.map((token, index) => {
      const localAddress = `127.0.2.${1 + (index % ADDRESSES)}`;
      return asked(`${origin}/pay/${token}`, { agent: false, localAddress });
    }),
  );
}

/** Requests that follow each other every 10 ms, at least so many. */
async function exists({ origin, key }: Stage, goesOn: () => boolean, least: number): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: Answer[] = [];
  const headers = { Authorization: `Bearer ${key}` };
  while (answers.length < least || goesOn()) {
    const url = `${origin}/api/v1/customers/exists?external_id=user_${answers.length}`;
    answers.push(await asked(url, { agent, headers }));
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  agent.destroy();
  return answers;
}

function asked(url: string, options: RequestOptions): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(url, options, (response) => {
      response.resume();
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - began }),
      );
    }).once('error', reject);
  });
}

async function usedMs(server: ChildProcess): Promise<number> {
  server.send('used');
  const [used] = (await once(server, 'message')) as [number];
  return used;
}

async function otherKey(databaseUrl: string): Promise<string> {
  const orm = await openOrm({ url: databaseUrl, poolSize: 1, applicationName: 'bench' });
  const { keys } = await createMerchant(depsOf(orm), { name: 'Other', subscriptionActive: true });
  await orm.close(true);
  return keys.live;
}

async function serve(databaseUrl: string): Promise<void> {
  const limits = { poolSize: POOL_SIZE, statementTimeoutMs: REQUEST_STATEMENT_MS };
  const orm = await openOrm({ url: databaseUrl, applicationName: 'bench', ...limits });
  const deps = depsWithChains(depsOf(orm));
  const guards = createGuards(deps);
  const { signal } = new AbortController();
  const before = [payPages(deps, payOptions(guards, { publicUrl: undefined, signal }))];
  const app = createApp({ deps, guards, before, checkResponses: false });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.((user + system) / 1_000);
  });
  const { port } = await createServer(app).listen({ port: 0, host: '127.0.0.1' });
  process.send?.(port);
}

const served = process.env[ROLE];
if (served !== undefined && process.send) await serve(served);
