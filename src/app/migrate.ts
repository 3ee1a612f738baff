import { MIGRATIONS } from '../../migrations/index.ts';
import { pause } from '../base/async/pause.ts';
import { OperatorError } from '../base/errors.ts';
import { type Orm, openOrm } from '../db/orm.ts';
import { rows, run, sql } from '../db/sql.ts';
import { requireUsableDatabase } from '../db/usable.ts';
import { hideSecrets } from './reader-rights.ts';

/** Any number will do, as long as it is the same in every process: the holder of this lock migrates. */
const MIGRATION_LOCK = 7_203_411_860;
const LOCK_EVERY_MS = 500;
const PROGRESS_EVERY_MS = 1_000;
/**
 * A statement that waits for a lock of a whole table makes everything that comes after it wait
 * too, so it waits in short turns with pauses between.
 */
const TABLE_LOCK_TURN = '1 s';
const LOOK_EVERY_MS = 250;
const PAUSE_MS = 5_000;
const CANCELLED = '57014';

/**
 * Applies every migration that the database lacks, in order, and returns their names. Each is a
 * transaction of its own, except those that build indexes while the service runs. Runs without the
 * limits of the service: an index of a grown table takes hours. Of two runs at a time the second waits
 * for the first and finds nothing left. After a run that was killed the next one goes on; an index that
 * was left half-built is dropped and built again. Where a table is read for long (by a backup), it tries
 * again and again for a second, and nothing else waits for longer than that. `report` hears what is
 * being done, about once a second while an index grows. Throws an OperatorError over a database that
 * cannot be used.
 */
export async function migrate(orm: Orm, report: (line: string) => void = () => undefined): Promise<string[]> {
  const url = orm.config.get('clientUrl') ?? '';
  const unlimited = await openOrm({
    url,
    poolSize: 4,
    applicationName: 'gateway migrate',
    statementTimeoutMs: 0,
    silenceMs: 0,
  });
  try {
    return await alone(unlimited, report, () =>
      reporting(unlimited, report, async () => {
        await requireUsableDatabase(unlimited.em.fork());
        const applied = await applyAll(unlimited, report);
        await hideSecrets(unlimited.em.fork());
        return applied;
      }),
    );
  } finally {
    await unlimited.close(true);
  }
}

/** Throws an OperatorError when the database is behind this program, ahead of it, or not usable. */
export async function requireCurrentSchema(orm: Orm): Promise<void> {
  await requireUsableDatabase(orm.em.fork());
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const foreign = (await orm.migrator.getExecuted()).filter((migration) => !known.has(migration.name));
  if (foreign.length > 0) {
    throw new OperatorError(
      `The database is ahead of this program: it holds the migration ${foreign[0]?.name}`,
      'Install the version that made it, or a newer one',
    );
  }
  const pending = await orm.migrator.getPending();
  if (pending.length > 0) {
    throw new OperatorError(
      `The database is behind: ${pending.length} of its migrations were not applied`,
      'Run "gateway migrate" and start again',
    );
  }
}

/**
 * Holds the lock while `work` runs. It asks for the lock again and again instead of
 * waiting for it: a statement that waits holds a snapshot, and an index that is built
 * while the service runs waits for every snapshot.
 */
async function alone<T>(orm: Orm, report: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const pool = await orm.em.getConnection().getNativeClient();
  const client = await pool.connect();
  try {
    for (let tries = 0; ; tries += 1) {
      const { rows } = await client.query<{ held: boolean }>(
        `select pg_try_advisory_lock(${MIGRATION_LOCK}) as held`,
      );
      if (rows[0]?.held) break;
      if (tries === 0) report('Another migration is running over this database; waiting for its end…');
      await pause(LOCK_EVERY_MS);
    }
    return await work();
  } finally {
    // The lock ends with its connection.
    client.release(true);
  }
}

async function applyAll(orm: Orm, report: (line: string) => void): Promise<string[]> {
  const applied: string[] = [];
  orm.migrator.on('migrating', ({ name }) => report(`Applying ${name}…`));
  orm.migrator.on('migrated', ({ name }) => void applied.push(name));
  for (;;) {
    await dropHalfBuilt(orm, report);
    const turn = new AbortController();
    const stepping = stepAside(orm, turn.signal);
    try {
      await orm.migrator.up();
      return applied;
    } catch (error) {
      if (!isCancelled(error)) throw error;
      report(
        'A table is in use for long, by a backup perhaps; trying again in some seconds, so that nobody waits behind this…',
      );
    } finally {
      turn.abort();
      await stepping;
    }
    await pause(PAUSE_MS);
  }
}

/**
 * Cancels the migration's own statement where it has waited long enough for a
 * lock that keeps everybody from a table.
 */
async function stepAside(orm: Orm, signal: AbortSignal): Promise<void> {
  for (;;) {
    await pause(LOOK_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    await run(orm.em.fork(), STEP_ASIDE).catch(() => undefined);
  }
}

/** An index that is built while the service runs waits for others too, but blocks nobody meanwhile. */
const STEP_ASIDE = sql`select pg_cancel_backend(l.pid) from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
  where not l.granted and l.locktype = 'relation'
    and l.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
    and l.waitstart < clock_timestamp() - ${TABLE_LOCK_TURN}::interval
    and a.application_name = 'gateway migrate' and a.datname = current_database()
    and a.usename = current_user`;

function isCancelled(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === CANCELLED) || isCancelled(error.cause);
}

/**
 * Drops every index that is not valid and that nobody is building: a run that was killed left
 * it, and "if not exists" would take it for done.
 */
async function dropHalfBuilt(orm: Orm, report: (line: string) => void): Promise<void> {
  const left = await rows(
    orm.em.fork(),
    sql<{
      name: string;
    }>`select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where not i.indisvalid and c.relnamespace = current_schema()::regnamespace and c.relkind = 'i'
       and not exists (select 1 from pg_stat_progress_create_index p where p.index_relid = i.indexrelid)`,
  );
  for (const { name } of left) {
    report(`Dropping ${name}, which an earlier run left half-built…`);
    // The name as PostgreSQL itself wrote it, quoted where it must be.
    await run(orm.em.fork(), sql`drop index concurrently if exists ${sql.raw(name)}`);
  }
}

async function reporting<T>(orm: Orm, report: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const watching = reportIndexes(orm, report, done.signal);
  try {
    return await work();
  } finally {
    done.abort();
    await watching;
  }
}

async function reportIndexes(orm: Orm, report: (line: string) => void, signal: AbortSignal): Promise<void> {
  for (;;) {
    await pause(PROGRESS_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const building = await rows(orm.em.fork(), PROGRESS).catch(() => []);
    for (const { name, phase, percent } of building)
      report(`Building ${name}: ${phase}${percent === null ? '' : `, ${percent} % of this phase`}`);
  }
}

const PROGRESS = sql<{
  name: string;
  phase: string;
  percent: number | null;
}>`select index_relid::regclass::text as name, phase,
    floor(100.0 * coalesce(nullif(blocks_done, 0)::numeric / nullif(blocks_total, 0),
      tuples_done::numeric / nullif(tuples_total, 0)))::int as percent
  from pg_stat_progress_create_index where datname = current_database() and index_relid <> 0`;
