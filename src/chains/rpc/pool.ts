// A pool of endpoints of one chain, whatever protocol they speak: which one to ask, when to
// leave one alone, and what to say when none answers.

import { pause } from '../../base/async/pause.ts';
import { PoolEndpoint } from './endpoint.ts';
import { BudgetSpent, ChainMismatch, EndpointFailure, RpcRejected, RpcUnavailable } from './errors.ts';
import { createHttpPost } from './http-post.ts';
import type {
  EachOptions,
  EachResponse,
  EndpointStatus,
  Pool,
  PoolOptions,
  RunOptions,
  Session,
} from './types.ts';

/**
 * A caller that asks again at once is slowed down by the
 * pool itself, so that no retry loop can turn into a storm.
 */
const WAIT_FOR_ENDPOINT_MS = 1_000;
/** An endpoint whose next turn is further away than this is passed over for another one without a queue. */
const LONG_WAIT_MS = 250;
/**
 * An endpoint whose next turn is further away than this needs
 * its budget for whole blocks: it is not asked for extras.
 */
const SPARE_WAIT_MS = 1_000;

const ASK_OTHERS =
  'add an RPC endpoint of another provider that gives this block, and restart the worker: the chain waits behind it, and no block is passed over';

/**
 * Makes a pool; no connection is made before the first call. Throws a sentence for an unusable list of URLs.
 */
export function createPool<S extends Session>(options: PoolOptions<S>): Pool<S> {
  return new EndpointPool(options);
}

class EndpointPool<S extends Session> implements Pool<S> {
  readonly name: string;
  readonly #endpoints: readonly PoolEndpoint<S>[];
  readonly #options: PoolOptions<S>;
  readonly #now: () => number;
  #nextProbe = 0;

  constructor(options: PoolOptions<S>) {
    if (options.urls.length < 1 || options.urls.length > 16)
      throw new Error(`${options.name} needs 1 to 16 RPC endpoints, not ${options.urls.length}`);
    this.name = options.name;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    const post = createHttpPost();
    this.#endpoints = options.urls.map((url, index) => new PoolEndpoint(options, url, index, post));
    for (const endpoint of this.#endpoints) endpoint.onHead = (number) => this.#sawHead(endpoint, number);
  }

  async run<T>(
    work: (session: S) => Promise<T | undefined>,
    signal: AbortSignal,
    options: RunOptions = {},
  ): Promise<T | undefined> {
    signal.throwIfAborted();
    this.#probeIfDue(signal);
    await this.#waitForOne(signal);
    let absent = false;
    const problems = new Map<PoolEndpoint<S>, string>();
    for (const endpoint of this.#candidates(options)) {
      try {
        const value = await endpoint.attempt(work, signal);
        if (value !== undefined) return value;
        absent = true;
      } catch (error) {
        if (error instanceof BudgetSpent) await this.#slowDown(signal);
        if (!isEndpoints(error)) throw error;
        problems.set(endpoint, error.message);
      }
    }
    if (absent) return undefined;
    throw this.#unavailable(options.block, problems);
  }

  async checkChain(signal: AbortSignal): Promise<void> {
    const answers = await Promise.allSettled(
      this.#endpoints.map((endpoint) => endpoint.ensureChain(signal, 'counts')),
    );
    signal.throwIfAborted();
    for (const answer of answers) {
      if (answer.status === 'rejected' && answer.reason instanceof ChainMismatch) throw answer.reason;
    }
    if (answers.every((answer) => answer.status === 'rejected'))
      throw (await this.#refused(answers, signal)) ?? this.#unavailable();
  }

  async all<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T[]> {
    await this.#waitForOne(signal);
    const ready = this.#endpoints.filter((endpoint) => endpoint.isReady());
    const answers = await Promise.allSettled(ready.map((endpoint) => endpoint.attempt(work, signal)));
    signal.throwIfAborted();
    const values: T[] = [];
    for (const answer of answers) {
      if (answer.status === 'fulfilled') values.push(answer.value);
      else if (!isEndpoints(answer.reason) && !(answer.reason instanceof BudgetSpent)) throw answer.reason;
    }
    if (values.length > 0) return values;
    throw (await this.#refused(answers, signal)) ?? this.#unavailable();
  }

  async each<T>(
    work: (session: S) => Promise<T>,
    signal: AbortSignal,
    { ready = false, withinMs }: EachOptions = {},
  ): Promise<EachResponse<T>[]> {
    const some = this.#endpoints.filter((endpoint) => !ready || endpoint.isReady());
    const limitMs = withinMs === undefined ? undefined : withinMs * (this.#options.patience ?? 1);
    return await Promise.all(some.map((endpoint) => said(endpoint, work, signal, limitMs)));
  }

  async elsewhere<T>(
    besides: number,
    work: (session: S) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const spare = this.#candidates().filter(
      (endpoint) => endpoint.index !== besides && endpoint.rate.waitMs() <= SPARE_WAIT_MS,
    );
    for (const endpoint of spare) {
      try {
        const value = await endpoint.attemptAside(work, signal);
        if (value !== undefined) return value;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof BudgetSpent) return undefined;
        if (!isExpected(error)) throw error;
      }
    }
    return undefined;
  }

  async aside<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T> {
    const problems: string[] = [];
    for (const endpoint of this.#candidates()) {
      try {
        return await endpoint.attemptAside(work, signal);
      } catch (error) {
        if (!isEndpoints(error)) throw error;
        problems.push(`${endpoint.host}: ${error.message}`);
      }
    }
    throw problems.length > 0
      ? new RpcUnavailable(`no RPC endpoint of ${this.name} gave it: ${problems.join(', ')}`, this.name)
      : this.#unavailable();
  }

  status(): EndpointStatus[] {
    return this.#endpoints.map((endpoint) => ({
      host: endpoint.host,
      headNumber: endpoint.head,
      problem:
        endpoint.problem ??
        (this.#lags(endpoint) ? `${endpoint.behind} blocks behind the best endpoint` : null),
      requestsPerSecond: endpoint.rate.perSecond(),
      toldMsAgo: endpoint.toldAt === undefined ? null : Math.max(0, this.#now() - endpoint.toldAt),
    }));
  }

  /**
   * From time to time asks the endpoints that are not in use for their head, beside the caller's work and
   * without delaying it: this brings back one that has recovered, and finds one that others have overtaken.
   */
  #probeIfDue(signal: AbortSignal): void {
    if (this.#endpoints.length < 2 || this.#now() < this.#nextProbe) return;
    this.#nextProbe = this.#now() + (this.#options.probeEveryMs ?? 10_000);
    const [inUse] = this.#candidates();
    for (const endpoint of this.#endpoints) {
      if (endpoint === inUse || !endpoint.isReady()) continue;
      const probe = async (session: S) => {
        const height = await this.#options.protocol.height(session);
        if (height !== undefined) session.sawHead(height);
      };
      endpoint.attempt(probe, signal).catch(() => undefined); // What went wrong is on the endpoint already.
    }
  }

  /**
   * Usable endpoints, the best first: up to date, then fit for the work, then
   * without a queue before it, then without failures, then as configured.
   */
  #candidates({ last }: RunOptions = {}): PoolEndpoint<S>[] {
    const ready = this.#endpoints.filter((endpoint) => endpoint.isReady());
    const rank = (endpoint: PoolEndpoint<S>): number =>
      (this.#lags(endpoint) ? 4 : 0) +
      (last?.(endpoint.index) ? 2 : 0) +
      (endpoint.rate.waitMs() > LONG_WAIT_MS ? 1 : 0);
    const ranks = new Map(ready.map((endpoint) => [endpoint, rank(endpoint)]));
    return ready.sort(
      (a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || a.failures - b.failures || a.index - b.index,
    );
  }

  #sawHead(endpoint: PoolEndpoint<S>, number: number): void {
    endpoint.head = number;
    const others = this.#endpoints.filter((other) => other.problem === null && other.head !== null);
    endpoint.behind = Math.max(0, ...others.map((other) => (other.head ?? 0) - number));
  }

  #lags(endpoint: PoolEndpoint<S>): boolean {
    return endpoint.behind > (this.#options.lagBlocks ?? 20);
  }

  async #waitForOne(signal: AbortSignal): Promise<void> {
    const earliest = Math.min(...this.#endpoints.map((endpoint) => endpoint.notBefore));
    const waitMs = Math.min(earliest - this.#now(), WAIT_FOR_ENDPOINT_MS);
    if (waitMs > 0) await (this.#options.pause ?? pause)(waitMs + 1, signal);
  }

  /** Before a caller hears that nothing may be asked for now: it may ask again at once. */
  async #slowDown(signal: AbortSignal): Promise<void> {
    await (this.#options.pause ?? pause)(WAIT_FOR_ENDPOINT_MS, signal);
  }

  async #refused(
    answers: readonly PromiseSettledResult<unknown>[],
    signal: AbortSignal,
  ): Promise<BudgetSpent | undefined> {
    const refused = spent(answers);
    if (refused) await this.#slowDown(signal);
    return refused;
  }

  /** `problems` are those of this question; of others what was wrong last is told. */
  #unavailable(block?: number, problems: ReadonlyMap<PoolEndpoint<S>, string> = new Map()): Error {
    if (this.#endpoints.every((endpoint) => endpoint.chain === 'wrong')) {
      const found = this.#endpoints.map((endpoint) => `${endpoint.host}: ${endpoint.problem}`).join('; ');
      return new ChainMismatch(
        `every RPC endpoint of ${this.name} serves another chain (${found}): correct the RPC URLs or the ${this.#options.protocol.identity}`,
      );
    }
    const hostsOf = Map.groupBy(
      this.#endpoints,
      (endpoint) => problems.get(endpoint) ?? endpoint.problem ?? 'not asked',
    );
    const count = this.#endpoints.length;
    const parts = Array.from(
      hostsOf,
      ([problem, endpoints]) =>
        `${problem} from ${endpoints.length} of ${count} (${endpoints.map(({ host }) => host).join(', ')})`,
    );
    const told = parts.join(', ');
    return block === undefined
      ? new RpcUnavailable(`no RPC endpoint answers for ${this.name}: ${told}`, this.name)
      : new RpcUnavailable(
          `no RPC endpoint gives block ${block} of ${this.name}: ${told}`,
          this.name,
          ASK_OTHERS,
        );
  }
}

async function said<S extends Session, T>(
  endpoint: PoolEndpoint<S>,
  work: (session: S) => Promise<T>,
  signal: AbortSignal,
  withinMs: number | undefined,
): Promise<EachResponse<T>> {
  const { host } = endpoint;
  const limit = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
  try {
    const limited = limit ? AbortSignal.any([signal, limit]) : signal;
    return { host, value: await endpoint.attemptAside(work, limited) };
  } catch (error) {
    signal.throwIfAborted();
    if (limit?.aborted) return { host, problem: `no answer within ${Number(withinMs) / 1_000} s` };
    if (!isExpected(error)) throw error;
    return { host, problem: error.message };
  }
}

function isEndpoints(error: unknown): error is EndpointFailure | ChainMismatch {
  return error instanceof EndpointFailure || error instanceof ChainMismatch;
}

function isExpected(error: unknown): error is EndpointFailure | ChainMismatch | RpcRejected | BudgetSpent {
  return isEndpoints(error) || error instanceof RpcRejected || error instanceof BudgetSpent;
}

function spent(answers: readonly PromiseSettledResult<unknown>[]): BudgetSpent | undefined {
  const reasons = answers.map((answer) => (answer.status === 'rejected' ? answer.reason : undefined));
  return reasons.find((reason) => reason instanceof BudgetSpent);
}
