import { LoopRun } from '../db/entities/index.ts';
import { run, sql } from '../db/sql.ts';
import { fitted, MAX_REASON } from '../domain/text.ts';
import type { Deps } from './deps.ts';

/** A loop of the workers, as its row tells. */
export type LoopAge = {
  readonly name: string;
  readonly everyMs: number;
  /**
   * How long ago it last ran well, or how far ahead by the clock of
   * another worker; if it never did, how long it has been known.
   */
  readonly ageMs: number;
  /** Why its last turn failed; null when it went well. */
  readonly fault: string | null;
};

/** A turn may be late by some of its own length and by this much before an alarm is raised. */
const GRACE_MS = 60_000;
const TURNS_MISSED = 3;
/**
 * Turns of several workers begin at different moments; one that
 * is early by up to this share of its interval is not left out.
 */
const EARLY_SHARE = 0.1;

/**
 * Makes the rows of these loops, so that one which never runs
 * is missed, and removes those of loops that no longer exist.
 */
export async function registerLoops(
  deps: Deps,
  loops: readonly { readonly name: string; readonly everyMs: number }[],
): Promise<void> {
  const em = deps.orm.em.fork();
  const now = deps.now();
  for (const { name, everyMs } of loops) {
    await run(
      em,
      sql`insert into loop_runs as l (name, every_ms, known_since) values (${name}, ${everyMs}, ${now})
        on conflict (name) do update set every_ms = excluded.every_ms where l.every_ms <> excluded.every_ms`,
    );
  }
  await run(em, sql`delete from loop_runs where name <> all(${loops.map(({ name }) => name)})`);
}

/**
 * Takes the turn of a loop that one worker at a time runs for all. Returns false while another
 * one runs it, or began it less than an interval ago; the `first` turn of a process comes at
 * once. If a worker dies, its turn is free again after `leaseMs`. A worker whose clock was ahead
 * holds nobody up: a turn whose beginning lies in the future by this clock counts as over.
 */
export async function takeTurn(
  deps: Deps,
  loop: { name: string; everyMs: number; leaseMs: number; first: boolean },
): Promise<boolean> {
  const now = deps.now();
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  const begunBefore = loop.first ? now : after(-loop.everyMs * (1 - EARLY_SHARE));
  // A worker of another version removes the rows of loops that it does
  // not know: the turn of a loop that runs here brings its row back.
  const taken = await run(
    deps.orm.em.fork(),
    sql`insert into loop_runs as l (name, every_ms, known_since, lease_until, started_at)
      values (${loop.name}, ${loop.everyMs}, ${now}, ${after(loop.leaseMs)}, ${now})
      on conflict (name) do update set lease_until = excluded.lease_until, started_at = excluded.started_at
      where (l.lease_until is null or l.lease_until <= ${now} or l.lease_until > ${after(2 * loop.leaseMs)})
        and (l.started_at is null or l.started_at <= ${begunBefore}
        or l.started_at > ${after(loop.everyMs)})`,
  );
  return taken === 1;
}

/** Notes that a turn went well, and gives it back if it was taken. */
export async function noteGoodRun(deps: Deps, name: string): Promise<void> {
  await run(
    deps.orm.em.fork(),
    sql`update loop_runs set last_good_at = ${deps.now()}, failing_since = null, last_error = null,
      lease_until = null where name = ${name}`,
  );
}

/** Notes why a turn failed, and gives it back if it was taken. */
export async function noteFailedRun(deps: Deps, name: string, reason: string): Promise<void> {
  await run(
    deps.orm.em.fork(),
    sql`update loop_runs set failing_since = coalesce(failing_since, ${deps.now()}),
      last_error = ${fitted(reason, MAX_REASON)},
      lease_until = null where name = ${name}`,
  );
}

/** Every loop of the workers, by name. Empty when no worker ever ran over this database. */
export async function listLoopRuns(deps: Pick<Deps, 'orm' | 'now'>): Promise<LoopAge[]> {
  const rows = await deps.orm.em.fork().find(LoopRun, {}, { orderBy: { name: 'asc' } });
  const now = deps.now().getTime();
  return rows.map(({ name, everyMs, lastGoodAt, knownSince, lastError }) => {
    const ageMs = Math.abs(now - (lastGoodAt ?? knownSince).getTime());
    return { name, everyMs, ageMs, fault: lastError ?? null };
  });
}

/** Whether a loop has not run well for longer than a few of its turns. */
export function isOverdue({ everyMs, ageMs }: Pick<LoopAge, 'everyMs' | 'ageMs'>): boolean {
  return ageMs > TURNS_MISSED * everyMs + GRACE_MS;
}
