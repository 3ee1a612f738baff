// A pool of JSON-RPC endpoints of one chain: which one to ask, when to leave one alone, and what to say when none answers.
import { backOffMs } from './back-off.ts';
import { ChainMismatch, EndpointFailure, RpcRejected, RpcUnavailable } from './errors.ts';
import { createHttpPost } from './http-post.ts';
import { pause } from './pause.ts';
import type { EndpointStatus } from './port.ts';
import { createRate, type Rate } from './rate.ts';

import { callEndpoint, type Endpoint, parseEndpoint } from './rpc-call.ts';
import type { RpcPool, RpcPoolOptions, RpcSession } from './rpc-types.ts';

export type { RpcPool, RpcPoolOptions, RpcSession } from './rpc-types.ts';

type State = {
  readonly endpoint: Endpoint;
  readonly index: number;
  failures: number;
  notBefore: number;
  problem: string | null;
  /** undefined = not asked yet, or asked before the connection broke. */
  chain: 'right' | 'wrong' | undefined;
  head: number | null;
  /** How far that head was behind the best one when it was seen: an endpoint that is asked for it rarely is not slow for that. */
  behind: number;
  readonly rate: Rate;
};

/** A caller that asks again at once is slowed down by the pool itself, so that no retry loop can turn into a storm. */
const WAIT_FOR_ENDPOINT_MS = 1_000;
/** One whose next turn is further away than this is passed over for another that has none before it. */
const LONG_WAIT_MS = 250;
/** An endpoint whose next turn is further away than this needs its budget for whole blocks: it is not asked for extras. */
const SPARE_WAIT_MS = 1_000;
/** An endpoint of another chain is looked at again after this time: a wrong proxy gets repaired. */
const WRONG_CHAIN_MS = 60_000;

/** Makes a pool; no connection is made before the first call. Throws a sentence for an unusable list of URLs. */
export function createRpcPool(options: RpcPoolOptions): RpcPool {
  return new Pool(options);
}

function rateOf({ requestsPerSecond = 200, burst = Math.min(50, requestsPerSecond) }: RpcPoolOptions, now: () => number): Rate {
  return createRate({ perSecond: requestsPerSecond, burst, now });
}

class Pool implements RpcPool {
  readonly name: string;
  readonly chainId: number;
  readonly #states: State[];
  readonly #options: RpcPoolOptions;
  readonly #now: () => number;
  readonly #post = createHttpPost();
  #nextProbe = 0;

  constructor(options: RpcPoolOptions) {
    if (options.urls.length < 1 || options.urls.length > 16)
      throw new Error(`${options.name} needs 1 to 16 RPC endpoints, not ${options.urls.length}`);
    this.name = options.name;
    this.chainId = options.chainId;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#states = options.urls.map((url, index) => ({
      endpoint: parseEndpoint(url),
      index,
      failures: 0,
      notBefore: 0,
      problem: null,
      chain: undefined,
      head: null,
      behind: 0,
      rate: rateOf(options, this.#now),
    }));
  }

  async run<T>(work: (session: RpcSession) => Promise<T | undefined>, signal: AbortSignal): Promise<T | undefined> {
    signal.throwIfAborted();
    this.#probeIfDue(signal);
    await this.#waitForOne(signal);
    let absent = false;
    for (const state of this.#candidates()) {
      try {
        const value = await this.#attempt(state, work, signal);
        if (value !== undefined) return value;
        absent = true;
      } catch (error) {
        if (!(error instanceof EndpointFailure || error instanceof ChainMismatch)) throw error;
      }
    }
    if (absent) return undefined;
    throw this.#unavailable();
  }

  async checkChain(signal: AbortSignal): Promise<void> {
    const answers = await Promise.allSettled(this.#states.map((state) => this.#ensureChain(state, signal)));
    signal.throwIfAborted();
    for (const answer of answers) {
      if (answer.status === 'rejected' && answer.reason instanceof ChainMismatch) throw answer.reason;
    }
    if (answers.every((answer) => answer.status === 'rejected')) throw this.#unavailable();
  }

  async all<T>(work: (session: RpcSession) => Promise<T>, signal: AbortSignal): Promise<T[]> {
    await this.#waitForOne(signal);
    const ready = this.#states.filter((state) => state.notBefore <= this.#now());
    const answers = await Promise.allSettled(ready.map((state) => this.#attempt(state, work, signal)));
    signal.throwIfAborted();
    const values: T[] = [];
    for (const answer of answers) {
      if (answer.status === 'fulfilled') values.push(answer.value);
      else if (!(answer.reason instanceof EndpointFailure || answer.reason instanceof ChainMismatch)) throw answer.reason;
    }
    if (values.length === 0) throw this.#unavailable();
    return values;
  }

  async elsewhere<T>(besides: number, work: (session: RpcSession) => Promise<T | undefined>, signal: AbortSignal): Promise<T | undefined> {
    for (const state of this.#candidates()) {
      if (state.index === besides || state.rate.waitMs() > SPARE_WAIT_MS) continue;
      try {
        await this.#ensureChain(state, signal);
        const value = await work(this.#session(state, signal));
        if (value !== undefined) return value;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EndpointFailure || error instanceof ChainMismatch || error instanceof RpcRejected)) throw error;
      }
    }
    return undefined;
  }

  status(): EndpointStatus[] {
    return this.#states.map((state) => ({
      host: state.endpoint.host,
      headNumber: state.head,
      problem: state.problem ?? (this.#lags(state) ? `${state.behind} blocks behind the best endpoint` : null),
    }));
  }

  async #attempt<T>(state: State, work: (session: RpcSession) => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#ensureChain(state, signal);
    try {
      const value = await work(this.#session(state, signal));
      this.#succeeded(state);
      return value;
    } catch (error) {
      if (error instanceof EndpointFailure) this.#failed(state, error);
      throw error;
    }
  }

  #session(state: State, signal: AbortSignal): RpcSession {
    return {
      host: state.endpoint.host,
      endpoint: state.index,
      call: (method, params, limits) => this.#call(state, { method, params }, signal, limits?.timeoutMs),
      sawHead: (number) => {
        this.#sawHead(state, number);
      },
    };
  }

  /**
   * From time to time asks the endpoints that are not in use for their head, beside the caller's work and never in its way: so one
   * that has recovered comes back, and one that others have overtaken is found out.
   */
  #probeIfDue(signal: AbortSignal): void {
    if (this.#states.length < 2 || this.#now() < this.#nextProbe) return;
    this.#nextProbe = this.#now() + (this.#options.probeEveryMs ?? 10_000);
    const [inUse] = this.#candidates();
    for (const state of this.#states) {
      if (state === inUse || this.#now() < state.notBefore) continue;
      const probe = async (session: RpcSession) => {
        const answer = await session.call('eth_blockNumber', []);
        if (typeof answer === 'string' && /^0x[0-9a-f]{1,12}$/i.test(answer)) this.#sawHead(state, Number.parseInt(answer, 16));
      };
      this.#attempt(state, probe, signal).catch(() => undefined); // What went wrong is on the state already.
    }
  }

  async #ensureChain(state: State, signal: AbortSignal): Promise<void> {
    if (state.chain === 'right') return;
    try {
      const answer = await this.#call(state, { method: 'eth_chainId', params: [] }, signal);
      if (typeof answer !== 'string' || !/^0x[0-9a-f]+$/i.test(answer)) throw new EndpointFailure('no chain id');
      const found = BigInt(answer);
      if (found !== BigInt(this.chainId)) {
        this.#setProblem(state, `chain id ${found} instead of ${this.chainId}`);
        state.chain = 'wrong';
        state.notBefore = this.#now() + WRONG_CHAIN_MS;
        throw new ChainMismatch(
          `${this.name}: ${state.endpoint.host} serves chain id ${found} instead of ${this.chainId}: correct the RPC URL or the chain id`,
        );
      }
      state.chain = 'right';
    } catch (error) {
      if (error instanceof EndpointFailure) this.#failed(state, error);
      throw error;
    }
  }

  async #call(
    state: State,
    request: { readonly method: string; readonly params: readonly unknown[] },
    signal: AbortSignal,
    timeoutMs = this.#options.timeoutMs ?? 5_000,
  ): Promise<unknown> {
    const waitMs = state.rate.takeMs();
    if (waitMs > 0) await pause(waitMs, signal);
    const limits = { post: this.#post, timeoutMs, maxResponseBytes: this.#options.maxResponseBytes ?? 67_108_864 };
    try {
      return await callEndpoint(state.endpoint, request, limits, signal);
    } catch (error) {
      if (error instanceof EndpointFailure && error.throttled) state.rate.refused();
      throw error;
    }
  }

  #succeeded(state: State): void {
    state.failures = 0;
    state.notBefore = 0;
    this.#setProblem(state, null);
  }

  #failed(state: State, failure: EndpointFailure): void {
    // Whoever comes back on this address after a broken connection may be another node.
    state.chain = undefined;
    // Requests that were under way together fail together: that is one failure, not a reason for a longer pause.
    const resting = this.#now() < state.notBefore;
    if (!resting) state.failures = Math.min(state.failures + 1, 16);
    const rest = backOffMs(failure, state.failures, this.#options.random ?? Math.random);
    if (!resting || failure.retryAfterMs !== undefined) state.notBefore = Math.max(state.notBefore, this.#now() + rest);
    this.#setProblem(state, failure.message);
  }

  #setProblem(state: State, problem: string | null): void {
    if (state.problem === problem) return;
    state.problem = problem;
    this.#options.report?.(
      problem === null ? `${this.name}: ${state.endpoint.host} answers again` : `${this.name}: ${state.endpoint.host}: ${problem}`,
    );
  }

  /** Usable endpoints, the best first: up to date, then without a queue before it, then without failures, then as configured. */
  #candidates(): State[] {
    const ready = this.#states.filter((state) => state.notBefore <= this.#now());
    const rank = (state: State): number => (this.#lags(state) ? 2 : 0) + (state.rate.waitMs() > LONG_WAIT_MS ? 1 : 0);
    const ranks = new Map(ready.map((state) => [state, rank(state)]));
    return ready.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || a.failures - b.failures || a.index - b.index);
  }

  #sawHead(state: State, number: number): void {
    state.head = number;
    const others = this.#states.filter((other) => other.problem === null && other.head !== null);
    state.behind = Math.max(0, ...others.map((other) => (other.head ?? 0) - number));
  }

  #lags(state: State): boolean {
    return state.behind > (this.#options.lagBlocks ?? 20);
  }

  async #waitForOne(signal: AbortSignal): Promise<void> {
    const earliest = Math.min(...this.#states.map((state) => state.notBefore));
    const waitMs = Math.min(earliest - this.#now(), WAIT_FOR_ENDPOINT_MS);
    if (waitMs > 0) await pause(waitMs + 1, signal);
  }

  #unavailable(): Error {
    if (this.#states.every((state) => state.chain === 'wrong')) {
      const found = this.#states.map((state) => `${state.endpoint.host}: ${state.problem}`).join('; ');
      return new ChainMismatch(`every RPC endpoint of ${this.name} serves another chain (${found}): correct the RPC URLs or the chain id`);
    }
    const hostsOf = new Map<string, string[]>();
    for (const state of this.#states) {
      const problem = state.problem ?? 'not asked';
      hostsOf.set(problem, [...(hostsOf.get(problem) ?? []), state.endpoint.host]);
    }
    const parts = [...hostsOf].map(([problem, hosts]) => `${problem} from ${hosts.length} of ${this.#states.length} (${hosts.join(', ')})`);
    return new RpcUnavailable(`no RPC endpoint answers for ${this.name}: ${parts.join(', ')}`);
  }
}
