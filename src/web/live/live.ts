import type { Context } from 'koa';
import type { Deps } from '../../services/deps.ts';
import { TOKEN_PATTERN } from '../../services/payment-links/create.ts';
import { getPublicPayment } from '../../services/payment-links/public.ts';
import { notFound } from '../../services/refusal.ts';
import { type PayerPages, visitorOf } from '../visitor.ts';
import { createHub } from './hub.ts';
import { createPlaces, NoPlace, type StreamLimits } from './places.ts';
import { renderingOf } from './rendering.ts';
import { openStream, type StreamTimes } from './stream.ts';

export type LiveOptions = {
  readonly pages: PayerPages;
  /** What counts as one address in limits. */
  readonly siteOf: (ctx: Context) => string;
  /** Aborted when the process shuts down: every stream ends at once then, and none begins. */
  readonly signal: AbortSignal;
  /** Other limits and shorter times than the product's own: for tests. */
  readonly limits?: Partial<StreamLimits>;
  readonly times?: Partial<StreamTimes>;
};

/**
 * Answers `/pay/:token/live` with a stream of what the page of this link shows, or, with `?once=1` and for a
 * HEAD, with what it shows now. `within` gives the limit of time to what is asked of the database. Throws the
 * NOT_FOUND Refusal that the page throws too, and {@link NoPlace}.
 */
export function liveAnswers(deps: Deps, { pages, siteOf, signal, ...more }: LiveOptions) {
  const hub = createHub(deps, pages.render);
  const places = createPlaces(more.limits);
  let ordinal = 0;
  signal.addEventListener('abort', () => hub.close(), { once: true });

  const stream = async (ctx: Context, token: string, within: Within): Promise<void> => {
    if (!TOKEN_PATTERN.test(token)) throw notFound('payment link');
    const release = places.take(siteOf(ctx), token);
    try {
      const version = await within(() => hub.versionOf(token));
      if (version === undefined) throw notFound('payment link');
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
      const stream = { visitor: visitorOf(ctx), now: deps.now, ordinal, ended, times: more.times };
      const reader = openStream(ctx, stream);
      leave = hub.watch(token, version, reader);
      if (over) leave();
    } catch (error) {
      release();
      throw error;
    }
  };

  const once = async (ctx: Context, token: string, within: Within): Promise<void> => {
    const view = await within(() => getPublicPayment(deps, token));
    const rendering = renderingOf(pages.render, view, visitorOf(ctx));
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
