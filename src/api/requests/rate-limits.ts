import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { DEFAULT_LIMITS, type Limit, type RequestLimits } from '../../domain/limits.ts';
import { createNetworkLimiter } from '../../services/access/network-limit.ts';
import {
  type Admission,
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
} from '../../services/access/rate-limit.ts';
import type { Deps } from '../../services/deps.ts';
import { type ClientAddress, createClientAddress } from '../access/client-address.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../route.ts';

const MINUTE_MS = 60_000;
/** This part of a burst may be used before the other processes know of it. */
const CREDIT_SHARE = 0.1;
const MAX_KNOWN_BAD = 10_000;
/** This many seconds' worth of tests may come at once. */
const TEST_BURST_SECONDS = 10;
/** One endpoint's share of what a merchant may ask for. */
const ENDPOINT_SHARE = 5;

export type GuardOptions = {
  readonly limits?: RequestLimits | undefined;
  /** Addresses and CIDRs of our own proxies. */
  readonly trustedProxies?: readonly string[] | undefined;
};

/**
 * What anybody may simulate who has a page's token and no credential. Each leaves rows behind, and none takes
 * from what the merchant's own keys may do.
 */
const OF_A_PAGE: Limit = { kind: 'bucket', capacity: 10, perSecond: 1 / 5 };
const OF_A_MERCHANTS_PAGES: Limit = { kind: 'window', capacity: 100, windowMs: 24 * 60 * MINUTE_MS };

type Tester = Pick<Caller, 'merchantId' | 'mode'>;

/** Who asks from where, and how often they may. There is one for each process, because it remembers. */
export type Guards = {
  readonly addressOf: ClientAddress;
  /** Counts a request of a caller who may make it. Sets the headers; throws 429. */
  countCaller(ctx: Context, caller: Caller): Promise<void>;
  /**
   * Counts a request that starts work for which nobody pays, by merchant and,
   * where there is one, by endpoint. Throws 429.
   */
  countTest(ctx: Context, caller: Tester, endpointId: string | undefined): Promise<void>;
  /** Counts a simulation on a page of this merchant by whoever has its token. Throws 429. */
  countSimulation(ctx: Context, page: { readonly merchantId: string; readonly token: string }): Promise<void>;
  /** The same headers on an answer that is not counted. */
  tellCaller(ctx: Context, caller: Caller): void;
  /** Counts a request that needs no credentials, by the client's address. Sets the headers; throws 429. */
  countPublic(ctx: Context): Promise<void>;
  /**
   * Before credentials are looked up: throws 429 when these very
   * ones failed already and the address has used up its failures.
   */
  refuseKnownBad(ctx: Context): void;
  /**
   * After credentials failed: throws 429 when the address had used up its failures. Only failures are
   * counted and refused, so a caller who shares an address with a guesser can go on working. A request
   * without any credentials is no failure: it guesses nothing.
   */
  countFailure(ctx: Context): Promise<void>;
};

const UNNAMED_PROXY =
  'a request came through a proxy that TRUSTED_PROXIES does not name: all its clients count as one address. Name it there';

/**
 * The guards of one process over the limits that all processes share. Throws for a proxy that is no address.
 */
export function createGuards(deps: Deps, options: GuardOptions = {}): Guards {
  const { requestsPerSecond, requestsBurst, badCredentialsPerMinute, testsPerSecond } =
    options.limits ?? DEFAULT_LIMITS;
  const addressOf = createClientAddress(options.trustedProxies ?? [], (peer) =>
    deps.log.warn({ peer }, UNNAMED_PROXY),
  );
  const ofRequests: RateLimiterOptions = {
    name: 'requests',
    limit: { kind: 'bucket', capacity: requestsBurst, perSecond: requestsPerSecond },
    creditPerClient: Math.max(1, Math.floor(requestsBurst * CREDIT_SHARE)),
    nowMs,
  };
  const requests = createRateLimiter(deps, ofRequests);
  const publicRequests = createNetworkLimiter(deps, { ...ofRequests, keyOf: (network) => `site:${network}` });
  const tests = createTestLimits(deps, testsPerSecond);
  const onPages = strictLimiter(deps, 'page simulations', OF_A_PAGE);
  const ofPages = strictLimiter(deps, 'simulations of pages', OF_A_MERCHANTS_PAGES);
  const failures = createNetworkLimiter(deps, {
    keyOf: (network) => network,
    name: 'failures',
    limit: { kind: 'window', capacity: badCredentialsPerMinute, windowMs: MINUTE_MS },
    // A mistyped key is refused without the database, also while that is unreachable.
    creditPerClient: Number.POSITIVE_INFINITY,
    nowMs,
  });
  const knownBad = createKnownBad();
  return {
    addressOf,
    countCaller: async (ctx, caller) => refuse(ctx, await requests.take(clientOf(caller))),
    countTest: async (ctx, caller, endpointId) => {
      for (const { limiter, client } of tests(caller, endpointId)) {
        const admission = await limiter.take(client);
        if (!admission.allowed) refuse(ctx, admission);
      }
    },
    countSimulation: async (ctx, { merchantId, token }) => {
      // A token is a secret of its payer, and no row of the limits may tell it.
      refuse(ctx, await onPages.take(shortHash(token)));
      const { allowed, retryAfterMs } = await ofPages.take(merchantId);
      if (allowed) return;
      const headers = { 'Retry-After': `${wholeSeconds(retryAfterMs)}` };
      throw new ApiError('DAILY_QUOTA_REACHED', 'No more simulations on pages today.', { headers });
    },
    tellCaller: (ctx, caller) => tell(ctx, requests.peek(clientOf(caller))),
    countPublic: async (ctx) => refuse(ctx, await publicRequests.take(addressOf(ctx.req))),
    refuseKnownBad: (ctx) => {
      if (knownBad.isEmpty()) return;
      const admission = failures.peek(addressOf(ctx.req));
      if (admission.remaining === 0 && knownBad.has(ctx.req)) refuse(ctx, { ...admission, allowed: false });
    },
    countFailure: async (ctx) => {
      if (!carriesCredentials(ctx.req)) return;
      const admission = await failures.take(addressOf(ctx.req));
      if (!admission.allowed) knownBad.add(ctx.req);
      refuse(ctx, admission);
    },
  };
}

/** The limits against which a test of this caller counts. */
function createTestLimits(deps: Deps, perSecond: number) {
  const bucket = (name: string, rate: number) => {
    const capacity = Math.ceil(rate * TEST_BURST_SECONDS);
    return strictLimiter(deps, name, { kind: 'bucket', capacity, perSecond: rate });
  };
  const ofMerchants = bucket('tests', perSecond);
  const ofEndpoints = bucket('endpoint tests', perSecond / ENDPOINT_SHARE);
  return ({ merchantId, mode }: Tester, endpointId: string | undefined) => [
    { limiter: ofMerchants, client: `${merchantId}:${mode}` },
    // The id is whatever stands in the path. It counts for this merchant alone, so another merchant
    // who names it uses up nothing of the owner's share.
    ...(endpointId === undefined
      ? []
      : [{ limiter: ofEndpoints, client: shortHash(`${merchantId}:${endpointId}`) }]),
  ];
}

/** One that all processes together exceed by hardly anything. */
function strictLimiter(deps: Deps, name: string, limit: Limit): RateLimiter {
  return createRateLimiter(deps, { name, limit, creditPerClient: 1, nowMs });
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

const nowMs = (): number => performance.now();

/** A signed-in user counts as one, however many sessions they open. */
function clientOf(caller: Caller): string {
  return caller.kind === 'key' ? `key:${caller.keyId}` : `user:${caller.userId}`;
}

function tell(ctx: Context, admission: Admission): void {
  ctx.set('RateLimit-Limit', `${admission.limit}`);
  ctx.set('RateLimit-Remaining', `${admission.remaining}`);
  ctx.set('RateLimit-Reset', `${wholeSeconds(admission.resetMs)}`);
}

function refuse(ctx: Context, admission: Admission): void {
  tell(ctx, admission);
  if (admission.allowed) return;
  const seconds = Math.max(1, wholeSeconds(admission.retryAfterMs));
  const sentence = `Too many requests. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
  throw new ApiError('RATE_LIMITED', sentence, { headers: { 'Retry-After': `${seconds}` } });
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

const KEY_IN_URL = /sk(_|%5f)(live|test)(_|%5f)/i;
const SESSION_COOKIE = /(^|;)\s*ch_session=/;

function carriesCredentials({ headers }: IncomingMessage): boolean {
  const keys = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  return keys || SESSION_COOKIE.test(headers.cookie ?? '');
}

/**
 * Credentials that failed never become good: keys and sessions are
 * random and only ever end. Held as hashes, the oldest forgotten first.
 */
function createKnownBad() {
  const hashes = new Set<string>();
  const hashOf = ({ headers }: IncomingMessage): string => {
    const shown = JSON.stringify([headers.authorization, headers['x-api-key'], headers.cookie]);
    return createHash('sha256').update(shown).digest('base64');
  };
  return {
    isEmpty: () => hashes.size === 0,
    has: (request: IncomingMessage): boolean => hashes.has(hashOf(request)),
    add: (request: IncomingMessage): void => {
      // Refused because of its URL: the key in the header may be good.
      if (KEY_IN_URL.test(request.url ?? '')) return;
      if (hashes.size >= MAX_KNOWN_BAD) for (const first of hashes) if (hashes.delete(first)) break;
      hashes.add(hashOf(request));
    },
  };
}
