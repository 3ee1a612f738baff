import { BUDGET_MS } from '../api/requests/deadline.ts';
import { LISTS_AT_A_TIME } from '../api/requests/lists.ts';
import { createFairGate, type FairGate } from '../base/async/fair-gate.ts';
import { type Orm, openOrm } from '../db/orm.ts';

/** The parts of a worker that must never wait for each other's connections. */
export const PARTS = ['watcher', 'steps', 'webhooks', 'loops'] as const;
export type Part = (typeof PARTS)[number];
export type Pools = Readonly<Record<Part, Orm>>;

/**
 * The most connections of each part of a worker; they are opened when they are needed. The
 * watcher's are for a block, the reconciliation pass, and the starts after a commit. Each step
 * that runs at the same time has one of its own.
 */
export const POOL_SIZES: Readonly<Record<Part, number>> = { watcher: 3, steps: 20, webhooks: 10, loops: 4 };

/**
 * A step does not queue for a row: while it waits it holds a connection and a place in
 * the worker, and Temporal asks again anyway.
 */
const STEP_WAITS_FOR_LOCK_MS = 200;

/** Opens a pool for each part of a worker. Nothing connects before the first query. */
export async function openPools(url: string, name: string): Promise<Pools> {
  const open = (part: Part): Promise<Orm> =>
    openOrm({
      url,
      poolSize: POOL_SIZES[part],
      applicationName: `gateway ${name} ${part}`,
      ...(part === 'steps' ? { lockTimeoutMs: STEP_WAITS_FOR_LOCK_MS } : {}),
    });
  const [watcher, steps, webhooks, loops] = await Promise.all([
    open('watcher'),
    open('steps'),
    open('webhooks'),
    open('loops'),
  ]);
  return { watcher, steps, webhooks, loops };
}

/** As many as lists are read at a time, so no list takes a connection that another one needs. */
const LIST_POOL_SIZE = LISTS_AT_A_TIME;
/** After this time nobody waits for an answer any longer; what is done beside requests is as short. */
export const REQUEST_STATEMENT_MS = BUDGET_MS;

/**
 * Opens the pool of the API's lists, which have connections of their own: a
 * credential or a single row never waits behind them.
 */
export async function openListPool(url: string, name: string): Promise<Orm> {
  const limits = { poolSize: LIST_POOL_SIZE, statementTimeoutMs: REQUEST_STATEMENT_MS };
  return await openOrm({ url, applicationName: `gateway ${name} lists`, ...limits });
}

/**
 * Connections of the API's pool that are kept for credentials and everything else without a merchant. The
 * rest is shared by merchants, and one merchant's requests get only a part of it: however many of them wait
 * for one locked row, the requests of others find a connection.
 */
const KEPT_FROM_MERCHANTS = 2;
const OF_ONE_MERCHANT = 3;

/** The turns of merchants in a pool with this many connections. */
export function turnsOfMerchants(poolSize: number): FairGate {
  return createFairGate({
    places: Math.max(1, poolSize - KEPT_FROM_MERCHANTS),
    placesOfKey: OF_ONE_MERCHANT,
  });
}

/**
 * Health and metrics ask a dozen short questions at a time. More callers cause no more
 * questions, and none of these connections belongs to money.
 */
const HEALTH_POOL_SIZE = 3;
/**
 * Longer than readiness waits for an answer: a statement that it gave up must not
 * keep the connection from the next question.
 */
const HEALTH_STATEMENT_MS = 3_000;

/** Opens the pool of health and metrics, which a process has beside those of its work. */
export async function openHealthPool(url: string, name: string): Promise<Orm> {
  const limits = { poolSize: HEALTH_POOL_SIZE, statementTimeoutMs: HEALTH_STATEMENT_MS };
  return await openOrm({ url, applicationName: `gateway ${name} health`, ...limits });
}

/** Closes all pools. */
export async function closePools(pools: Pools): Promise<void> {
  await Promise.all(PARTS.map((part) => pools[part].close(true)));
}
