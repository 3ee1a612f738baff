// The servers that are measured: each a process of its own, so that what it uses is what its requests use.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../../src/api/app.ts';
import { createGuards } from '../../src/api/requests/rate-limits.ts';
import { createServer } from '../../src/api/server.ts';
import { payOptions } from '../../src/app/pay-options.ts';
import { openListPool, REQUEST_STATEMENT_MS } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import type { Deps } from '../../src/services/deps.ts';
import { payPages } from '../../src/web/pay.ts';
import { depsOf } from '../deps.ts';
import { bareReads } from './bare-reads.ts';

const POOL_SIZE = 10;
const EVERY_MS = 10;
const UNLIMITED = {
  requestsPerSecond: 1e6,
  requestsBurst: 1e6,
  badCredentialsPerMinute: 1e6,
  testsPerSecond: 1e6,
};

/** How requests are counted: as ever but never refused, as in the product, or each from behind a proxy. */
const GUARDS = {
  generous: { limits: UNLIMITED },
  usual: {},
  proxied: { limits: { ...UNLIMITED, badCredentialsPerMinute: 20 }, trustedProxies: ['127.0.0.1'] },
} as const;
type Task = {
  readonly databaseUrl: string;
  readonly guards?: keyof typeof GUARDS;
  /** What the product has beside: connections of their own for lists, and payers' pages. */
  readonly with?: 'lists' | 'pages';
  /** Its reads for this merchant as the plainest application, in place of the API. */
  readonly bareFor?: string;
};

/** What a server's process says of itself. */
export type Costs = {
  readonly cpuMs: number;
  /** The same after it was told, which costs something too. */
  readonly toldMs: number;
  /** What it holds once everything is given back that nothing uses, and the engine's part of it. */
  readonly heldBytes: number;
  readonly heapBytes: number;
  /** The most that it ever took. */
  readonly peakBytes: number;
  readonly statements: number;
};

/** Has the work done beside such a server; `costs` asks it what it has used so far. */
export async function beside<T>(
  task: Task,
  work: (server: { origin: string; api: string; costs(): Promise<Costs> }) => Promise<T>,
): Promise<T> {
  const child: ChildProcess = fork(import.meta.filename, [JSON.stringify(task)], {
    execArgv: ['--expose-gc'],
  });
  try {
    const [port] = (await once(child, 'message')) as [number];
    const origin = `http://127.0.0.1:${port}`;
    const costs = async (): Promise<Costs> => {
      child.send('costs');
      const [answer] = (await once(child, 'message')) as [Costs];
      return answer;
    };
    return await work({ origin, api: `${origin}${task.bareFor === undefined ? '/api/v1' : ''}`, costs });
  } finally {
    child.kill();
  }
}

export type Answer = { readonly status: number; readonly ms: number };

/** One request whose answer is read and dropped. */
export function ask(url: string, options: RequestOptions): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(url, options, (response: IncomingMessage) => {
      response.resume();
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, ms: performance.now() - began }),
      );
    }).once('error', reject);
  });
}

/** A request by key that is answered with 200. Throws where it is not. */
export async function read(url: string, key: string, agent: Agent): Promise<number> {
  const { status, ms } = await ask(url, { agent, headers: { Authorization: `Bearer ${key}` } });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return ms;
}

/** Requests that follow each other every 10 ms over one connection, at least so many. */
export async function sample(
  urlOf: (index: number) => string,
  { key, least, goesOn = () => false }: { key?: string; least: number; goesOn?: () => boolean },
): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const answers: Answer[] = [];
  while (answers.length < least || goesOn()) {
    answers.push(await ask(urlOf(answers.length), { agent, headers }));
    await sleep(EVERY_MS);
  }
  agent.destroy();
  return answers;
}

/** Requests a second over keep-alive connections, each waiting for its answer before it asks again. */
export async function load(
  urlOf: () => string,
  key: string,
  durationMs: number,
  connections = 16,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const began = performance.now();
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < began + durationMs) {
      await read(urlOf(), key, agent);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return (done / (performance.now() - began)) * 1_000;
}

const FIXED = { BNB: 60_000_000_000n, TRX: 30_000_000n, USDT: 100_000_000n };
const prices: Deps['prices'] = {
  price: async (currency) => ({ usd8: FIXED[currency], source: 'fixed', at: new Date(), stale: false }),
};

async function serve(task: Task): Promise<number> {
  const { databaseUrl, guards: counted = 'generous', bareFor } = task;
  const limits = { poolSize: POOL_SIZE, statementTimeoutMs: REQUEST_STATEMENT_MS };
  const orm = await openOrm({ url: databaseUrl, applicationName: 'gateway', ...limits });
  const pool = await orm.em.getConnection().getNativeClient();
  let statements = 0;
  pool.on('acquire', () => {
    statements += 1;
  });
  process.on('message', () => process.send?.(costsNow(statements)));
  if (bareFor !== undefined) {
    const server = bareReads(pool, bareFor).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  const deps: Deps = { ...depsOf(orm), prices };
  const guards = createGuards(deps, GUARDS[counted]);
  const { signal } = new AbortController();
  const pages = () => payPages(deps, payOptions(guards, { publicUrl: undefined, signal }));
  const app = createApp({
    deps,
    guards,
    checkResponses: false,
    ...(task.with === 'lists' ? { listOrm: await openListPool(databaseUrl, 'bench') } : {}),
    ...(task.with === 'pages' ? { before: [pages()] } : {}),
  });
  return (await createServer(app).listen({ port: 0, host: '127.0.0.1' })).port;
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function costsNow(statements: number): Costs {
  const cpuMs = usedMs();
  // Or the engine keeps the pages in which the pages of visitors were made, until somebody needs them.
  const collect = globalThis.gc as ((how: object) => void) | undefined;
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return {
    cpuMs,
    toldMs: usedMs(),
    heldBytes: process.memoryUsage.rss(),
    heapBytes: process.memoryUsage().heapUsed,
    peakBytes: process.resourceUsage().maxRSS * 1_024,
    statements,
  };
}

const [, file, task] = process.argv;
if (file === import.meta.filename && task && process.send)
  process.send(await serve(JSON.parse(task) as Task));
