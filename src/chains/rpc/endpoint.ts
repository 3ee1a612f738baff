// One endpoint of a pool: its calls, its pace, what it did wrong last, and whether it serves the right chain.
import { backOffMs } from './back-off.ts';
import { type CallOptions, callBatch, callEndpoint, type Endpoint, parseEndpoint, type RpcRequest } from './call.ts';
import { ChainMismatch, EndpointFailure, RpcRejected } from './errors.ts';
import type { HttpPost } from './http-post.ts';
import { pause } from './pause.ts';
import { createRate, type Rate } from './rate.ts';
import type { RpcPoolOptions, RpcSession } from './types.ts';

/** An endpoint of another chain is looked at again after this time: a wrong proxy gets repaired. */
const WRONG_CHAIN_MS = 60_000;
const MAX_FAILURES = 16;
const MAX_BATCH = 50;
const BATCHES_AT_ONCE = 4;
const SINGLES_AT_ONCE = 8;
/** One that refused batches is tried again after this time. */
const BATCH_AGAIN_MS = 10 * 60_000;

/** What happens to a failure: it makes the endpoint rest, or it is the caller's own affair. */
type Counting = 'counts' | 'aside';

export class PoolEndpoint {
  readonly index: number;
  readonly rate: Rate;
  failures = 0;
  notBefore = 0;
  problem: string | null = null;
  /** When it last did well or failed, by this endpoint's clock; undefined before anything was asked of it. */
  toldAt: number | undefined = undefined;
  /** undefined = not asked yet, or asked before the connection broke. */
  chain: 'right' | 'wrong' | undefined = undefined;
  head: number | null = null;
  /** How far that head was behind the best one when it was seen: an endpoint that is asked for it rarely is not slow for that. */
  behind = 0;
  /** Called with each head that a session saw. */
  onHead: (number: number) => void = () => undefined;
  readonly #endpoint: Endpoint;
  readonly #options: RpcPoolOptions;
  readonly #now: () => number;
  readonly #post: HttpPost;
  #noBatchUntil = Number.NEGATIVE_INFINITY;

  /** Throws a sentence for an unusable URL. */
  constructor(options: RpcPoolOptions, url: string, index: number, post: HttpPost) {
    this.#endpoint = parseEndpoint(url);
    this.#options = options;
    this.#post = post;
    this.#now = options.now ?? (() => performance.now());
    this.index = index;
    const { requestsPerSecond = 200, burst = Math.min(50, requestsPerSecond) } = options;
    this.rate = createRate({ perSecond: requestsPerSecond, burst, now: this.#now });
  }

  get host(): string {
    return this.#endpoint.host;
  }

  isReady(): boolean {
    return this.notBefore <= this.#now();
  }

  /** Runs the work; a failure of the endpoint makes it rest. */
  async attempt<T>(work: (session: RpcSession) => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.ensureChain(signal, 'counts');
    try {
      const value = await work(this.#session(signal, 'counts'));
      this.#succeeded();
      return value;
    } catch (error) {
      if (error instanceof EndpointFailure) this.#failed(error);
      throw error;
    }
  }

  /** Runs the work; whatever goes wrong in it changes neither the endpoint's rest nor its pace nor its place. */
  async attemptAside<T>(work: (session: RpcSession) => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.ensureChain(signal, 'aside');
    return await work(this.#session(signal, 'aside'));
  }

  /** Throws ChainMismatch where the endpoint serves another chain, EndpointFailure where it does not say. */
  async ensureChain(signal: AbortSignal, counting: Counting): Promise<void> {
    if (this.chain === 'right') return;
    try {
      const answer = await this.#call({ method: 'eth_chainId', params: [] }, signal, counting);
      if (typeof answer !== 'string' || !/^0x[0-9a-f]+$/i.test(answer)) throw new EndpointFailure('no chain id');
      const found = BigInt(answer);
      const { name, chainId } = this.#options;
      if (found !== BigInt(chainId)) {
        this.#setProblem(`chain id ${found} instead of ${chainId}`);
        this.chain = 'wrong';
        this.notBefore = this.#now() + WRONG_CHAIN_MS;
        throw new ChainMismatch(
          `${name}: ${this.host} serves chain id ${found} instead of ${chainId}: correct the RPC URL or the chain id`,
        );
      }
      this.chain = 'right';
    } catch (error) {
      if (error instanceof EndpointFailure && counting === 'counts') this.#failed(error);
      throw error;
    }
  }

  #session(signal: AbortSignal, counting: Counting): RpcSession {
    return {
      host: this.host,
      endpoint: this.index,
      call: (method, params, limits) => this.#call({ method, params }, signal, counting, limits?.timeoutMs),
      batch: (method, params) => this.#many(method, params, signal, counting),
      takesBatches: () => this.#now() >= this.#noBatchUntil,
      sawHead: (number) => this.onHead(number),
    };
  }

  async #call(request: RpcRequest, signal: AbortSignal, counting: Counting, timeoutMs?: number): Promise<unknown> {
    return await this.#inTurn(1, signal, counting, () => callEndpoint(this.#endpoint, request, this.#limits(timeoutMs), signal));
  }

  async #many(method: string, params: readonly (readonly unknown[])[], signal: AbortSignal, counting: Counting): Promise<unknown[]> {
    const requests = params.map((each) => ({ method, params: each }));
    if (requests.length > 1 && this.#now() >= this.#noBatchUntil) {
      try {
        // Endpoints count each question of a batch: one never asks for more than a second of them.
        const size = Math.max(1, Math.min(MAX_BATCH, Math.floor(this.rate.perSecond())));
        const batches = Array.from({ length: Math.ceil(requests.length / size) }, (_, at) => requests.slice(at * size, (at + 1) * size));
        const ask = (batch: readonly RpcRequest[]) =>
          this.#inTurn(batch.length, signal, counting, () => callBatch(this.#endpoint, batch, this.#limits(), signal));
        return (await eachOf(batches, BATCHES_AT_ONCE, ask)).flat();
      } catch (error) {
        if (!(error instanceof EndpointFailure && error.notOffered)) throw error;
        this.#noBatchUntil = this.#now() + BATCH_AGAIN_MS;
      }
    }
    return await eachOf(requests, SINGLES_AT_ONCE, (request) => this.#call(request, signal, counting));
  }

  async #inTurn<T>(turns: number, signal: AbortSignal, counting: Counting, ask: () => Promise<T>): Promise<T> {
    const waitMs = this.rate.takeMs(turns);
    if (waitMs > 0) await (this.#options.pause ?? pause)(waitMs, signal);
    try {
      const answer = await ask();
      this.rate.answered(turns);
      return answer;
    } catch (error) {
      if (error instanceof RpcRejected) this.rate.answered(turns);
      if (error instanceof EndpointFailure && error.throttled && counting === 'counts') this.rate.refused();
      throw error;
    }
  }

  #limits(timeoutMs = this.#options.timeoutMs ?? 5_000): CallOptions {
    return { post: this.#post, timeoutMs, maxResponseBytes: this.#options.maxResponseBytes ?? 67_108_864 };
  }

  #succeeded(): void {
    this.failures = 0;
    this.notBefore = 0;
    this.#setProblem(null);
  }

  #failed(failure: EndpointFailure): void {
    // Whoever comes back on this address after a broken connection may be another node.
    this.chain = undefined;
    // Requests that were under way together fail together: that is one failure, not a reason for a longer pause.
    const resting = !this.isReady();
    if (!resting) this.failures = Math.min(this.failures + 1, MAX_FAILURES);
    const rest = backOffMs(failure, this.failures, this.#options.random ?? Math.random);
    if (!resting || failure.retryAfterMs !== undefined) this.notBefore = Math.max(this.notBefore, this.#now() + rest);
    this.#setProblem(failure.message);
  }

  #setProblem(problem: string | null): void {
    this.toldAt = this.#now();
    if (this.problem === problem) return;
    this.problem = problem;
    const { name, report } = this.#options;
    report?.(problem === null ? `${name}: ${this.host} answers again` : `${name}: ${this.host}: ${problem}`);
  }
}

/** The results in order, with so many under way at a time; the first failure ends it, and no further one is begun. */
async function eachOf<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length && !failed; at = next++) {
      try {
        results[at] = await work(items[at] as T);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
