// What one coin is worth in US dollars: fixed by the operator, or
// read from Chainlink's contracts on a chain we read anyway.
import { CURRENCIES, type Currency } from '../../domain/assets.ts';
import type { CallContract, ChainPrices, PriceFeed } from '../chain.ts';
import type { Price, PriceSource } from '../reader.ts';
import { ChainMismatch, RpcRejected, RpcUnavailable } from '../rpc/errors.ts';

/**
 * What the operator chose. Fixed prices are US dollars with 8 decimals; a currency that is not named
 * has no price. `feeds` are other contracts than the chain's, in its spelling.
 */
export type PriceSpec =
  | { readonly kind: 'fixed'; readonly rateUnits: Readonly<Partial<Record<Currency, bigint>>> }
  | { readonly kind: 'chainlink'; readonly feeds?: Readonly<Partial<Record<Currency, string>>> | undefined };

/** The opened chain that feeds are read on. */
export type PriceChain = { readonly prices: ChainPrices; readonly callContract: CallContract };

export type PriceDeps = {
  /** Needed for Chainlink. Without it no price is ever known. */
  readonly chain?: PriceChain | undefined;
  readonly now: () => Date;
  /**
   * From this age on an answer counts as stale; it can only shorten the
   * limits that fit the feeds' heartbeats.
   */
  readonly maxAgeMs?: number | undefined;
  /** Called once whenever a feed turns bad or good again. */
  readonly report?: ((message: string) => void) | undefined;
};

/** Without a newer answer an older one is still used, marked stale, up to this age; then the feed is dead. */
const DEAD_AFTER_MS = 90_000_000;
const AHEAD_LIMIT_MS = 600_000;
const RETRY_BAD_MS = 5_000;
const REFRESH_LIMIT_MS = 15_000;
const FEED_DECIMALS = 8n;
/** A billion dollars for one coin is a broken feed, not a market. */
const MAX_USD8 = 10n ** 17n;

/**
 * Makes the price source the operator chose. Chainlink reads the chain's
 * main-net feeds unless others are named, whatever network it is.
 */
export function createPriceSource(spec: PriceSpec, deps: PriceDeps): PriceSource {
  if (spec.kind === 'chainlink')
    return deps.chain
      ? new ChainlinkPrices(feedsOf(deps.chain.prices, spec.feeds), deps.chain, deps)
      : { price: async () => undefined };
  return {
    price: async (currency) => {
      const usd8 = spec.rateUnits[currency];
      return usd8 === undefined ? undefined : { usd8, source: 'fixed', at: deps.now(), stale: false };
    },
  };
}

/** The feeds that are read: those that are named, and the chain's own for the other coins. */
export function feedsOf(
  { feeds }: ChainPrices,
  named: Readonly<Partial<Record<Currency, string>>> = {},
): ReadonlyMap<Currency, PriceFeed> {
  const found = new Map<Currency, PriceFeed>();
  for (const currency of CURRENCIES) {
    const own = feeds[currency];
    const address = named[currency] ?? own?.address;
    if (address !== undefined) found.set(currency, { address, maxAgeMs: own?.maxAgeMs ?? DEAD_AFTER_MS });
  }
  return found;
}

type FeedState = {
  readonly feed: PriceFeed;
  /** The newest good answer that was ever seen. */
  known: Price | undefined;
  again: number;
  /** The question under way, if any, and whether one ever came to an end. */
  running: Promise<void> | undefined;
  asked: boolean;
  decimalsSeen: boolean;
  problem: string | null;
};

/**
 * Answers at once with the newest good price and asks for a newer one in the background; only the very first
 * price is waited for. Where questions are costly nobody asks for prices that are not needed, so the one
 * that is known may be of long ago: once the cache has ended the next is waited for, unless the feed is bad.
 */
class ChainlinkPrices implements PriceSource {
  readonly costly: boolean;
  readonly #chain: PriceChain;
  readonly #deps: PriceDeps;
  readonly #states = new Map<Currency, FeedState>();

  constructor(feeds: ReadonlyMap<Currency, PriceFeed>, chain: PriceChain, deps: PriceDeps) {
    this.costly = chain.prices.costly;
    this.#chain = chain;
    this.#deps = deps;
    for (const [currency, feed] of feeds) {
      this.#states.set(currency, {
        feed,
        known: undefined,
        again: 0,
        running: undefined,
        asked: false,
        decimalsSeen: false,
        problem: null,
      });
    }
  }

  async price(currency: Currency, signal: AbortSignal): Promise<Price | undefined> {
    const state = this.#states.get(currency);
    if (!state) return undefined;
    if (this.#isDue(state)) {
      // One question at a time for a feed, however many deposits wait for it.
      state.running ??= this.#refresh(currency, state).finally(() => {
        state.running = undefined;
        state.asked = true;
      });
      // A defect of our own code reaches the callers that wait for it, and must not crash the others.
      state.running.catch(() => undefined);
    }
    if (state.running && this.#isWaitedFor(state)) {
      await unlessAborted(state.running, signal).catch((error: unknown) => {
        if (!state.known) throw error;
      });
    }
    return state.known && { ...state.known, stale: this.#isStale(state, state.known) };
  }

  #isDue({ again }: FeedState): boolean {
    return this.#deps.now().getTime() >= again;
  }

  #isWaitedFor({ known, asked, problem }: FeedState): boolean {
    if (!known) return !asked;
    return this.costly && problem === null;
  }

  #isStale(state: FeedState, known: Price): boolean {
    // One that was waited for in vain is as old as the answer before it, however old that is.
    const inVain = this.costly && this.#isDue(state);
    return state.problem !== null || inVain || this.#ageMs(known) > this.#maxAgeMs(state);
  }

  /** Belongs to no single caller: a caller that stops waiting must not spoil the answer for the others. */
  async #refresh(currency: Currency, state: FeedState): Promise<void> {
    const signal = AbortSignal.timeout(REFRESH_LIMIT_MS);
    let problem: string | null;
    try {
      problem = this.#take(state, await this.#read(state, signal));
    } catch (error) {
      if (!signal.aborted && !EXPECTED.some((kind) => error instanceof kind)) throw error;
      problem = signal.aborted ? `no answer within ${REFRESH_LIMIT_MS / 1000} s` : (error as Error).message;
    }
    const { cacheMs } = this.#chain.prices;
    const { report } = this.#deps;
    const pauseMs = problem === null || this.costly ? cacheMs : Math.min(RETRY_BAD_MS, cacheMs);
    state.again = this.#deps.now().getTime() + pauseMs;
    if ((problem === null) !== (state.problem === null))
      report?.(
        problem === null
          ? `the ${currency} price feed is good again`
          : `the ${currency} price feed can not be used: ${problem}`,
      );
    state.problem = problem;
  }

  /** Keeps an answer where it is better than what is known, and returns what is wrong with it. */
  #take(state: FeedState, answer: Price): string | null {
    const ageMs = this.#ageMs(answer);
    if (ageMs < -AHEAD_LIMIT_MS) throw new BadResponse('its time is in the future');
    const isNewer = state.known === undefined || state.known.at <= answer.at;
    if (isNewer && ageMs <= DEAD_AFTER_MS) state.known = answer;
    return ageMs > this.#maxAgeMs(state) ? `its answer is ${Math.floor(ageMs / 60_000)} minutes old` : null;
  }

  #ageMs(price: Price): number {
    return this.#deps.now().getTime() - price.at.getTime();
  }

  #maxAgeMs({ feed }: FeedState): number {
    return Math.min(feed.maxAgeMs, this.#deps.maxAgeMs ?? Number.POSITIVE_INFINITY);
  }

  async #read(state: FeedState, signal: AbortSignal): Promise<Price> {
    const { callContract } = this.#chain;
    const to = state.feed.address;
    if (!state.decimalsSeen) {
      const decimals = await callContract({ to, method: 'decimals()' }, signal);
      if (wordAt(decimals, 0) !== FEED_DECIMALS)
        throw new BadResponse(`the contract ${to} is not a feed with ${FEED_DECIMALS} decimals`);
      state.decimalsSeen = true;
    }
    // (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    const round = await callContract({ to, method: 'latestRoundData()' }, signal);
    const usd8 = BigInt.asIntN(256, wordAt(round, 1) ?? 0n);
    const updatedAt = wordAt(round, 3);
    if (usd8 <= 0n || usd8 >= MAX_USD8)
      throw new BadResponse(`its answer is ${usd8 > 0n ? 'absurdly high' : 'not above zero'}`);
    if (updatedAt === undefined || updatedAt === 0n || updatedAt > 10n ** 11n)
      throw new BadResponse('its answer has no time');
    return {
      usd8,
      source: `chainlink:${to}`,
      at: new Date(Number.parseInt(updatedAt.toString(), 10) * 1000),
      stale: false,
    };
  }
}

class BadResponse extends Error {
  override readonly name = 'BadResponse';
}

/** What a feed or its endpoints can do wrong; anything else is our own defect and is thrown. */
const EXPECTED = [BadResponse, RpcRejected, RpcUnavailable, ChainMismatch] as const;

async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function wordAt(hex: string, index: number): bigint | undefined {
  const text = hex.slice(2 + index * 64, 2 + (index + 1) * 64);
  return text.length === 64 ? BigInt(`0x${text}`) : undefined;
}
