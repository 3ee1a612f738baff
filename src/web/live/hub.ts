import type { Deps } from '../../services/deps.ts';
import { changedLinks } from '../../services/payment-links/versions.ts';
import { withinTime } from '../../services/time-limit.ts';
import type { PayerPages } from '../visitor.ts';
import { createArrivals } from './arrivals.ts';
import { createOutage } from './outage.ts';
import { createReadings, type Reader, type Watched } from './readings.ts';

/** How often all links together are asked whether one of them changed. */
const LOOK_EVERY_MS = 1_000;
const LOOK_MS = 1_500;

export type Hub = {
  /** The version of the link with this token; undefined where there is none. */
  versionOf(token: string): Promise<string | undefined>;
  /** From now on the reader is shown every change, first what is so now. Returns what ends that. */
  watch(token: string, version: string, reader: Reader): () => void;
  /** Ends all readers. */
  close(): void;
};

/**
 * The links that somebody watches in this process. One statement a second asks for all of them whether they
 * changed, none while nobody watches, and only those that did are read. While the database is away readers
 * stay and are shown nothing.
 */
export function createHub(deps: Deps, render: PayerPages['render']): Hub {
  const links = new Map<string, Watched>();
  const outage = createOutage(deps);
  const readings = createReadings(deps, render, outage);
  const arrivals = createArrivals((tokens) => look(new Map(tokens.map((token) => [token, '']))));
  let [closed, looking] = [false, false];
  let timer: NodeJS.Timeout | undefined;

  const look = (versions: ReadonlyMap<string, string>) =>
    // A limit of its own: several callers may wait for it, and one that leaves ends it for nobody.
    withinTime(
      { limitMs: LOOK_MS },
      () => changedLinks(deps, versions),
      (cause) => cause,
    );

  const lookAtAll = async (): Promise<void> => {
    [looking, timer] = [true, undefined];
    const began = performance.now();
    try {
      const changed = await look(new Map([...links.values()].map(({ token, version }) => [token, version])));
      // Where a link could not be read, a look alone is no end of it: it is over once that was read.
      if (![...links.values()].some(({ version }) => version === '')) outage.ended();
      const now = deps.now().getTime();
      for (const link of links.values()) {
        const version = changed.get(link.token);
        link.version = version ?? link.version;
        if (version !== undefined || isOver(link, now)) readings.next(link);
      }
    } catch (error) {
      outage.began(error);
    }
    looking = false;
    lookAgain(Math.max(0, LOOK_EVERY_MS - (performance.now() - began)));
  };

  const lookAgain = (afterMs: number): void => {
    if (closed || looking || links.size === 0) return;
    timer ??= setTimeout(() => void lookAtAll(), afterMs);
  };

  const leave = (link: Watched, reader: Reader): void => {
    link.readers.delete(reader);
    if (link.readers.size === 0 && links.get(link.token) === link) links.delete(link.token);
    if (links.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    versionOf: async (token) => links.get(token)?.version ?? (await arrivals.ask(token)),
    watch: (token, version, reader) => {
      const link: Watched = links.get(token) ?? { token, version, readers: new Set() };
      links.set(token, link);
      link.readers.add(reader);
      readings.welcome(link, reader);
      lookAgain(LOOK_EVERY_MS);
      return () => leave(link, reader);
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const link of [...links.values()]) for (const reader of [...link.readers]) reader.end();
    },
  };
}

/** Whether a view shows ways to pay whose time is over by now: no row changes by that. */
function isOver({ view }: Watched, now: number): boolean {
  return view !== undefined && view.methods.length > 0 && now > Date.parse(view.expires_at);
}
