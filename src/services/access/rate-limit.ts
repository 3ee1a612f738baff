import { beyondLimit } from '../../db/time-limit.ts';
import { type Allowance, type Limit, refill, waitMs } from '../../domain/limits.ts';
import type { Deps } from '../deps.ts';

/** The state of a client's limit, for its headers. */
export type Admission = {
  readonly allowed: boolean;
  readonly limit: number;
  /** How many whole uses are left. */
  readonly remaining: number;
  /** How long until all uses are there again. */
  readonly resetMs: number;
  /** How long until one use is there again; 0 when there is one now. */
  readonly retryAfterMs: number;
};

/** One limit for many clients, counted for all processes together. */
export type RateLimiter = {
  /**
   * Takes one use, unless nothing is left. Rejects as a query
   * does when it has to ask a database that does not answer.
   */
  take(client: string): Promise<Admission>;
  /** What is left, as far as this process knows. */
  peek(client: string): Admission;
  /**
   * Writes the uses that are not yet written. Rejects while
   * the database does not answer; nothing is lost then.
   */
  sync(): Promise<void>;
};

export type RateLimiterOptions = {
  /** Keeps apart the clients of different limits in the one table. */
  readonly name: string;
  readonly limit: Limit;
  /**
   * How many uses by one client this process may allow before it has told the
   * others: N processes together can allow at most N times this too much, and the
   * client has to wait that debt off. Infinity: it never waits for the database.
   */
  readonly creditPerClient: number;
  /** A clock that only goes forward. */
  readonly nowMs: () => number;
};

const SYNC_EVERY_MS = 100;
const RETRY_SYNC_MS = 1_000;
const CLEAN_EVERY_MS = 60_000;
/** How many clients one process remembers. One more makes it forget the client that came first. */
const MAX_CLIENTS = 50_000;
const MAX_ROWS_PER_SYNC = 1_000;
/**
 * How often a request waits for the database before it is let through
 * or refused; each time others have used up at least the credit.
 */
const MAX_WAITS = 1_000;

type Entry = { allowance: Allowance /** Used here and not yet written. */; spent: number };

/**
 * Most uses are decided in memory. All clients' uses are written in one statement every
 * 100 ms, and its result says what the other processes used. So a request costs no
 * round trip, and the limit holds for all processes together, apart from the credits.
 */
export function createRateLimiter(deps: Deps, options: RateLimiterOptions): RateLimiter {
  const { limit, creditPerClient, nowMs } = options;
  const entries = createEntries(limit, nowMs);
  const writer = createWriter(deps, options);
  let running: Promise<void> | undefined;
  let planned = false;
  let cleanedAtMs = nowMs();

  const write = async (): Promise<void> => {
    await writer.write(entries.dirty(MAX_ROWS_PER_SYNC));
    if (nowMs() - cleanedAtMs < CLEAN_EVERY_MS) return;
    cleanedAtMs = nowMs();
    entries.clean();
    await writer.clean();
  };
  const sync = (): Promise<void> => {
    // One write serves all requests, whichever of them began it.
    running ??= beyondLimit(write).finally(() => {
      running = undefined;
    });
    return running;
  };
  const syncInTurn = async (): Promise<void> => {
    try {
      await sync();
      if (entries.dirty(1).length > 0) syncSoon(SYNC_EVERY_MS);
    } catch (error) {
      if (!writer.closed()) syncSoon(RETRY_SYNC_MS);
      deps.log.debug({ err: error, limit: options.name }, 'rate limits could not be written yet');
    }
  };
  const syncSoon = (afterMs: number): void => {
    if (planned) return;
    planned = true;
    setTimeout(() => {
      planned = false;
      void syncInTurn();
    }, afterMs).unref();
  };

  return {
    sync,
    peek: (client) => admissionOf(limit, entries.at(client).allowance, nowMs(), true),
    take: async (client) => {
      let entry = entries.at(client);
      for (
        let waits = 0;
        entry.spent >= creditPerClient && entry.allowance.tokens >= 1 && waits < MAX_WAITS;
        waits += 1
      ) {
        await sync();
        entry = entries.at(client);
      }
      if (entry.allowance.tokens < 1) return admissionOf(limit, entry.allowance, nowMs(), false);
      entries.spend(client, entry);
      // Begun early enough that a busy client seldom waits.
      if (entry.spent * 2 >= creditPerClient && !running) void syncInTurn();
      else syncSoon(SYNC_EVERY_MS);
      return admissionOf(limit, entry.allowance, nowMs(), true);
    },
  };
}

/** What this process knows about clients. */
function createEntries(limit: Limit, nowMs: () => number) {
  const all = new Map<string, Entry>();
  const unwritten = new Map<string, Entry>();
  return {
    /** The client's entry as of now. */
    at: (client: string): Entry => {
      let entry = all.get(client);
      if (!entry) {
        entry = { allowance: { tokens: limit.capacity, sinceMs: nowMs() }, spent: 0 };
        if (all.size >= MAX_CLIENTS) for (const first of all.keys()) if (all.delete(first)) break;
        all.set(client, entry);
      }
      entry.allowance = refill(limit, entry.allowance, nowMs());
      return entry;
    },
    spend: (client: string, entry: Entry): void => {
      entry.spent += 1;
      entry.allowance = { ...entry.allowance, tokens: entry.allowance.tokens - 1 };
      unwritten.set(client, entry);
    },
    /**
     * At most `most` entries that have something to write; entries
     * that have nothing any more are removed from the list.
     */
    dirty: (most: number): (readonly [string, Entry])[] => {
      const found: (readonly [string, Entry])[] = [];
      for (const [client, entry] of unwritten) {
        if (entry.spent === 0) unwritten.delete(client);
        else if (found.push([client, entry]) >= most) break;
      }
      return found;
    },
    /** Forgets the clients whose entry says no more than no entry would. */
    clean: (): void => {
      for (const [client, entry] of all) {
        entry.allowance = refill(limit, entry.allowance, nowMs());
        if (entry.spent === 0 && entry.allowance.tokens >= limit.capacity) all.delete(client);
      }
    },
  };
}

function admissionOf(limit: Limit, allowance: Allowance, nowMs: number, allowed: boolean): Admission {
  return {
    allowed,
    limit: limit.capacity,
    remaining: Math.max(0, Math.floor(allowance.tokens)),
    resetMs: waitMs(limit, allowance, limit.capacity, nowMs),
    retryAfterMs: waitMs(limit, allowance, 1, nowMs),
  };
}

/**
 * The part that all processes share. Times are the database's
 * own, so that the clocks of the processes need not agree.
 */
function createWriter(deps: Deps, { name, limit, nowMs }: RateLimiterOptions) {
  const sql = limit.kind === 'bucket' ? BUCKET_SQL : WINDOW_SQL;
  const pace = limit.kind === 'bucket' ? limit.perSecond : limit.windowMs / 1_000;
  let pool: Awaited<ReturnType<typeof poolOf>> | undefined;
  const query = async <T extends object>(text: string, values: unknown[]): Promise<T[]> => {
    // Asked for only once: the ORM would open a closed pool again, and nobody would close that one.
    pool ??= await poolOf(deps);
    return (await pool.query<T>(text, values)).rows;
  };
  return {
    closed: () => pool?.ending ?? false,
    /** Writes what was used and takes over what the other processes know. */
    write: async (dirty: readonly (readonly [string, Entry])[]): Promise<void> => {
      if (dirty.length === 0) return;
      const written = dirty.map(([, entry]) => entry.spent);
      const ids = dirty.map(([client]) => `${name}:${client}`);
      const rows = await query<{ id: string; tokens: number; age_ms: number }>(sql, [
        ids,
        written,
        limit.capacity,
        pace,
      ]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const [index, [client, entry]] of dirty.entries()) {
        const row = byId.get(`${name}:${client}`);
        if (!row) continue;
        entry.spent -= written[index] ?? 0;
        entry.allowance = { tokens: row.tokens - entry.spent, sinceMs: nowMs() - row.age_ms };
      }
    },
    /** Removes rows that say no more than no row would. */
    clean: async (): Promise<void> => {
      const fullAfterSeconds = limit.kind === 'bucket' ? limit.capacity / limit.perSecond : pace;
      await query(CLEAN_SQL, [`${name}:%`, fullAfterSeconds * 2 + 60]);
    },
  };
}

async function poolOf(deps: Deps) {
  return await deps.orm.em.getConnection().getNativeClient();
}

/** Rows are locked in the order of their ids, so that two processes never wait for each other. */
const SPENT = 'from (select id, spent from unnest($1::text[], $2::float8[]) u (id, spent) order by id) t';
const ANSWER =
  'returning id, tokens, greatest(0, extract(epoch from clock_timestamp() - since) * 1000)::float8 as age_ms';

const BUCKET_SQL = `insert into rate_limits as r (id, tokens, since) select t.id, $3::float8 - t.spent,
  clock_timestamp() ${SPENT}
  on conflict (id) do update set since = greatest(r.since, excluded.since),
    tokens = excluded.tokens - $3::float8
    + least($3::float8, r.tokens + greatest(0,
      extract(epoch from excluded.since - r.since)::float8) * $4::float8)
  ${ANSWER}`;

const WINDOW_SQL = `insert into rate_limits as r (id, tokens, since) select t.id, $3::float8 - t.spent,
  clock_timestamp() ${SPENT}
  on conflict (id) do update set
    tokens = case when excluded.since >= r.since + make_interval(secs => $4::float8) then excluded.tokens
      else r.tokens + excluded.tokens - $3::float8 end,
    since = case when excluded.since >= r.since + make_interval(secs => $4::float8) then excluded.since
      else r.since end
  ${ANSWER}`;

const CLEAN_SQL =
  'delete from rate_limits where id like $1 and since < clock_timestamp() - make_interval(secs => $2::float8)';
