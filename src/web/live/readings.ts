import { isoSeconds } from '../../domain/events.ts';
import type { Deps } from '../../services/deps.ts';
import type { Visitor } from '../visitor.ts';
import type { Followed, Shown } from './followed.ts';
import type { Outage } from './outage.ts';
import { type Rendered, type Rendering, renderingOf } from './rendering.ts';
import { createPayerTurns, type PayerTurns, readViews } from './turns.ts';

/** So many are read together; they are shown one after the other. */
const AT_ONCE = 20;
/**
 * `lookEveryMs`: how often all together are asked whether one changed, where it is not as often as ever;
 * `turns`: those of pages, if others take them too.
 */
export type WatchDeps = Pick<Deps, 'log' | 'now'> & {
  readonly lookEveryMs?: number | undefined;
  readonly turns?: PayerTurns | undefined;
};

/** Somebody who watches. */
export type Reader = {
  readonly visitor: Visitor;
  /** Takes what the page shows now; the same text may come again. */
  show(rendering: Rendering): void;
  /** Nothing comes any more. */
  end(): void;
};

/** What somebody watches. */
export type Watched<View extends Shown> = {
  readonly token: string;
  /** Each with the version that it was of after its page was made. */
  readonly readers: Map<Reader, string>;
  /** As it was last seen; '' makes the next look find it changed. */
  version: string;
  /** What was read last, and the version that was known when it began to be read. */
  seen?: Seen<View> | undefined;
};

type Seen<View> = { readonly view: View; readonly version: string };

/**
 * Reads what is watched, some together and each once for all of its readers, and shows each reader the
 * page as its visitor chose it. What cannot be read is read again
 * after the next look; what is gone, or whose page cannot be made, ends its readers.
 */
export function createReadings<View extends Shown>(
  deps: WatchDeps,
  rendered: Rendered<View>,
  outage: Outage,
) {
  /** What is to be read, in its order. */
  const unread = new Set<Watched<View>>();
  const show = createShow(deps, rendered);
  const { turns = createPayerTurns() } = deps;
  const piece = <T>(work: () => Promise<T>): Promise<T> => turns.pieces.run(rendered.followed.what, work);
  let reading = false;

  const isOf = isOfIn(deps, rendered);
  const readAll = async (): Promise<void> => {
    reading = true;
    while (unread.size > 0) {
      const next = [...unread].slice(0, AT_ONCE);
      for (const one of next) unread.delete(one);
      const wanted = next.filter(({ readers }) => readers.size > 0);
      if (wanted.length > 0) await read(wanted);
    }
    reading = false;
  };

  const read = async (some: readonly Watched<View>[]): Promise<void> => {
    const tokens = some.map(({ token }) => token);
    const asked = some.map((one) => ({ one, version: one.version, before: new Set(one.readers.keys()) }));
    let views: ReadonlyMap<string, View>;
    try {
      views = await piece(() => readViews(turns, () => rendered.followed.read(tokens)));
    } catch (error) {
      for (const one of some) one.version = '';
      outage.began(error);
      return;
    }
    outage.ended();
    for (const { one, version, before } of asked) {
      const view = views.get(one.token);
      const seen = view && { view, version };
      one.seen = seen;
      if (!seen) for (const reader of [...one.readers.keys()]) reader.end();
      else {
        // Who came meanwhile may have a page that is newer than what was read for the others.
        const told = toldOf(one.readers, (reader, since) => before.has(reader) || isOf(seen, since));
        if (told.length < one.readers.size) unread.add(one);
        await piece(async () => show(seen.view, told));
      }
    }
  };

  /** Has it read in its turn. */
  const next = (one: Watched<View>): void => {
    unread.add(one);
    if (!reading) void readAll();
  };

  return {
    next,
    /**
     * A new reader is shown what is known where that is of this version, which was asked for after its page
     * was made, and not old by the clock, or what is read in its turn: never anything older than its page.
     */
    welcome: (one: Watched<View>, reader: Reader, version: string): void => {
      if (isOf(one.seen, version)) show(one.seen.view, [reader]);
      else next(one);
    },
  };
}

/** Whether what was read is nothing older than the page of a reader who came with this version. */
const isOfIn =
  <View extends Shown>({ now }: WatchDeps, { followed }: Rendered<View>) =>
  (seen: Seen<View> | undefined, version: string): seen is Seen<View> =>
    seen?.version === version && !isOld(followed, seen.view, now().getTime());

/**
 * Whether a view is old by the clock alone: what ends with its time shows otherwise now, or the clock went
 * back behind the time of which it is, and what it showed as over may not be.
 */
export const isOld = <View extends Shown>(followed: Followed<View>, view: View, now: number): boolean =>
  followed.isOver(view, now) || now < Date.parse(view.server_time);

const toldOf = (
  readers: ReadonlyMap<Reader, string>,
  isTold: (reader: Reader, version: string) => boolean,
): readonly Reader[] =>
  [...readers].filter(([reader, version]) => isTold(reader, version)).map(([reader]) => reader);

/** Shows all of these readers the page of a view; equal choices share a rendering. */
function createShow<View extends Shown>(deps: WatchDeps, rendered: Rendered<View>) {
  return (view: View, readers: readonly Reader[]): void => {
    const now = { ...view, server_time: isoSeconds(deps.now()) };
    const made = new Map<string, Rendering>();
    for (const reader of readers) {
      const choice = JSON.stringify(reader.visitor);
      try {
        const rendering = made.get(choice) ?? renderingOf(rendered, now, reader.visitor);
        made.set(choice, rendering);
        reader.show(rendering);
      } catch (error) {
        const text = `the page of a watched ${rendered.followed.what} could not be made: its stream ends`;
        deps.log.error({ err: error }, text);
        reader.end();
      }
    }
  };
}
