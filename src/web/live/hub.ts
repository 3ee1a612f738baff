import { createArrivals } from '../../base/async/arrivals.ts';
import { createFairGate } from '../../base/async/fair-gate.ts';
import { withinTime } from '../../services/time-limit.ts';
import type { Shown } from './followed.ts';
import { createOutage } from './outage.ts';
import { createReadings, isOld, type Reader, type WatchDeps, type Watched } from './readings.ts';
import type { Rendered } from './rendering.ts';

/** How often all together are asked whether one of them changed. */
const LOOK_EVERY_MS = 1_000;
const LOOK_MS = 1_500;
/** The database does others' work for this many times as long as a look took, however many are watched. */
const REST_SHARE = 2;

export type Hub = {
  /** The version that what has this token is of now; undefined where there is none. */
  versionOf(token: string): Promise<string | undefined>;
  /** From now on the reader is shown every change, first what is so now. Returns what ends that. */
  watch(token: string, version: string, reader: Reader): () => void;
  /** Ends all readers. */
  close(): void;
};

/**
 * What somebody watches in this process, of one kind. One statement a second asks for all of them whether
 * they changed, more rarely where it takes long, none while nobody watches. Only those that did are read, and
 * those that could not be: they may be gone. While the database is away readers stay and are shown nothing.
 */
export function createHub<View extends Shown>(deps: WatchDeps, rendered: Rendered<View>): Hub {
  const { followed } = rendered;
  const watched = new Map<string, Watched<View>>();
  const outage = createOutage(deps, followed.what);
  const readings = createReadings(deps, rendered, outage);
  const { run: oneAtATime } = createFairGate({ places: 1 });
  const lookUp = (tokens: readonly string[]) => look(new Map(tokens.map((token) => [token, ''])));
  const arrivals = createArrivals(lookUp, (work) => oneAtATime('', work));
  let [closed, looking] = [false, false];
  let timer: NodeJS.Timeout | undefined;

  const look = (versions: ReadonlyMap<string, string>) =>
    // A limit of its own: several callers may wait for it, and one that leaves ends it for nobody.
    withinTime({ limitMs: LOOK_MS }, () => followed.changed(versions), asItIs);

  const lookAtAll = async (): Promise<void> => {
    [looking, timer] = [true, undefined];
    const began = performance.now();
    try {
      const changed = await look(
        new Map([...watched.values()].map(({ token, version }) => [token, version])),
      );
      // Where one could not be read, a look alone is no end of it: it is over once that was read.
      if (![...watched.values()].some(({ version }) => version === '')) outage.ended();
      const now = deps.now().getTime();
      for (const one of watched.values()) {
        const version = changed.get(one.token);
        one.version = version ?? one.version;
        const old = one.seen !== undefined && isOld(followed, one.seen.view, now);
        if (version !== undefined || old || one.version === '') readings.next(one);
      }
    } catch (error) {
      outage.began(error);
    }
    looking = false;
    lookAgain(restAfter(performance.now() - began, deps.lookEveryMs));
  };

  const lookAgain = (afterMs: number): void => {
    if (closed || looking || watched.size === 0) return;
    timer ??= setTimeout(() => void lookAtAll(), afterMs);
  };

  const leave = (one: Watched<View>, reader: Reader): void => {
    one.readers.delete(reader);
    if (one.readers.size === 0 && watched.get(one.token) === one) watched.delete(one.token);
    if (watched.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    versionOf: (token) => arrivals.ask(token),
    watch: (token, version, reader) => {
      const one: Watched<View> = watched.get(token) ?? { token, version, readers: new Map() };
      watched.set(token, one);
      one.readers.set(reader, version);
      readings.welcome(one, reader, version);
      lookAgain(deps.lookEveryMs ?? LOOK_EVERY_MS);
      return () => leave(one, reader);
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const one of [...watched.values()]) for (const reader of [...one.readers.keys()]) reader.end();
    },
  };
}

const asItIs = <T>(cause: T): T => cause;

/** How long after a look that took so long the next one comes. */
export const restAfter = (tookMs: number, lookEveryMs = LOOK_EVERY_MS): number =>
  Math.max(lookEveryMs - tookMs, tookMs * REST_SHARE);
