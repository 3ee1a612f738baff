// The database that a backup is restored into: who is connected, what is in it, and how it is emptied.
import { MIGRATIONS } from '../../../migrations/index.ts';
import { IN_RESTORE, isInRestore } from '../../app/migrate.ts';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Em, type Orm, openOrm } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import { SET_ASIDE } from './backup.ts';
import type { Manifest } from './manifest.ts';

/** Opens the database for a restore, which takes as long as it takes; no other restore has its name. */
export async function openTarget(url: string, applicationName: string): Promise<Orm> {
  return await openOrm({ url, poolSize: 2, applicationName, statementTimeoutMs: 0 });
}

/**
 * Throws an OperatorError unless this program and this database server can take the backup, and nobody else
 * is connected: a process that runs has keys, addresses and heights in its memory that are not those of the
 * backup.
 */
export async function requireFit(em: Em, manifest: Manifest): Promise<void> {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const newer = manifest.migrations.find((name) => !known.has(name));
  if (newer !== undefined)
    throw new OperatorError(
      `The backup is of a newer gateway: it has the migration ${newer.slice(0, 100)}`,
      `Install the version that made it (${manifest.gateway_version.slice(0, 40)}) or a newer one`,
    );
  const major = await serverMajor(em);
  if (major < manifest.postgres.major)
    throw new OperatorError(
      `The backup is of PostgreSQL ${manifest.postgres.server}, and this server is PostgreSQL ${major}`,
      'Restore it on a server of that version or a newer one',
    );
  await requireAlone(em);
}

/** Throws an OperatorError where anybody is connected under another name than this connection's. */
export async function requireAlone(em: Em): Promise<void> {
  const others = await rows(
    em,
    sql<{
      name: string;
      n: number;
    }>`select coalesce(nullif(application_name, ''), 'a program without a name') as name,
        count(*)::int as n
      from pg_stat_activity where datname = current_database() and usename is not null
        and application_name <> current_setting('application_name') group by 1 order by 1 limit 20`,
  );
  if (others.length === 0) return;
  const told = others.map(({ name, n }) => `${name} (${n})`).join(', ');
  throw new OperatorError(
    `The database is in use by ${told}`,
    'Stop every api, worker and signer and whatever else talks to this database ("docker compose stop api worker signer"), then run it again',
  );
}

async function serverMajor(em: Em): Promise<number> {
  try {
    const row = await firstRow(
      em,
      sql<{ major: number }>`select current_setting('server_version_num')::int / 10000 as major`,
    );
    return row?.major ?? 0;
  } catch (error) {
    throw new OperatorError(
      `The database cannot be used: ${reasonOf(error)}`,
      'Check DATABASE_URL, that PostgreSQL runs, and that the database was made (it is restored into an empty one)',
      { cause: error },
    );
  }
}

/** How many things there are in the place where the gateway's are, but for those of extensions. */
export async function countObjects(em: Em): Promise<number> {
  const row = await firstRow(
    em,
    sql<{ n: number }>`select count(*)::int as n from (
        select oid, 'pg_class'::regclass as kind from pg_class
          where relnamespace = 'public'::regnamespace and relkind not in ('i', 'I', 't')
        union all select oid, 'pg_proc'::regclass from pg_proc where pronamespace = 'public'::regnamespace
        union all select oid, 'pg_type'::regclass from pg_type
          where typnamespace = 'public'::regnamespace and typtype in ('d', 'e', 'r')) object
      where not exists (select from pg_depend d
        where d.classid = object.kind and d.objid = object.oid and d.deptype = 'e')`,
  );
  return row?.n ?? 0;
}

/**
 * Puts what is there aside, under a name of its own, and leaves an empty place; nothing is dropped. Returns
 * the name. What is moved belongs to whoever owns the database.
 */
export async function setAside(em: Em, now: Date): Promise<string> {
  const name = `${SET_ASIDE}${now.toISOString().slice(0, 19).replace(/\D/g, '')}`;
  try {
    await em.transactional(async (inner) => {
      const extensions = await extensionsIn(inner);
      await run(inner, sql`alter schema public rename to ${sql.ref(name)}`);
      await renameLock(inner, name, LOCK, LOCK_ASIDE);
      await makePlace(inner);
      await bringToPublic(inner, extensions);
    });
  } catch (error) {
    throw new OperatorError(
      `What is in the database could not be put aside: ${reasonOf(error)}`,
      'Rename this database and make an empty database of its name ("Restore" in docs/operations.md), then restore without --replace',
      { cause: error },
    );
  }
  return name;
}

/** Marks the database as one that is being restored; false where it is so since one that was cut short. */
export async function mark(em: Em): Promise<boolean> {
  if (await isInRestore(em)) return false;
  try {
    await run(em, sql`create schema ${sql.ref(IN_RESTORE)}`);
  } catch (error) {
    throw new OperatorError(
      `The database cannot be marked as one that is being restored: ${reasonOf(error)}`,
      'Run it as the owner of the database, who may make schemas in it ("Restore" in docs/operations.md)',
      { cause: error },
    );
  }
  return true;
}

/** Takes the mark away, with what the caller's transaction does. */
export async function unmark(em: Em): Promise<void> {
  await run(em, sql`drop schema ${sql.ref(IN_RESTORE)}`);
}

export type Before = {
  /** Where what was there before lies; null where nothing was. */
  readonly aside: string | null;
  /** False where the database was marked by a restore that was cut short. */
  readonly marked: boolean;
  /** The extensions that were there, which what lies elsewhere may use. */
  readonly extensions: readonly string[];
};

/**
 * Takes the half-filled place away again, and puts back what was there before, if anything was. Extensions
 * that were there stay: what uses them may lie aside, since a restore that was cut short.
 */
export async function putBack(em: Em, { aside, marked, extensions }: Before): Promise<void> {
  await em.transactional(async (inner) => {
    if (marked) await unmark(inner);
    if (aside === null && (await countObjects(inner)) === 0) return;
    await run(inner, sql`alter schema public rename to ${sql.ref(TAKEN_AWAY)}`);
    if (aside === null) await makePlace(inner);
    else {
      await run(inner, sql`alter schema ${sql.ref(aside)} rename to public`);
      await renameLock(inner, 'public', LOCK_ASIDE, LOCK);
    }
    await bringToPublic(inner, extensions);
    await run(inner, sql`drop schema ${sql.ref(TAKEN_AWAY)} cascade`);
  });
}

/** The schema of what is dropped, while it is. */
const TAKEN_AWAY = 'gateway_taken_away';

/** The names of all schemas in which something lies that a restore has put aside, the oldest first. */
export async function schemasAside(em: Em): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ name: string }>`select nspname as name from pg_namespace where starts_with(nspname, ${SET_ASIDE})
      order by nspname`,
  );
  return found.map(({ name }) => name);
}

async function makePlace(em: Em): Promise<void> {
  await run(em, sql`create schema public`);
  await run(em, sql`grant usage on schema public to public`);
}

/** The extensions in the place where the gateway's tables are. */
export async function extensionsIn(em: Em): Promise<string[]> {
  const found = await rows(
    em,
    sql<{
      name: string;
    }>`select extname as name from pg_extension where extnamespace = 'public'::regnamespace`,
  );
  return found.map(({ name }) => name);
}

async function bringToPublic(em: Em, extensions: readonly string[]): Promise<void> {
  for (const name of extensions) await run(em, sql`alter extension ${sql.ref(name)} set schema public`);
}

const LOCK = 'lock_for_signing';
const LOCK_ASIDE = 'lock_for_signing_before_restore';

/**
 * The function by which the signer locks a payout finds its schema by its own name. A second one of that
 * name would have it lock rows that were put aside: nothing would be held, or nothing signed.
 */
async function renameLock(em: Em, schema: string, from: string, to: string): Promise<void> {
  const found = await firstRow(
    em,
    sql<{ there: boolean }>`select exists (select from pg_proc
      where proname = ${from} and pronamespace = ${schema}::regnamespace) as there`,
  );
  if (found?.there)
    await run(em, sql`alter function ${sql.ref(`${schema}.${from}`)}(uuid) rename to ${sql.ref(to)}`);
}
