import type { Context } from 'koa';
import type { Deps } from '../../services/deps.ts';
import { notFound } from '../../services/refusal.ts';
import type { PageOf } from '../visitor.ts';
import { visitorOf } from '../visitor.ts';
import { type Followed, renderingOf, type Shown } from './followed.ts';
import { createHub } from './hub.ts';
import { NoPlace, type Places } from './places.ts';
import { openStream, type StreamTimes } from './stream.ts';
import { createDrawing, drawnInTurn, type TurnOptions } from './turns.ts';

export type LiveOptions = TurnOptions & {
  /** Aborted when the process shuts down: every stream ends at once then, and none begins. */
  readonly signal: AbortSignal;
  /** What all streams of the process share. */
  readonly places: Places;
  /** Shorter times than the product's own: for tests. */
  readonly times?: Partial<StreamTimes> & { readonly lookEveryMs?: number };
};

/**
 * Answers `…/:token/live` with a stream of what the page shows, or, with `?once=1` and for a
 * HEAD, with what it shows now. `within` gives the limit of time to what is asked of the database. Throws as
 * {@link drawnInTurn} does, and {@link NoPlace}.
 */
export function liveAnswers<View extends Shown>(
  deps: Deps,
  { followed, render }: { readonly followed: Followed<View>; readonly render: PageOf<View> },
  options: LiveOptions,
) {
  const { siteOf, signal, places, times, turns } = options;
  const drawing = createDrawing(followed, turns, (view, visitor) => ({
    view,
    rendering: renderingOf(render(view, visitor), followed.isLive(view), view.server_time),
  }));
  const drawn = drawnInTurn(drawing, options);
  const hub = createHub({ ...deps, lookEveryMs: times?.lookEveryMs }, drawing);
  let ordinal = 0;
  signal.addEventListener('abort', () => hub.close(), { once: true });

  const stream = async (ctx: Context, token: string, within: Within): Promise<void> => {
    if (!followed.token.test(token)) throw notFound(followed.what);
    const release = places.take(siteOf(ctx), token);
    try {
      const version = await within(() => hub.versionOf(token));
      if (version === undefined) throw notFound(followed.what);
      // An answer that waits behind another one of its connection has no socket
      // yet: nobody would tell that its reader left.
      if (signal.aborted || ctx.res.closed || ctx.res.socket === null) throw new NoPlace('not now');
      let [over, leave] = [false, (): void => undefined];
      const ended = (): void => {
        over = true;
        release();
        leave();
      };
      ordinal += 1;
      const stream = { visitor: visitorOf(ctx), now: deps.now, ordinal, ended, times };
      const reader = openStream(ctx, stream);
      leave = hub.watch(token, version, reader);
      if (over) leave();
    } catch (error) {
      release();
      throw error;
    }
  };

  const once = async (ctx: Context, token: string): Promise<void> => {
    const { rendering } = await drawn(ctx, token);
    ctx.status = 200;
    ctx.set('ETag', rendering.tag);
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.type = 'application/json';
    // A script that asks past its browser's cache says "no-cache", which
    // would make nothing fresh; a proxy that compresses makes the tag a weak one.
    if (ctx.get('If-None-Match').replace(/^W\//, '') === rendering.tag) ctx.status = 304;
    else ctx.body = rendering.json;
  };

  return async (ctx: Context, token: string, within: Within): Promise<void> => {
    const single = ctx.method === 'HEAD' || ctx.query['once'] !== undefined;
    await (single ? once : stream)(ctx, token, within);
  };
}

type Within = <T>(work: () => Promise<T>) => Promise<T>;
