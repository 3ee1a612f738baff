import type { Context } from 'koa';
import { isoSeconds } from '../../domain/events.ts';
import type { Visitor } from '../visitor.ts';
import type { Rendering } from './followed.ts';
import type { Reader } from './hub.ts';

export type StreamTimes = {
  /** Proxies close a connection on which nothing moves for longer, and so does our own server. */
  readonly lifeEveryMs: number;
  readonly endsAfterMs: number;
};
const TIMES: StreamTimes = { lifeEveryMs: 15_000, endsAfterMs: 10 * 60_000 };
/** A reader who took nothing for so many signs of life is gone, or does not mean to read. */
const MISSED_SIGNS = 2;
/** Browsers that were cut off at the same moment come back one after the other. */
const RETRY = { firstMs: 1_000, stepMs: 250, steps: 16 } as const;

export type StreamOptions = {
  readonly visitor: Visitor;
  readonly now: () => Date;
  /** A number of the stream; those next to each other come back at different times. */
  readonly ordinal: number;
  /** Called once, however the stream ends. */
  readonly ended: () => void;
  readonly times?: Partial<StreamTimes> | undefined;
};

/**
 * Answers with a stream of server-sent events: `view` with a rendering as JSON, and `still`
 * with the server's time every 15 s, by which a script notices a stream that is dead without having ended. It
 * ends after ten minutes, and after the last rendering of a link. To a reader who is slower than what changes
 * only the newest rendering is kept, never more; one who does not read at all is dropped.
 */
export function openStream(ctx: Context, { visitor, now, ordinal, ended, times }: StreamOptions): Reader {
  const { res } = ctx;
  const { lifeEveryMs, endsAfterMs } = { ...TIMES, ...times };
  const endsAt = performance.now() + endsAfterMs;
  let [shown, missed, over] = ['', 0, false];
  let waiting: Rendering | undefined;
  start(ctx, RETRY.firstMs + RETRY.stepMs * (ordinal % RETRY.steps));

  const end = (how: 'end' | 'destroy' = 'end'): void => {
    if (over) return;
    over = true;
    clearInterval(life);
    res.off('drain', goOn);
    if (how === 'destroy') res.destroy();
    else res.end();
    ended();
  };
  const show = (rendering: Rendering): void => {
    if (over || rendering.tag === (waiting?.tag ?? shown)) return;
    if (res.writableNeedDrain) {
      waiting = rendering;
      return;
    }
    waiting = undefined;
    shown = rendering.tag;
    res.write(`event: view\ndata: ${rendering.json}\n\n`);
    if (!rendering.open) end();
  };
  const goOn = (): void => {
    missed = 0;
    const next = waiting;
    waiting = undefined;
    if (next) show(next);
  };
  const beat = (): void => {
    if (performance.now() >= endsAt) end();
    else if (!res.writableNeedDrain) res.write(`event: still\ndata: ${isoSeconds(now())}\n\n`);
    else if (++missed >= MISSED_SIGNS) end('destroy');
  };
  const life = setInterval(beat, lifeEveryMs);
  res.on('drain', goOn);
  res.once('close', () => end('destroy'));
  // Nobody waits until a reader who does not read has taken what was sent.
  return { visitor, show, end: () => end(res.writableNeedDrain ? 'destroy' : 'end') };
}

function start(ctx: Context, retryMs: number): void {
  ctx.respond = false;
  ctx.status = 200;
  ctx.set('Content-Type', 'text/event-stream; charset=utf-8');
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  // Or nginx would gather the events, and hand them on when the stream ends.
  ctx.set('X-Accel-Buffering', 'no');
  ctx.res.write(`retry: ${retryMs}\n\n`);
}
