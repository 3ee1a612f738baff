import { networksOf } from '../../domain/client-networks.ts';

/**
 * The most streams of one address for one link, of one address for all links, and of the process. Networks
 * around an address have multiples of its share: who can be anywhere in one does not take all places.
 */
export type StreamLimits = { readonly ofLink: number; readonly ofSite: number; readonly all: number };
const LIMITS: StreamLimits = { ofLink: 3, ofSite: 100, all: 2_000 };

/** No stream is opened; the script then asks for single renderings. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
  readonly status: 429 | 503;
  readonly code: string;
  readonly headers = { 'Retry-After': '15' } as const;

  constructor(reason: 'many of one address' | 'many in all' | 'not now') {
    super(`no place for a stream: ${reason}`);
    this.status = reason === 'many of one address' ? 429 : 503;
    this.code = this.status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE';
  }
}

/** The places of one process. */
export type Places = ReturnType<typeof createPlaces>;

/**
 * The places for open streams. `take` returns what gives the place back, to be called any number of times, or
 * throws {@link NoPlace}. `site` is what counts as one address.
 */
export function createPlaces(limits: Partial<StreamLimits> = {}) {
  const { ofLink, ofSite, all } = { ...LIMITS, ...limits };
  const taken = new Map<string, number>();
  const of = (key: string): number => taken.get(key) ?? 0;
  const add = (key: string, change: 1 | -1): void => {
    const count = of(key) + change;
    if (count === 0) taken.delete(key);
    else taken.set(key, count);
  };
  return {
    take: (site: string, token: string): (() => void) => {
      const networks = networksOf(site);
      const keys = ['all', ...networks.map(({ network }) => `in ${network}`), `link ${site} ${token}`];
      const isFull = networks.some(({ network, factor }) => of(`in ${network}`) >= ofSite * factor);
      if (isFull || of(`link ${site} ${token}`) >= ofLink) throw new NoPlace('many of one address');
      if (of('all') >= all) throw new NoPlace('many in all');
      for (const key of keys) add(key, 1);
      let given = true;
      return () => {
        if (given) for (const key of keys) add(key, -1);
        given = false;
      };
    },
  };
}
