// What 1,000 open streams of payment links cost a process, and how GET
// /payments/:token does while 500 of them are opened at once.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { payOptions } from '../../src/app/pay-options.ts';
import { REQUEST_STATEMENT_MS } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { payPages } from '../../src/web/pay.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { depsWithChains, fillLinks } from './links.ts';

const STREAMS = 1_000;
const BURST = 500;
/** What every process does once is not counted. */
const WARM = 20;
const ROUNDS = Number.parseInt(process.env['BENCH_ROUNDS'] ?? '5', 10);
const QUIET_SAMPLES = 300;
const EVERY_MS = 10;
const WATCHED_MS = 20_000;
const POOL_SIZE = 10;
/** Of the streams that one address may have open at a time. */
const STREAMS_OF_ADDRESS = 50;
const ROLE = 'BENCH_STREAMS_DATABASE';

/** What the server's process says of itself. */
type Costs = {
  readonly cpuMs: number;
  /** The same after it was told, which costs something too. */
  readonly toldMs: number;
  /** What it holds once everything is given back to the system that nothing uses. */
  readonly heldBytes: number;
  /** The most that it ever took. */
  readonly peakBytes: number;
  readonly statements: number;
};

/** The server in a process of its own, so that what it uses is what the streams use. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  let server: ChildProcess | undefined;
  try {
    const tokens = await fillLinks(postgres.url, STREAMS);
    server = fork(import.meta.filename, {
      execArgv: ['--expose-gc'],
      env: { ...process.env, [ROLE]: postgres.url },
    });
    const [port] = (await once(server, 'message')) as [number];
    const origin = `http://127.0.0.1:${port}`;
    // First, while the process never took more than this needs.
    const open = await measureOpen(server, origin, tokens);
    return [...open, ...(await measureBursts(origin, tokens))];
  } finally {
    server?.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOpen(server: ChildProcess, origin: string, tokens: readonly string[]): Promise<Row[]> {
  for (const stream of await openAll(origin, tokens.slice(0, WARM))) stream.destroy();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = await costsOf(server);
  const streams = await openAll(origin, tokens.slice(0, STREAMS));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const opened = await costsOf(server);
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  const later = await costsOf(server);
  const seconds = (performance.now() - began) / 1_000;
  for (const stream of streams) stream.destroy();
  const share = (later.cpuMs - opened.toldMs) / 10 / seconds;
  const mebibytes = (later.heldBytes - before.heldBytes) / 2 ** 20;
  const peak = (later.peakBytes - before.heldBytes) / 2 ** 20;
  const asked = (later.statements - opened.statements) / seconds;
  const row = (figure: string, value: string, [goal, met]: [string, boolean]): Row => ({
    figure,
    value,
    goal,
    met,
  });
  return [
    row(`${STREAMS} open streams, share of a core`, `${share.toFixed(1)} %`, ['≤ 5 %', share <= 5]),
    row(`${STREAMS} open streams, memory`, `${mebibytes.toFixed(0)} MB`, ['≤ 50 MB', mebibytes <= 50]),
    row(`the most while ${STREAMS} are opened at once`, `${peak.toFixed(0)} MB`, ['', true]),
    row(`${STREAMS} open streams, statements a second`, asked.toFixed(2), ['≤ 1.1', asked <= 1.1]),
  ];
}

async function measureBursts(origin: string, tokens: readonly string[]): Promise<Row[]> {
  const url = `${origin}/api/v1/payments/${tokens[0]}`;
  const [quiet, beside, firsts]: [number[], number[], number[]] = [[], [], []];
  await sample(url, () => false, QUIET_SAMPLES);
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(...(await sample(url, () => false, QUIET_SAMPLES)));
    let over = false;
    const began = performance.now();
    const opening = openAll(origin, tokens.slice(0, BURST)).finally(() => {
      over = true;
      firsts.push(performance.now() - began);
    });
    beside.push(...(await sample(url, () => !over, 1)));
    for (const stream of await opening) stream.destroy();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  const rows = [0.5, 0.95].map((part): Row => {
    const [calm, busy] = [percentile(quiet, part), percentile(beside, part)];
    const ratio = busy / calm;
    return {
      figure: `GET /payments/:token beside ${BURST} opens at once, p${part * 100} of quiet`,
      value: `${ratio.toFixed(2)} (${busy.toFixed(1)} ms of ${calm.toFixed(1)} ms)`,
      goal: '≤ 1.5',
      met: ratio <= 1.5,
    };
  });
  const slowest = (percentile(firsts, 0.5) / 1_000).toFixed(1);
  return [
    ...rows,
    { figure: `until each of ${BURST} has its first view`, value: `${slowest} s`, goal: '', met: true },
  ];
}

/** The times of requests that follow each other every 10 ms, at least so many. */
async function sample(url: string, goesOn: () => boolean, least: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  while (times.length < least || goesOn()) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      get(url, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        response.resume().once('end', resolve);
      }).once('error', reject);
    });
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  agent.destroy();
  return times;
}

/** A stream for each token; resolves when each has had its first view. */
async function openAll(origin: string, tokens: readonly string[]): Promise<IncomingMessage[]> {
  return await Promise.all(
    tokens.map(
      (token, index) =>
        new Promise<IncomingMessage>((resolve, reject) => {
          const localAddress = `127.0.2.${1 + Math.floor(index / STREAMS_OF_ADDRESS)}`;
          get(`${origin}/pay/${token}/live`, { agent: false, localAddress }, (response) => {
            if (response.statusCode !== 200)
              reject(new Error(`a stream was answered with ${response.statusCode}`));
            response.on('error', () => undefined);
            response.on('data', (chunk: Buffer) => {
              if (chunk.includes('event: view')) resolve(response);
            });
          }).once('error', reject);
        }),
    ),
  );
}

async function costsOf(server: ChildProcess): Promise<Costs> {
  server.send('costs');
  const [costs] = (await once(server, 'message')) as [Costs];
  return costs;
}

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function serve(databaseUrl: string): Promise<void> {
  const limits = { poolSize: POOL_SIZE, statementTimeoutMs: REQUEST_STATEMENT_MS };
  const orm = await openOrm({ url: databaseUrl, applicationName: 'bench', ...limits });
  const deps = depsWithChains(depsOf(orm));
  const guards = generousGuards(deps);
  const { signal } = new AbortController();
  const before = [payPages(deps, payOptions(guards, { publicUrl: undefined, signal }))];
  const app = createApp({ deps, guards, before, checkResponses: false });
  let statements = 0;
  const pool = await orm.em.getConnection().getNativeClient();
  pool.on('acquire', () => {
    statements += 1;
  });
  process.on('message', () => {
    const cpuMs = usedMs();
    // Or the engine keeps the pages in which the pages of visitors were made, until somebody needs them.
    const collect = globalThis.gc as ((how: object) => void) | undefined;
    collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    const costs: Costs = {
      cpuMs,
      toldMs: usedMs(),
      heldBytes: process.memoryUsage.rss(),
      peakBytes: process.resourceUsage().maxRSS * 1_024,
      statements,
    };
    process.send?.(costs);
  });
  const { port } = await createServer(app).listen({ port: 0, host: '127.0.0.1' });
  process.send?.(port);
}

const served = process.env[ROLE];
if (served !== undefined && process.send) await serve(served);
