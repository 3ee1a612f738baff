import { pause } from '../../base/async/pause.ts';
import type { Orm } from '../../db/orm.ts';

/** What rings when PostgreSQL is told something; it is a hint, and whoever waits looks anyway. */
export type Bell = {
  /** Returns when it rang, after `ms`, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Whether it rang for this since it was asked last. */
  heard(what: string): boolean;
  close(): Promise<void>;
};

/** A part of pg's connection that is used here. */
type Listener = {
  query(text: string): Promise<unknown>;
  on(event: 'notification' | 'error' | 'end', heard: (told?: { readonly payload?: string }) => void): unknown;
  release(error?: Error | boolean): void;
};

/** Listens on a channel with a connection of its own, which it makes again where it is lost. */
export function listening(orm: Orm, channel: string): Bell {
  let listener: Listener | undefined;
  let rung = new AbortController();
  const news = new Set<string>();
  const ring = (told?: { readonly payload?: string }): void => {
    if (told?.payload) news.add(told.payload);
    rung.abort();
  };
  const drop = (): void => {
    const lost = listener;
    listener = undefined;
    lost?.release(true);
  };
  const connect = async (): Promise<void> => {
    const pool = await orm.em.getConnection().getNativeClient();
    const made = (await pool.connect()) as unknown as Listener;
    made.on('notification', ring);
    made.on('error', drop);
    made.on('end', drop);
    await made.query(`listen ${channel}`);
    listener = made;
  };
  return {
    async wait(ms, signal) {
      try {
        // A connection that nothing is sent over counts as dead after a while.
        if (listener) await listener.query('select 1');
        else await connect();
      } catch {
        drop();
      }
      await pause(ms, AbortSignal.any([signal, rung.signal])).catch(() => undefined);
      rung = new AbortController();
    },
    heard: (what) => news.delete(what),
    async close() {
      drop();
    },
  };
}
