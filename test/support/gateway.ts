import { randomBytes, randomUUID } from 'node:crypto';
import { migratedDatabase } from '../../dev/support/parts.ts';
import { note } from '../../dev/support/test-run.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createApp } from '../../src/api/app.ts';
import { createListDoor } from '../../src/api/requests/lists.ts';
import { createGuards } from '../../src/api/requests/rate-limits.ts';
import type { Route } from '../../src/api/route.ts';
import { createServer } from '../../src/api/server.ts';
import { createMetrics, type Metrics } from '../../src/app/metrics.ts';
import { migrate } from '../../src/app/migrate.ts';
import { observeHttp, observeRefusal } from '../../src/app/observe.ts';
import type { Shared } from '../../src/app/pages.ts';
import { pagesFor } from '../../src/app/pages.ts';
import { createSecretBox } from '../../src/base/secret-box.ts';
import { type Orm, type OrmInput, openOrm } from '../../src/db/orm.ts';
import type { Mode } from '../../src/domain/assets.ts';
import { DEFAULT_LIMITS, type RequestLimits } from '../../src/domain/limits.ts';
import { createPasswordLine } from '../../src/services/access/proof.ts';
import type { ActorPort, Deps, Logger, ServiceSettings } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import type { AskedChains } from '../../src/services/merchants/withdraw-addresses.ts';
import { docsPages } from '../../src/web/docs/site.ts';
import { loginPages } from '../../src/web/login.ts';

/** An id that no row has. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const NO_LIMITS: RequestLimits = {
  requestsPerSecond: 1e6,
  requestsBurst: 1e6,
  badCredentialsPerMinute: 1e6,
  testsPerSecond: 1e6,
};

/** A line that the product logged. */
export type LoggedLine = {
  readonly level: string;
  readonly text: string;
  readonly fields: Record<string, unknown>;
};

/** A merchant with a key for each mode. */
export type TestMerchant = { readonly id: string; readonly keys: Readonly<Record<Mode, string>> };

export type TestApiOptions = {
  /** The database; unset means a fresh one with the schema. */
  readonly databaseUrl?: string;
  readonly settings?: Partial<ServiceSettings>;
  /** Where people reach it, when that is not its own address. */
  readonly publicUrl?: string;
  readonly deps?: Partial<Deps>;
  readonly routes?: readonly Route[];
  readonly poolSize?: number;
  /** Connections that lists have for themselves; unset means those of everything else. */
  readonly listOrm?: Orm;
  /**
   * Unset means 1.5 s for an API: less than it has for an answer. Services have what they have in production.
   */
  readonly statementTimeoutMs?: number;
  /** How the connections are shared among merchants. */
  readonly turns?: OrmInput['turns'];
  readonly actors?: ActorPort;
  /**
   * An unset member means the contract's own number; without this, limits are so
   * high that no test meets one by chance.
   */
  readonly limits?: Partial<RequestLimits>;
  readonly trustedProxies?: readonly string[];
  /** Chains that pages ask whether code runs at an address; unset means none. */
  readonly chains?: AskedChains;
  /** What the pages of payment links are given otherwise. */
  readonly pay?: Shared['pay'];
};

export type TestApi = {
  /** Ends in `/api/v1`. */
  readonly url: string;
  readonly origin: string;
  readonly deps: Deps;
  readonly lines: LoggedLine[];
  readonly metrics: Metrics;
  readonly merchant: TestMerchant;
  /** The first merchant's keys. */
  readonly keys: Readonly<Record<Mode, string>>;
  newMerchant(): Promise<TestMerchant>;
  stop(): Promise<void>;
};

/** What a parser returns: tests read it without checking it first. */
type Json = ReturnType<typeof JSON.parse>;

/** An answer with its body parsed, whatever it is. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, Json>;
  readonly text: string;
};

/**
 * The whole HTTP API on a free port over a real PostgreSQL, without
 * Temporal. Local receivers are allowed unless the settings say otherwise.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = options.databaseUrl === undefined ? await migratedDatabase() : undefined;
  const lines: LoggedLine[] = [];
  const deps = await testDeps(options.databaseUrl ?? database?.url ?? '', lines, {
    statementTimeoutMs: 1_500,
    ...options,
  });
  // A database of our own was copied from one that has the schema.
  if (options.databaseUrl !== undefined) await migrate(deps.orm);
  const limits = options.limits ? { ...DEFAULT_LIMITS, ...options.limits } : NO_LIMITS;
  const guards = createGuards(deps, { limits, trustedProxies: options.trustedProxies });
  const lists = createListDoor(deps, options.listOrm);
  const passwordLine = createPasswordLine();
  const metrics = createMetrics({ defaults: false });
  const ending = new AbortController();
  const app = createApp({
    deps,
    guards,
    lists,
    loginPages,
    docsPages,
    observe: observeHttp(metrics),
    before: pagesFor(deps, {
      guards,
      lists,
      publicUrl: options.publicUrl,
      passwordLine,
      chains: options.chains ?? new Map(),
      signal: ending.signal,
      pay: options.pay,
    }),
    publicUrl: options.publicUrl,
    passwordLine,
    checkResponses: true,
    ...(options.routes ? { routes: options.routes } : {}),
  });
  const server = createServer(app, { onRefusal: observeRefusal(metrics) });
  const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
  const origin = `http://127.0.0.1:${port}`;
  const newMerchant = async () => {
    const made = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    return { id: made.merchantId, keys: made.keys };
  };
  const merchant = await newMerchant();
  const stop = async () => {
    ending.abort();
    await server.close(2_000);
    await deps.orm.close(true);
    await database?.drop();
  };
  return {
    url: `${origin}/api/v1`,
    origin,
    deps,
    lines,
    metrics,
    merchant,
    keys: merchant.keys,
    newMerchant,
    stop,
  };
}

/** The API of all tests of the `describe` that calls this: started before the first, stopped after all. */
export function apiOf(options: TestApiOptions = {}): TestApi {
  let started: TestApi | undefined;
  before(async () => {
    started = await startTestApi(options);
  });
  after(() => started?.stop());
  return new Proxy({} as TestApi, {
    get: (_none, member) => Reflect.get(started ?? {}, member),
  });
}

/** The log lines that deserve attention: errors, and warnings that are not about a refused request. */
export const troublesOf = ({ lines }: Pick<TestApi, 'lines'>): readonly LoggedLine[] =>
  lines.filter(({ level, text }) => level === 'error' || (level === 'warn' && !REFUSALS.includes(text)));
/** The second where a busy machine is late: whoever asked is told 503, and fails by that or asks again. */
const REFUSALS = ['request', 'a request was refused'];

/** What the services need, over a database that exists. */
export async function testDeps(
  url: string,
  lines: LoggedLine[],
  options: TestApiOptions = {},
): Promise<Deps> {
  const { poolSize = 10, statementTimeoutMs = 15_000 } = options;
  const orm = await openOrm({
    url,
    poolSize,
    applicationName: 'test',
    statementTimeoutMs,
    turns: options.turns,
  });
  return {
    orm,
    log: collectingLog(lines),
    now: () => new Date(),
    newId: randomUUID,
    settings: testSettings(options.settings),
    secretBox: createSecretBox(randomBytes(32)),
    xpubs: testXpubs(),
    prices: {
      price: async (currency) =>
        currency === 'USDT'
          ? { usd8: 100_000_000n, source: 'test', at: new Date(), stale: false }
          : undefined,
    },
    actors: options.actors,
    ...options.deps,
  };
}

/** Settings of a test: small and open to receivers on this machine. */
export function testSettings(settings: Partial<ServiceSettings> = {}): ServiceSettings {
  return {
    requiredConfirmations: { bsc: 15, tron: 19 },
    contracts: {
      bsc: '0x55d398326f99059fF775485246999027B3197955',
      tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    },
    chainIds: { bsc: 56, tron: undefined },
    explorerUrls: { bsc: 'https://bscscan.com', tron: 'https://tronscan.org' },
    minDepositUnits: new Map(),
    dustFloorUnits: new Map(),
    stuckAfterMs: 3_600_000,
    webhookMaxAttempts: 5,
    webhookRetentionMs: 90 * 24 * 60 * 60_000,
    webhookTarget: { allowHttp: true, allowedCidrs: ['127.0.0.0/8'] },
    payments: { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: ['bsc', 'tron'] },
    blockIntervalMs: { bsc: 450, tron: 3_000 },
    comparedEveryMs: { bsc: 3_600_000, tron: 86_400_000 },
    sessions: { idleMs: 30 * 60_000, maxMs: 12 * 3_600_000 },
    withdrawChangeDelayMs: 24 * 3_600_000,
    payouts: { networks: [], minUnits: new Map(), maxFeeBasisPoints: 500n },
    ...settings,
  };
}

/** One request with a key and, for an object, a JSON body. */
export async function call(
  url: string,
  input: { method?: string; key?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const raw = typeof input.body === 'string' || input.body instanceof Uint8Array;
  const method = input.method ?? (input.body === undefined ? 'GET' : 'POST');
  const response = await fetch(url, {
    method,
    headers: {
      ...(input.body === undefined || raw ? {} : { 'Content-Type': 'application/json' }),
      ...(input.key === undefined ? {} : { Authorization: `Bearer ${input.key}` }),
      ...input.headers,
    },
    ...(input.body === undefined ? {} : { body: raw ? (input.body as string) : JSON.stringify(input.body) }),
  });
  const text = await response.text();
  note(`${method} ${url} -> ${response.status} ${text.slice(0, 300)}`);
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): Record<string, Json> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function collectingLog(lines: LoggedLine[]): Logger {
  const write = (level: string) => (fields: object, text: string) => {
    lines.push({ level, text, fields: fields as Record<string, unknown> });
    note(`${level} ${text}`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
