// A backup, put into a database under a name that no process has in its settings: nobody can draw a wallet
// index, sign or migrate before indexes are ahead and payouts are held.
import { randomBytes, randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { migrate } from '../../app/migrate.ts';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Em, type Orm, openOrm } from '../../db/orm.ts';
import { firstRow, rows, run, type Statement, sql } from '../../db/sql.ts';
import type { Actor } from '../../domain/actor.ts';
import { readWalletIndexes, type WalletIndexes } from '../../services/merchants/wallet-indexes.ts';
import { holdAfterRestore } from '../../services/restores/hold.ts';
import { DUMP_FILE, type Manifest, readBackup } from './manifest.ts';
import { type Place, runProgram } from './run-program.ts';

/** From here databases are made and renamed: none can be by who is connected to it. */
const MAINTENANCE = 'postgres';
/**
 * An address that was given away since the backup is never given to somebody else: one key at the rate that
 * is usual makes 8.6 million customers a day. A wallet has 2,147 million addresses.
 */
const LEAST_GAP = 10_000_000;
const MOST_GAP = 100_000_000;
/**
 * Which the customers took for a second where the same backup was restored before, and served them: as many
 * as one key makes at the rate that is usual, in the first twelve days, and then fewer, or a wallet would
 * have no address left for a database that came of an old backup.
 */
const INDEXES_A_SECOND = 100;
const LATER_INDEXES_A_SECOND = 10;
const DAY_S = 24 * 60 * 60;
const OWNER =
  'Stop whatever is connected to it (every api, worker and signer), and run it as the owner of the database, who may make databases (deploy/postgres/roles.sh gives that right)';

export type DrillInput = Place & {
  /** The folder of the backup. */
  readonly from: string;
  readonly say: (line: string) => void;
};
export type RestoreInput = DrillInput & { readonly reason: string; readonly actor: Actor };

export type Restored = {
  readonly manifest: Manifest;
  readonly migrated: readonly string[];
  readonly walletIndex: WalletIndexes;
};

/**
 * Restores a backup into the empty database of `url`. Until its schema is this version's, wallet indexes are
 * ahead and payouts are held, it has another name, so that nothing starts over it, also where this is cut
 * short. Throws an OperatorError where the backup or the database does not permit it.
 */
export async function restoreBackup(input: RestoreInput): Promise<Restored> {
  const manifest = await read(input);
  const name = decodeURIComponent(new URL(input.url).pathname.slice(1));
  await over(input.url, (orm) => requireFit(orm.em.fork(), name, manifest));
  return await over(at(input.url, MAINTENANCE), async (server) => {
    const em = server.em.fork();
    await tellLeft(em, input.say);
    const own = ownName('restore');
    // PostgreSQL refuses it while anybody is connected.
    await byOwner(em, `Nothing was restored, for the database ${name} cannot be renamed`, [
      sql`alter database ${sql.id(name)} rename to ${sql.id(own)}`,
    ]);
    try {
      const restored = await filled({ ...input, url: at(input.url, own) }, manifest);
      await run(em, sql`alter database ${sql.id(own)} rename to ${sql.id(name)}`);
      return restored;
    } catch (error) {
      throw new OperatorError(
        `${error instanceof OperatorError ? error.message : reasonOf(error)} Nothing starts over ${name}, which is called ${own} now`,
        `Put that right, drop ${own}, create an empty ${name}, and restore again`,
        { cause: error },
      );
    }
  });
}

/**
 * Restores a backup into a database of its own on the same server, hands its address to `look`, and drops it
 * again, whatever comes of it. Nothing else is touched, and everything may run beside it.
 */
export async function drillBackup<T>(
  input: DrillInput,
  look: (url: string, manifest: Manifest) => Promise<T>,
): Promise<T> {
  const manifest = await read(input);
  return await over(input.url, async (server) => {
    const em = server.em.fork();
    await tellLeft(em, input.say);
    const own = ownName('drill');
    await byOwner(em, 'No database could be made for the drill', [
      sql`create database ${sql.id(own)} template template0`,
      // Everybody's rows are in it for a while.
      sql`revoke connect on database ${sql.id(own)} from public`,
    ]);
    try {
      const url = at(input.url, own);
      await fill({ ...input, url }, ['--no-privileges']);
      return await look(url, manifest);
    } finally {
      await run(em, sql`drop database if exists ${sql.id(own)} with (force)`);
    }
  });
}

async function read({ from, say }: DrillInput): Promise<Manifest> {
  say('Reading the backup, and comparing its checksum…');
  return await readBackup(resolve(from));
}

const ownName = (what: 'restore' | 'drill'): string => `gateway_${what}_${randomBytes(6).toString('hex')}`;

function at(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}

/** What is done takes as long as it takes. Nobody is connected when it has come to its end. */
async function over<T>(url: string, work: (orm: Orm) => Promise<T>): Promise<T> {
  const limits = { poolSize: 1, statementTimeoutMs: 0 };
  const orm = await openOrm({ url, applicationName: 'gateway restore', ...limits });
  return await work(orm).finally(() => orm.close(true));
}

async function requireFit(em: Em, name: string, manifest: Manifest): Promise<void> {
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const newer = manifest.migrations.find((migration) => !known.has(migration));
  if (newer !== undefined)
    throw new OperatorError(
      `The backup is of a newer gateway: it has the migration ${newer.slice(0, 100)}`,
      `Install the version that made it (${manifest.gateway_version.slice(0, 40)}) or a newer one`,
    );
  const { major, things } = await readTarget(em, name);
  if (major < manifest.postgres.major)
    throw new OperatorError(
      `The backup is of PostgreSQL ${manifest.postgres.server}, and this server is PostgreSQL ${major}`,
      'Restore it on a server of that version or a newer one',
    );
  if (things > 0)
    throw new OperatorError(
      `The database ${name} is not empty: create an empty one and name it in DATABASE_URL`,
      'What is there is kept by renaming it first ("Restore" in docs/operations.md)',
    );
}

/** How many tables and functions there are, but for those of extensions, and the version of the server. */
async function readTarget(em: Em, name: string) {
  try {
    const row = await firstRow(
      em,
      sql<{ major: number; things: number }>`
        select current_setting('server_version_num')::int / 10000 as major, (select count(*)::int from (
          select 'pg_class'::regclass as class, oid, relnamespace as place from pg_class
          union all select 'pg_proc'::regclass, oid, pronamespace from pg_proc) thing
          join pg_namespace n on n.oid = place
          where nspname <> 'information_schema' and not starts_with(nspname, 'pg_') and not exists (
            select from pg_depend where classid = class and objid = thing.oid and deptype = 'e')) as things`,
    );
    return row ?? { major: 0, things: 0 };
  } catch (error) {
    throw new OperatorError(
      `The database ${name} cannot be used: ${reasonOf(error)}`,
      'Check DATABASE_URL, that PostgreSQL runs, and that the database was made: it is restored into an empty one',
      { cause: error },
    );
  }
}

/** All of it or nothing, but for what takes rows out of the database it was made in. */
async function fill({ url, from, programs, say }: DrillInput, more: readonly string[] = []): Promise<void> {
  say('Restoring the rows…');
  const database = new URL(url).pathname.slice(1);
  const args = [`--dbname=${database}`, '--single-transaction', '--exit-on-error', '--no-owner'];
  const without = ['--no-publications', '--no-subscriptions', ...more];
  await runProgram('pg_restore', [...args, ...without, join(resolve(from), DUMP_FILE)], { url, programs });
}

async function filled(input: RestoreInput, manifest: Manifest): Promise<Restored> {
  await fill(input);
  return await over(input.url, async (orm) => {
    const migrated = await migrate(orm, input.say);
    return await orm.em.fork().transactional(async (em) => {
      const backupAt = new Date(manifest.made_at);
      await advanceIndexes(em, backupAt);
      const deps = { actor: input.actor, now: () => new Date(), newId: randomUUID };
      await holdAfterRestore(em, deps, { backupAt, reason: input.reason });
      return { manifest, migrated, walletIndex: await readWalletIndexes(em) };
    });
  });
}

/**
 * Leaves out so many wallet indexes that no address that was given away after the backup is given again: ten
 * times as many as the busiest day would have taken in the meantime, ten million at least, and more with
 * every second, because a database that came of this backup earlier has given away those above.
 */
async function advanceIndexes(em: Em, backupAt: Date): Promise<void> {
  await run(
    em,
    sql`select setval('wallet_index_seq', (next
        + least(${MOST_GAP}, greatest(${LEAST_GAP}, 10 * ceil(seconds / ${DAY_S}) * busiest))
        + least(${INDEXES_A_SECOND} * seconds, ${MOST_GAP} + ${LATER_INDEXES_A_SECOND} * seconds))::bigint,
        false)
      from (select greatest(last_value + is_called::int,
          (select coalesce(max(wallet_index), 0) + 1 from customers)) as next,
        greatest(1, ceil(extract(epoch from clock_timestamp() - ${backupAt}::timestamptz))) as seconds,
        (select coalesce(max(n), 0) from (select count(*) as n from customers
          group by created_at::date) of_day) as busiest
        from wallet_index_seq) known`,
  );
}

/** What was cut short leaves everybody's rows in a database that nobody looks at. */
async function tellLeft(em: Em, say: (line: string) => void): Promise<void> {
  const left = await rows(
    em,
    sql<{ name: string }>`select datname as name from pg_database d
      where datname ~ '^gateway_(drill|restore)_[0-9a-f]{12}$'
        and not exists (select from pg_stat_activity a where a.datid = d.oid) order by 1`,
  );
  for (const { name } of left)
    say(
      `A restore or a drill that was cut short has left ${name}, with everybody's rows. If none runs now: "drop database ${name}"`,
    );
}

async function byOwner(em: Em, problem: string, statements: readonly Statement<unknown>[]): Promise<void> {
  try {
    for (const statement of statements) await run(em, statement);
  } catch (error) {
    throw new OperatorError(`${problem}: ${reasonOf(error)}`, OWNER, { cause: error });
  }
}
