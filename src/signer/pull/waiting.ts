// What the signer waits for, and in which order it looks at it.
import { pause } from '../../base/async/pause.ts';
import type { Em, Orm } from '../../db/orm.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';

const PAGE = 50;
const MOST_RESTING = 1_000;
/** Looking again at what was refused takes at most this share of the time: one part in so many. */
const SHARE = 4;

/**
 * What was never refused comes first. What was refused is gone through in turn, a page at a time, and each
 * round begins only some time after the last one: so no number of refused rows keeps others waiting.
 */
export class Queue {
  readonly #retryMs: number;
  /** When each row that could not be looked at is tried again. */
  readonly #resting = new Map<string, number>();
  #after: string | undefined;
  #roundBeganAt = 0;
  #nextRoundAt = 0;

  constructor(retryMs: number) {
    this.#retryMs = retryMs;
  }

  /** Ids to look at now, and whether there may be more. */
  async next(em: Em): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
    const nowMs = performance.now();
    for (const [id, until] of this.#resting) if (until <= nowMs) this.#resting.delete(id);
    const fresh = await asked(
      em,
      sql`refused is null and not (id = any(${[...this.#resting.keys()]})) order by created_at, id`,
    );
    const again = (await this.#refused(em, nowMs)).filter((id) => !this.#resting.has(id));
    return { ids: [...fresh, ...again], more: fresh.length === PAGE || this.#after !== undefined };
  }

  /** Lets a row be for a while. */
  rest(id: string): void {
    if (this.#resting.size < MOST_RESTING) this.#resting.set(id, performance.now() + this.#retryMs);
  }

  async #refused(em: Em, nowMs: number): Promise<readonly string[]> {
    if (this.#after === undefined) {
      if (nowMs < this.#nextRoundAt) return [];
      this.#roundBeganAt = nowMs;
    }
    const beyond = this.#after === undefined ? sql`true` : sql`id > ${this.#after}::uuid`;
    const ids = await asked(em, sql`refused is not null and ${beyond} order by id`);
    this.#after = ids.length === PAGE ? ids.at(-1) : undefined;
    if (this.#after === undefined)
      this.#nextRoundAt = nowMs + Math.max(this.#retryMs, (SHARE - 1) * (nowMs - this.#roundBeganAt));
    return ids;
  }
}

async function asked(em: Em, which: Statement<unknown>): Promise<readonly string[]> {
  const text = sql<{ id: string }>`select id from sent_transactions where state = 'asked' and ${which}`;
  return (await rows(em, sql<{ id: string }>`${text} limit ${PAGE}`)).map(({ id }) => id);
}

/** A part of pg's connection that is used here. */
type Listener = {
  query(text: string): Promise<unknown>;
  on(event: 'notification' | 'error' | 'end', heard: (told?: { readonly payload?: string }) => void): unknown;
  release(error?: Error | boolean): void;
};

/**
 * What rings when PostgreSQL is told something on a channel: a hint, and whoever waits looks anyway. It has a
 * connection of its own, which it makes again where it is lost.
 */
export function listening(orm: Orm, channel: string) {
  let listener: Listener | undefined;
  let rung = new AbortController();
  const news = new Set<string>();
  const drop = (): void => {
    const lost = listener;
    listener = undefined;
    lost?.release(true);
  };
  const connect = async (): Promise<void> => {
    const pool = await orm.em.getConnection().getNativeClient();
    const made = (await pool.connect()) as unknown as Listener;
    made.on('notification', (told) => {
      if (told?.payload) news.add(told.payload);
      rung.abort();
    });
    made.on('error', drop);
    made.on('end', drop);
    await made.query(`listen ${channel}`);
    listener = made;
  };
  return {
    /** Returns when it rang, after `ms`, or when the signal aborts. */
    async wait(ms: number, signal: AbortSignal): Promise<void> {
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
    /** Whether it rang for this since it was asked last. */
    heard: (what: string): boolean => news.delete(what),
    close: drop,
  };
}
