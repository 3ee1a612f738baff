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

type Thing = { readonly type: string; readonly name: string };

/**
 * What there is in the place where the gateway's tables are, each by the names by which it is dropped, but
 * for extensions and what belongs to them.
 */
async function thingsIn(em: Em): Promise<Thing[]> {
  return await rows(
    em,
    sql<Thing>`select case when thing.type = 'composite type' then 'type'
        when thing.type = 'statistics object' then 'statistics'
        -- An aggregate without arguments is not dropped by its name as one.
        when thing.type in ('function', 'procedure', 'aggregate') then 'routine'
        else thing.type end as type, thing.identity as name
      from pg_depend d, pg_identify_object(d.classid, d.objid, 0) thing
      where d.refclassid = 'pg_namespace'::regclass and d.refobjid = 'public'::regnamespace
        and d.classid not in ('pg_extension'::regclass, 'pg_default_acl'::regclass)
        and thing.type <> 'publication namespace'
        and not exists (select from pg_depend e
          where e.classid = d.classid and e.objid = d.objid and e.deptype = 'e')
      order by d.objid`,
  );
}

/**
 * How many things there are in the place where the gateway's tables are, but for those of extensions. Throws
 * an OperatorError where there is no such place, and where it is empty and nothing can be made in it.
 */
export async function countThings(em: Em): Promise<number> {
  const place = await firstRow(
    em,
    sql<{ owner: string; may: boolean; me: string }>`select pg_get_userbyid(nspowner) as owner,
      has_schema_privilege(oid, 'create') as may, quote_ident(current_user) as me
      from pg_namespace where nspname = 'public'`,
  );
  if (!place)
    throw new OperatorError(
      'The database has no schema "public"',
      'Make it as the owner of the database: "create schema public; grant usage on schema public to public"',
    );
  const { length } = await thingsIn(em);
  if (length === 0 && !place.may)
    throw new OperatorError(
      `The schema "public" belongs to ${place.owner}, and the role of DATABASE_URL can make nothing in it`,
      `As a superuser: "alter schema public owner to ${place.me}; grant usage on schema public to public"`,
    );
  return length;
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
      await run(inner, sql`create schema public`);
      await run(inner, sql`grant usage on schema public to public`);
      await bring(inner, extensions, 'public');
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

/**
 * Marks the database as one that is being restored; false where it is so since one that was cut short. Such a
 * mark is made anew: one that cannot be taken away in the end is better known now.
 */
export async function mark(em: Em): Promise<boolean> {
  const isMarked = await isInRestore(em);
  const role = await firstRow(em, sql<{ me: string }>`select quote_ident(current_user) as me`);
  try {
    if (isMarked) await unmark(em);
    await run(em, sql`create schema ${sql.ref(IN_RESTORE)}`);
  } catch (error) {
    throw new OperatorError(
      `The database cannot be marked as one that is being restored: ${reasonOf(error)}`,
      isMarked
        ? `Take what is in the schema ${IN_RESTORE} out of it, if anything is, and as a superuser: "alter schema ${IN_RESTORE} owner to ${role?.me}"; then run it again`
        : 'Run it as the owner of the database, who may make schemas in it ("Restore" in docs/operations.md)',
      { cause: error },
    );
  }
  return !isMarked;
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
  /** Whether the restore makes the schema of this name, which was not there, for somebody else's things. */
  readonly makes: (schema: string) => boolean;
};

/**
 * Takes what the restore made away again, and puts back what was there before, if anything was. The place
 * stays the same where nothing was put aside, with its owner and its rights; extensions that were there stay
 * too: what uses them may lie aside, since a restore that was cut short.
 */
export async function putBack(em: Em, { aside, marked, extensions, makes }: Before): Promise<void> {
  await em.transactional(async (inner) => {
    if (marked) await unmark(inner);
    // What went with another one is gone already. Names are as PostgreSQL itself writes them.
    for (const { type, name } of await thingsIn(inner))
      await run(inner, sql`drop ${sql.raw(type)} if exists ${sql.raw(name)} cascade`);
    for (const name of (await schemasIn(inner)).filter(makes))
      await run(inner, sql`drop schema ${sql.id(name)} cascade`);
    for (const name of await extensionsIn(inner))
      if (!extensions.includes(name)) await run(inner, sql`drop extension ${sql.id(name)}`);
    if (aside === null) return;
    await bring(inner, extensions, aside);
    await run(inner, sql`drop schema public`);
    await run(inner, sql`alter schema ${sql.ref(aside)} rename to public`);
    await renameLock(inner, 'public', LOCK_ASIDE, LOCK);
  });
}

/** The names of all schemas in which something lies that a restore has put aside, the oldest first. */
export async function schemasAside(em: Em): Promise<string[]> {
  return (await schemasIn(em)).filter((name) => name.startsWith(SET_ASIDE));
}

/** The names of all schemas. */
export async function schemasIn(em: Em): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ name: string }>`select nspname as name from pg_namespace order by nspname`,
  );
  return found.map(({ name }) => name);
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

async function bring(em: Em, extensions: readonly string[], schema: string): Promise<void> {
  for (const name of extensions)
    await run(em, sql`alter extension ${sql.id(name)} set schema ${sql.id(schema)}`);
}

const LOCK = 'lock_for_signing';
const LOCK_ASIDE = 'lock_for_signing_before_restore';

/** Takes the right to hold payouts back from everybody: it comes with a function that says nothing else. */
export async function closeLock(em: Em): Promise<void> {
  if (await hasLock(em, 'public', LOCK))
    await run(em, sql`revoke execute on function ${sql.ref(`public.${LOCK}`)}(uuid) from public`);
}

async function hasLock(em: Em, schema: string, name: string): Promise<boolean> {
  const found = await firstRow(
    em,
    sql<{ there: boolean }>`select exists (select from pg_proc
      where proname = ${name} and pronamespace = ${schema}::regnamespace) as there`,
  );
  return found?.there === true;
}

/**
 * The function by which the signer locks a payout finds its schema by its own name. A second one of that
 * name would have it lock rows that were put aside: nothing would be held, or nothing signed.
 */
async function renameLock(em: Em, schema: string, from: string, to: string): Promise<void> {
  if (await hasLock(em, schema, from))
    await run(em, sql`alter function ${sql.ref(`${schema}.${from}`)}(uuid) rename to ${sql.ref(to)}`);
}
