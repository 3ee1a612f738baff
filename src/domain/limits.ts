/**
 * What one client may do: a bucket that fills at a steady rate, or a number of uses
 * in a window that begins with the first one.
 */
export type Limit =
  | { readonly kind: 'bucket'; readonly capacity: number; readonly perSecond: number }
  | { readonly kind: 'window'; readonly capacity: number; readonly windowMs: number };

/**
 * How much is left. `sinceMs` is when the bucket was last counted, or when the window began.
 * Below zero it is a debt that has to be waited off.
 */
export type Allowance = { readonly tokens: number; readonly sinceMs: number };

/** The numbers that an operator sets. */
export type RequestLimits = {
  readonly requestsPerSecond: number;
  readonly requestsBurst: number;
  /** From one client address. */
  readonly badCredentialsPerMinute: number;
  /** Simulations and test webhooks of one merchant together; one endpoint may have a fifth of it. */
  readonly testsPerSecond: number;
};

/** The limits of an installation that sets none. */
export const DEFAULT_LIMITS: RequestLimits = {
  requestsPerSecond: 100,
  requestsBurst: 200,
  badCredentialsPerMinute: 20,
  testsPerSecond: 5,
};

/** The allowance at a later time. A clock that went back changes nothing. */
export function refill(limit: Limit, allowance: Allowance, nowMs: number): Allowance {
  const passedMs = Math.max(0, nowMs - allowance.sinceMs);
  if (limit.kind === 'window')
    return passedMs < limit.windowMs ? allowance : { tokens: limit.capacity, sinceMs: nowMs };
  const tokens = Math.min(limit.capacity, allowance.tokens + (passedMs / 1_000) * limit.perSecond);
  return { tokens, sinceMs: nowMs };
}

/** Milliseconds until `wanted` tokens are there (for a window: until it ends); 0 when they already are. */
export function waitMs(limit: Limit, allowance: Allowance, wanted: number, nowMs: number): number {
  if (allowance.tokens >= wanted) return 0;
  const fromMs =
    limit.kind === 'window' ? limit.windowMs : ((wanted - allowance.tokens) / limit.perSecond) * 1_000;
  return Math.max(0, allowance.sinceMs + fromMs - nowMs);
}
