import { networksOf } from '../../domain/client-networks.ts';
import type { Limit } from '../../domain/limits.ts';
import type { Deps } from '../deps.ts';
import {
  type Admission,
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
} from './rate-limit.ts';

/**
 * A limit by where clients come from: one for each site, and
 * a multiple of it for each wider network around the site.
 */
export type NetworkLimiter = {
  /**
   * Takes one use from the client's site and from every network around it, unless one of
   * them has none left. The admission is the site's, or that of the network that
   * refuses. Rejects as a query does when it has to ask a database that does not answer.
   */
  take(client: string): Promise<Admission>;
  /**
   * What the site has left, or the admission of a network around
   * it that has nothing left, as far as this process knows.
   */
  peek(client: string): Admission;
};

/** `keyOf` is the name under which a network is counted in the limiters' table. */
export type NetworkLimiterOptions = RateLimiterOptions & { readonly keyOf: (network: string) => string };

type Part = { readonly limiter: RateLimiter; readonly key: string };

/** Counts a site by the given limit and the networks around it by multiples of that. */
export function createNetworkLimiter(deps: Deps, options: NetworkLimiterOptions): NetworkLimiter {
  const { keyOf, ...common } = options;
  const limiters = new Map<number, RateLimiter>();
  const limiterOf = (factor: number): RateLimiter => {
    const known = limiters.get(factor);
    if (known) return known;
    const creditPerClient = common.creditPerClient * factor;
    const made = createRateLimiter(deps, {
      ...common,
      creditPerClient,
      limit: multiplied(common.limit, factor),
    });
    limiters.set(factor, made);
    return made;
  };
  const partsOf = (client: string): [site: Part, ...wider: Part[]] => {
    const [site, ...wider] = networksOf(client).map(({ network, factor }) => ({
      limiter: limiterOf(factor),
      key: keyOf(network),
    }));
    return [site as Part, ...wider];
  };
  return {
    peek: (client) => {
      const [site, ...wider] = partsOf(client);
      return spentOf(wider) ?? site.limiter.peek(site.key);
    },
    take: async (client) => {
      const [site, ...wider] = partsOf(client);
      // Asked before the site is counted: a network whose
      // budget is spent must not fill the table with its sites.
      const spent = spentOf(wider);
      if (spent) return { ...spent, allowed: false };
      const admission = await site.limiter.take(site.key);
      if (!admission.allowed) return admission;
      for (const { limiter, key } of wider) {
        const around = await limiter.take(key);
        if (!around.allowed) return around;
      }
      return admission;
    },
  };
}

function spentOf(wider: readonly Part[]): Admission | undefined {
  return wider.map(({ limiter, key }) => limiter.peek(key)).find(({ remaining }) => remaining === 0);
}

function multiplied(limit: Limit, factor: number): Limit {
  const capacity = limit.capacity * factor;
  return limit.kind === 'bucket'
    ? { ...limit, capacity, perSecond: limit.perSecond * factor }
    : { ...limit, capacity };
}
