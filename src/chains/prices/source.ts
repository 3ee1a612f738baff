// What one coin is worth in US dollars: fixed by the operator, or
// read from Chainlink's contracts on the chain we read anyway.
import { CURRENCIES, type Currency } from '../../domain/assets.ts';
import type { CallContract } from '../chain.ts';
import type { Price, PriceSource } from '../reader.ts';
import { ChainMismatch, RpcRejected, RpcUnavailable } from '../rpc/errors.ts';

/**
 * What the operator chose. Fixed prices are US dollars with
 * 8 decimals; a currency that is not named has no price.
 */
export type PriceSpec =
  | { readonly kind: 'fixed'; readonly rateUnits: Readonly<Partial<Record<Currency, bigint>>> }
  | { readonly kind: 'chainlink'; readonly feeds?: Readonly<Partial<Record<Currency, string>>> | undefined };

export type PriceDeps = {
  /** Needed for Chainlink: the opened chain that its feeds are on. Without it no price is ever known. */
  readonly callContract?: CallContract | undefined;
  readonly now: () => Date;
  readonly cacheMs?: number | undefined;
  /**
   * From this age on an answer counts as stale; it can only shorten the
   * limits that fit the feeds' heartbeats.
   */
  readonly maxAgeMs?: number | undefined;
  /** Called once whenever a feed turns bad or good again. */
  readonly report?: ((message: string) => void) | undefined;
};

/**
 * A feed is only written when the price moves or its heartbeat passes, so its age says
 * nothing before the heartbeat. BNB is written about every minute, TRX about every 10
 * minutes, USDT as rarely as once a day while it stays at a dollar; the limits leave room.
 */
const MAX_AGE_MS: Readonly<Record<Currency, number>> = { BNB: 600_000, TRX: 1_200_000, USDT: 90_000_000 };
/** Without a newer answer an older one is still used, marked stale, up to this age; then the feed is dead. */
const DEAD_AFTER_MS = 90_000_000;
const AHEAD_LIMIT_MS = 600_000;
const CACHE_MS = 30_000;
const RETRY_BAD_MS = 5_000;
const REFRESH_LIMIT_MS = 15_000;
const CALL_LIMITS = { timeoutMs: 3_000 } as const;
const FEED_DECIMALS = 8n;
/** A billion dollars for one coin is a broken feed, not a market. */
const MAX_USD8 = 10n ** 17n;

const LATEST_ROUND_CALL = '0xfeaf968c';
const DECIMALS_CALL = '0x313ce567';

/** Chainlink's USD feeds (8 decimals) on BNB Chain's main net, as data.chain.link lists them. */
export const MAINNET_FEEDS: Readonly<Record<Currency, string>> = {
  BNB: '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE',
  TRX: '0xF4C5e535756D11994fCBB12Ba8adD0192D9b88be',
  USDT: '0xB97Ad0E74fa7d920791E90258A6E2085088b4320',
};

/**
 * Makes the price source the operator chose. Chainlink reads the
 * main-net feeds unless others are named, whatever the chain id.
 */
export function createPriceSource(spec: PriceSpec, deps: PriceDeps): PriceSource {
  if (spec.kind === 'chainlink') return new ChainlinkPrices({ ...MAINNET_FEEDS, ...spec.feeds }, deps);
  return {
    price: async (currency) => {
      const usd8 = spec.rateUnits[currency];
      return usd8 === undefined ? undefined : { usd8, source: 'fixed', at: deps.now(), stale: false };
    },
  };
}

type FeedState = {
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
 * Answers at once with the newest good price and asks for a newer one in the
 * background; only the very first price is waited for.
 */
class ChainlinkPrices implements PriceSource {
  readonly #feeds: Readonly<Record<Currency, string>>;
  readonly #deps: PriceDeps;
  readonly #states = new Map<Currency, FeedState>();

  constructor(feeds: Readonly<Record<Currency, string>>, deps: PriceDeps) {
    this.#feeds = feeds;
    this.#deps = deps;
    for (const currency of CURRENCIES) {
      this.#states.set(currency, {
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
    if (this.#deps.now().getTime() >= state.again) {
      // One question at a time for a feed, however many deposits wait for it.
      state.running ??= this.#refresh(currency, state).finally(() => {
        state.running = undefined;
        state.asked = true;
      });
      // A defect of our own code reaches the callers that wait for it, and must not crash the others.
      state.running.catch(() => undefined);
    }
    if (state.running && !state.known && !state.asked) await unlessAborted(state.running, signal);
    const { known, problem } = state;
    return known && { ...known, stale: problem !== null || this.#ageMs(known) > this.#maxAgeMs(currency) };
  }

  /** Belongs to no single caller: a caller that stops waiting must not spoil the answer for the others. */
  async #refresh(currency: Currency, state: FeedState): Promise<void> {
    const signal = AbortSignal.timeout(REFRESH_LIMIT_MS);
    let problem: string | null;
    try {
      problem = this.#take(currency, state, await this.#read(currency, state, signal));
    } catch (error) {
      if (!signal.aborted && !EXPECTED.some((kind) => error instanceof kind)) throw error;
      problem = signal.aborted ? `no answer within ${REFRESH_LIMIT_MS / 1000} s` : (error as Error).message;
    }
    const { cacheMs = CACHE_MS, report } = this.#deps;
    state.again = this.#deps.now().getTime() + (problem === null ? cacheMs : Math.min(RETRY_BAD_MS, cacheMs));
    if ((problem === null) !== (state.problem === null))
      report?.(
        problem === null
          ? `the ${currency} price feed is good again`
          : `the ${currency} price feed can not be used: ${problem}`,
      );
    state.problem = problem;
  }

  /** Keeps an answer where it is better than what is known, and returns what is wrong with it. */
  #take(currency: Currency, state: FeedState, answer: Price): string | null {
    const ageMs = this.#ageMs(answer);
    if (ageMs < -AHEAD_LIMIT_MS) throw new BadResponse('its time is in the future');
    const isNewer = state.known === undefined || state.known.at <= answer.at;
    if (isNewer && ageMs <= DEAD_AFTER_MS) state.known = answer;
    return ageMs > this.#maxAgeMs(currency)
      ? `its answer is ${Math.floor(ageMs / 60_000)} minutes old`
      : null;
  }

  #ageMs(price: Price): number {
    return this.#deps.now().getTime() - price.at.getTime();
  }

  #maxAgeMs(currency: Currency): number {
    return Math.min(MAX_AGE_MS[currency], this.#deps.maxAgeMs ?? Number.POSITIVE_INFINITY);
  }

  async #read(currency: Currency, state: FeedState, signal: AbortSignal): Promise<Price> {
    const { callContract } = this.#deps;
    if (!callContract) throw new BadResponse('there is no RPC endpoint of bsc to read it from');
    const to = this.#feeds[currency];
    if (!state.decimalsSeen) {
      const decimals = await callContract({ to, data: DECIMALS_CALL }, CALL_LIMITS, signal);
      if (wordAt(decimals, 0) !== FEED_DECIMALS)
        throw new BadResponse(`the contract ${to} is not a feed with ${FEED_DECIMALS} decimals`);
      state.decimalsSeen = true;
    }
    // (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    const round = await callContract({ to, data: LATEST_ROUND_CALL }, CALL_LIMITS, signal);
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
