import { createArrivals } from '../../base/async/arrivals.ts';
import { createFairGate } from '../../base/async/fair-gate.ts';
import { logFailure } from '../../base/errors.ts';
import type { Deps } from '../../services/deps.ts';
import { Refusal } from '../../services/refusal.ts';
import { withinTime } from '../../services/time-limit.ts';
import type { Visitor } from '../visitor.ts';
import type { Rendering, Shown } from './followed.ts';
import type { Drawing } from './turns.ts';

/** How often the database is asked, once for all that is watched, what changed. */
const LOOK_EVERY_MS = 1_000;
const LOOK_MS = 1_500;
/** The database does others' work for this many times as long as a look took, however many are watched. */
const REST_SHARE = 2;
/** So many are drawn at once; those that changed beside them wait. */
const AT_ONCE = 20;

/** Somebody who watches. */
export type Reader = {
  readonly visitor: Visitor;
  /** Takes what the page shows now; the same rendering may come again. */
  show(rendering: Rendering): void;
  /** Nothing comes any more. */
  end(): void;
};

/** A page with its readers. */
type Watched<View> = {
  readonly token: string;
  readonly readers: Set<Reader>;
  /** As it was last seen; '' makes the next look find it changed. */
  version: string;
  /** What was drawn last. */
  view?: View;
};

export type Hub = {
  /** The version that what has this token is of now; undefined where there is none. */
  versionOf(token: string): Promise<string | undefined>;
  /**
   * From now on the reader is shown every change, first a rendering that is read after this call: it is
   * never older than the reader's page. Returns what ends that.
   */
  watch(token: string, version: string, reader: Reader): () => void;
  /** Ends all readers. */
  close(): void;
};

type Drawn<View extends Shown> = Drawing<View, { readonly view: View; readonly rendering: Rendering }>;
type HubDeps = Pick<Deps, 'log' | 'now'> & { readonly lookEveryMs?: number | undefined };

/**
 * Follows everything of one kind that somebody watches in this process. One statement a second asks for all
 * of it what changed, more rarely where the statement takes long, none while nobody watches. What changed is
 * drawn again for its readers. While the database is away readers stay and are shown nothing; what is gone,
 * or whose page cannot be made, ends its readers.
 */
export function createHub<View extends Shown>(
  { log, now, lookEveryMs = LOOK_EVERY_MS }: HubDeps,
  drawing: Drawn<View>,
): Hub {
  const { followed } = drawing;
  const watched = new Map<string, Watched<View>>();
  const outage = createOutage(log, followed.what);
  const showAgain = createShowing(log, drawing, outage);
  const oneAtATime = createFairGate({ places: 1 });
  const lookUp = (tokens: readonly string[]) => look(new Map(tokens.map((token) => [token, ''])));
  const arrivals = createArrivals(lookUp, (work) => oneAtATime.run('', work));
  let [closed, looking] = [false, false];
  let timer: NodeJS.Timeout | undefined;

  const look = (versions: ReadonlyMap<string, string>) =>
    // A limit of its own: several callers may wait for it, and one that leaves ends it for nobody.
    withinTime(
      { limitMs: LOOK_MS },
      () => followed.changed(versions),
      (cause) => cause,
    );

  const lookAtAll = async (): Promise<void> => {
    [looking, timer] = [true, undefined];
    const began = performance.now();
    try {
      const versions = await look(new Map([...watched.values()].map((one) => [one.token, one.version])));
      // Where one could not be read, a look alone does not end the outage: its reading has to succeed.
      if (![...watched.values()].some(({ version }) => version === '')) outage.ended();
      for (const one of watched.values()) {
        const version = versions.get(one.token);
        one.version = version ?? one.version;
        const isOver = one.view !== undefined && followed.isOver(one.view, now().getTime());
        if (version !== undefined || isOver || one.version === '') showAgain(one);
      }
    } catch (error) {
      outage.began(error);
    }
    looking = false;
    lookAgain(restAfter(performance.now() - began, lookEveryMs));
  };

  const lookAgain = (afterMs: number): void => {
    if (closed || looking || watched.size === 0) return;
    timer ??= setTimeout(() => void lookAtAll(), afterMs);
  };

  const leave = (one: Watched<View>, reader: Reader): void => {
    one.readers.delete(reader);
    if (one.readers.size === 0 && watched.get(one.token) === one) watched.delete(one.token);
    if (watched.size === 0) timer = void clearTimeout(timer);
  };

  return {
    versionOf: (token) => arrivals.ask(token),
    watch: (token, version, reader) => {
      const one: Watched<View> = watched.get(token) ?? { token, version, readers: new Set() };
      watched.set(token, one);
      one.readers.add(reader);
      showAgain(one);
      lookAgain(lookEveryMs);
      return () => leave(one, reader);
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const reader of [...watched.values()].flatMap((one) => [...one.readers])) reader.end();
    },
  };
}

/** Draws what changed for its readers, some at a time. Returns what has one drawn in its turn. */
function createShowing<View extends Shown>(
  log: HubDeps['log'],
  { followed, draw, isReadFailure }: Drawn<View>,
  outage: ReturnType<typeof createOutage>,
) {
  const changed = new Set<Watched<View>>();
  let showing = false;
  const showAll = async (): Promise<void> => {
    showing = true;
    while (changed.size > 0) {
      const some = [...changed].slice(0, AT_ONCE);
      for (const one of some) changed.delete(one);
      await Promise.all(some.flatMap((one) => [...one.readers].map((reader) => showTo(one, reader))));
    }
    showing = false;
  };
  const showTo = async (one: Watched<View>, reader: Reader): Promise<void> => {
    try {
      const { view, rendering } = await draw(one.token, reader.visitor);
      one.view = view;
      outage.ended();
      reader.show(rendering);
    } catch (error) {
      if (isReadFailure(error)) {
        one.version = '';
        outage.began(error);
        return;
      }
      const isGone = error instanceof Refusal && error.code === 'NOT_FOUND';
      const text = `the page of a watched ${followed.what} could not be made: its stream ends`;
      if (!isGone) log.error({ err: error }, text);
      reader.end();
    }
  };
  return (one: Watched<View>): void => {
    changed.add(one);
    if (!showing) void showAll();
  };
}

/** Says once that what is watched cannot be read, and once that it can be again. */
function createOutage(log: HubDeps['log'], what: string) {
  let away = false;
  return {
    began: (error: unknown): void => {
      if (!away) logFailure(log, { err: error }, `watched ${what}s cannot be read: their streams wait`);
      away = true;
    },
    ended: (): void => {
      if (away) log.info({}, `watched ${what}s are read again`);
      away = false;
    },
  };
}

/** How long after a look that took so long the next one comes. */
export const restAfter = (tookMs: number, lookEveryMs = LOOK_EVERY_MS): number =>
  Math.max(lookEveryMs - tookMs, tookMs * REST_SHARE);
