// One endpoint of a pool: its calls, its pace, what it did wrong last, and whether it serves the right chain.

import { pause } from '../../base/async/pause.ts';
import { backOffMs } from './back-off.ts';
import { type Endpoint, parseEndpoint } from './endpoint-url.ts';
import { ChainMismatch, EndpointFailure, RpcRejected } from './errors.ts';
import type { CallOptions } from './exchange.ts';
import type { HttpPost } from './http-post.ts';
import { createRate, type Rate } from './rate.ts';
import type { Line, PoolOptions, Session } from './types.ts';

/** An endpoint of another chain is asked again after this time: a wrong proxy gets repaired. */
const WRONG_CHAIN_MS = 60_000;
const MAX_FAILURES = 16;

/**
 * What happens to a failure: it counts against the endpoint, which is then left
 * alone for a while, or it is left to the caller.
 */
type Counting = 'counts' | 'aside';

export class PoolEndpoint<S extends Session> {
  readonly index: number;
  readonly rate: Rate;
  failures = 0;
  notBefore = 0;
  problem: string | null = null;
  /** When it last did well or failed, by this endpoint's clock; undefined before anything was asked of it. */
  toldAt: number | undefined = undefined;
  /** undefined = not asked yet, or to be asked again after a failure. */
  chain: 'right' | 'wrong' | undefined = undefined;
  #provenAt = Number.NEGATIVE_INFINITY;
  #provenBeside: string | undefined = undefined;
  head: number | null = null;
  /**
   * How far that head was behind the best one when it was seen: an endpoint that is rarely
   * asked for its head is not slow because of that.
   */
  behind = 0;
  /** Called with each head that a session saw. */
  onHead: (number: number) => void = () => undefined;
  readonly #endpoint: Endpoint;
  readonly #options: PoolOptions<S>;
  readonly #now: () => number;
  readonly #post: HttpPost;
  readonly #speak: (line: Line) => S;

  /** Throws a sentence for an unusable URL. */
  constructor(options: PoolOptions<S>, url: string, index: number, post: HttpPost) {
    this.#endpoint = parseEndpoint(url);
    this.#options = options;
    this.#post = post;
    this.#now = options.now ?? (() => performance.now());
    this.index = index;
    this.#speak = options.protocol.speaker();
    const { requestsPerSecond = 200, burst = Math.min(50, requestsPerSecond) } = options;
    this.rate = createRate({ perSecond: requestsPerSecond, burst, now: this.#now });
  }

  get host(): string {
    return this.#endpoint.host;
  }

  isReady(): boolean {
    return this.notBefore <= this.#now();
  }

  /** Runs the work; after a failure of the endpoint it is left alone for a while. */
  async attempt<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T> {
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

  /**
   * Runs the work; whatever goes wrong in it changes neither the endpoint's pause nor its pace nor its place.
   */
  async attemptAside<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.ensureChain(signal, 'aside');
    return await work(this.#session(signal, 'aside'));
  }

  /** Throws ChainMismatch where the endpoint serves another chain, EndpointFailure where it does not say. */
  async ensureChain(signal: AbortSignal, counting: Counting): Promise<void> {
    const { name, protocol } = this.#options;
    if (this.chain === 'right' && this.#provenBeside === protocol.expected?.()) return;
    try {
      const served = await protocol.serves(this.#session(signal, counting));
      if (served !== undefined) {
        this.#setProblem(served);
        this.chain = 'wrong';
        this.notBefore = this.#now() + WRONG_CHAIN_MS;
        throw new ChainMismatch(
          `${name}: ${this.host} serves ${served}: correct the RPC URL or the ${protocol.identity}`,
        );
      }
      this.chain = 'right';
      this.#provenAt = this.#now();
      this.#provenBeside = protocol.expected?.();
    } catch (error) {
      if (error instanceof EndpointFailure && counting === 'counts') this.#failed(error);
      throw error;
    }
  }

  #session(signal: AbortSignal, counting: Counting): S {
    return this.#speak({
      host: this.host,
      endpoint: this.index,
      sawHead: (number) => this.onHead(number),
      perSecond: () => this.rate.perSecond(),
      now: this.#now,
      ask: (question, { turns = 1, timeoutMs } = {}) =>
        this.#inTurn(turns, signal, counting, () =>
          question({ endpoint: this.#endpoint, limits: this.#limits(timeoutMs), signal }),
        ),
    });
  }

  async #inTurn<T>(
    turns: number,
    signal: AbortSignal,
    counting: Counting,
    ask: () => Promise<T>,
  ): Promise<T> {
    const waitMs = this.rate.takeMs(turns);
    try {
      if (waitMs > 0) await (this.#options.pause ?? pause)(waitMs, signal);
    } catch (error) {
      // Who goes away while it waits leaves no queue behind.
      this.rate.giveBack(turns);
      throw error;
    }
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

  #limits(ms = this.#options.timeoutMs ?? 5_000): CallOptions {
    const { patience = 1, maxResponseBytes = 67_108_864 } = this.#options;
    return { post: this.#post, timeoutMs: ms * patience, maxResponseBytes };
  }

  #succeeded(): void {
    this.failures = 0;
    this.notBefore = 0;
    this.#setProblem(null);
  }

  #failed(failure: EndpointFailure): void {
    const { provenForMs = 0, longestRestMs, random = Math.random } = this.#options;
    // After a broken connection another node may answer on this address.
    if (this.#now() - this.#provenAt >= provenForMs) this.chain = undefined;
    // Requests that were under way together fail together:
    // that is one failure, not a reason for a longer pause.
    const resting = !this.isReady();
    if (!resting) this.failures = Math.min(this.failures + 1, MAX_FAILURES);
    const rest = backOffMs(failure, this.failures, random, longestRestMs);
    if (!resting || failure.retryAfterMs !== undefined)
      this.notBefore = Math.max(this.notBefore, this.#now() + rest);
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
