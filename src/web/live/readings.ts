import { pause } from '../../base/async/pause.ts';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { Deps } from '../../services/deps.ts';
import { getPublicPayments } from '../../services/payment-links/public.ts';
import { withinTime } from '../../services/time-limit.ts';
import type { PayerPages, Visitor } from '../visitor.ts';
import type { Outage } from './outage.ts';
import { type Rendering, renderingOf } from './rendering.ts';

const READ_MS = 1_500;
/** So many links are read together; they are shown one after the other. */
const AT_ONCE = 20;
/**
 * After each piece of work the process does others' work for this many times as long: however many streams
 * are opened at once, and however many links change, requests are answered beside it.
 */
const REST_SHARE = 2;

/** Somebody who watches a link. */
export type Reader = {
  readonly visitor: Visitor;
  /** Takes what the page shows now; the same text may come again. */
  show(rendering: Rendering): void;
  /** Nothing comes any more. */
  end(): void;
};

/** A link that somebody watches. */
export type Watched = {
  readonly token: string;
  readonly readers: Set<Reader>;
  /** As it was last seen; '' makes the next look find it changed. */
  version: string;
  view?: PublicPaymentView | undefined;
};

/**
 * Reads watched links, some together and each once for all of its readers, and shows each reader the
 * page as its visitor chose it. A link that cannot be read is read again
 * after the next look; one that is gone, or whose page cannot be made, ends its readers.
 */
export function createReadings(deps: Deps, render: PayerPages['render'], outage: Outage) {
  /** The links to be read, in their order. */
  const unread = new Set<Watched>();
  const show = createShow(deps, render);
  let reading = false;

  const readAll = async (): Promise<void> => {
    reading = true;
    while (unread.size > 0) {
      const next = [...unread].slice(0, AT_ONCE);
      for (const link of next) unread.delete(link);
      await read(next.filter(({ readers }) => readers.size > 0));
    }
    reading = false;
  };

  const read = async (some: readonly Watched[]): Promise<void> => {
    const rest = (): boolean => some.length > 1 || unread.size > 0;
    const tokens = some.map(({ token }) => token);
    let views: ReadonlyMap<string, PublicPaymentView>;
    try {
      views = await restAfter(rest, () =>
        // A limit of its own: whoever opened a stream may leave, and others wait for it.
        withinTime(
          { limitMs: READ_MS },
          () => getPublicPayments(deps, tokens),
          (cause) => cause,
        ),
      );
    } catch (error) {
      for (const link of some) link.version = '';
      outage.began(error);
      return;
    }
    outage.ended();
    for (const link of some) {
      const view = views.get(link.token);
      link.view = view;
      if (!view) for (const reader of [...link.readers]) reader.end();
      else await restAfter(rest, async () => show(view, [...link.readers]));
    }
  };

  /** Has the link read in its turn. */
  const next = (link: Watched): void => {
    unread.add(link);
    if (!reading) void readAll();
  };

  return {
    next,
    /** A new reader is shown what is known, or what is read in the link's turn. */
    welcome: (link: Watched, reader: Reader): void => {
      if (link.view) show(link.view, [reader]);
      else next(link);
    },
  };
}

/** Shows all of these readers the page of a view; equal choices share a rendering. */
function createShow(deps: Deps, render: PayerPages['render']) {
  return (view: PublicPaymentView, readers: readonly Reader[]): void => {
    const now = { ...view, server_time: isoSeconds(deps.now()) };
    const made = new Map<string, Rendering>();
    for (const reader of readers) {
      const choice = JSON.stringify(reader.visitor);
      try {
        const rendering = made.get(choice) ?? renderingOf(render, now, reader.visitor);
        made.set(choice, rendering);
        reader.show(rendering);
      } catch (error) {
        const text = 'the page of a watched payment link could not be made: its stream ends';
        deps.log.error({ err: error }, text);
        reader.end();
      }
    }
  };
}

/** The result of `work`; where more is to be done, the work of others has its time before it. */
async function restAfter<T>(isMore: () => boolean, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  if (isMore()) await pause((performance.now() - began) * REST_SHARE);
  return result;
}
