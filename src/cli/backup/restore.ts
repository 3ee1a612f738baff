import { randomBytes, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { Migration20261125000058_payout_decisions } from '../../../migrations/Migration20261125000058_payout_decisions.ts';
import { RESTORES } from '../../../migrations/Migration20261126000070_restores.ts';
import { migrateRestored } from '../../app/migrate.ts';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Em, type Orm, openOrm } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { Actor } from '../../domain/actor.ts';
import { holdAfterRestore } from '../../services/restores/hold.ts';
import { countRows } from './backup.ts';
import { type Dump, entriesOf, fill, schemasMadeBy } from './fill.ts';
import { makeIndexes, type WalletIndex, walletIndexOf } from './indexes.ts';
import { type Manifest, readBackup } from './manifest.ts';
import {
  type Before,
  closeLock,
  countThings,
  extensionsIn,
  mark,
  openTarget,
  putBack,
  requireAlone,
  requireFit,
  schemasAside,
  schemasIn,
  setAside,
  unmark,
} from './target.ts';

export type RestoreInput = {
  readonly url: string;
  readonly from: string;
  readonly replace: boolean;
  readonly privileges: boolean;
  readonly reason: string;
  readonly actor: Actor;
  readonly programs: { readonly folder: string | undefined; readonly env: NodeJS.ProcessEnv };
  readonly now: () => Date;
  readonly say: (line: string) => void;
};

export type Restored = {
  readonly manifest: Manifest;
  /** The schemas in which what was there before lies, also before a restore that was cut short. */
  readonly aside: readonly string[];
  readonly migrated: readonly string[];
  readonly walletIndex: WalletIndex;
};

/**
 * Restores a backup into the database, all of it or nothing. Until wallet indexes are ahead, payouts are held
 * and the schema is this version's, the database has a mark by which no process starts over it and nothing
 * migrates it, also where this one is killed. Throws an OperatorError where the backup or the database
 * does not permit it.
 */
export async function restoreBackup(asked: RestoreInput): Promise<Restored> {
  const from = resolve(asked.from);
  asked.say('Reading the backup, and comparing its checksum…');
  const manifest = await readBackup(from);
  const applicationName = `gateway restore ${randomBytes(4).toString('hex')}`;
  const orm = await openTarget(asked.url, applicationName);
  try {
    const em = orm.em.fork();
    await requireFit(em, manifest);
    const now = await laterClock(em, asked.now());
    const input = { ...asked, from, applicationName, now: () => now };
    const things = await countThings(em);
    if (things > 0 && !input.replace)
      throw new OperatorError(
        `The database is not empty: it has ${things} tables, functions and other things`,
        'Name an empty database in DATABASE_URL, or pass --replace, which puts aside what is there',
      );
    const schemas = await schemasIn(em);
    const entries = await listed({ ...input, manifest }, schemas);
    const made = new Set(entries.flatMap(schemasMadeBy));
    // Together: killed in between, a database that is whole would be refused by every process.
    const before = await em.transactional(async (inner) => ({
      extensions: await extensionsIn(inner),
      marked: await mark(inner),
      aside: things > 0 ? await setAside(inner, now) : null,
      makes: (name: string) => !schemas.includes(name) && made.has(name),
    }));
    await filled(input, { manifest, orm, before, entries });
    const migrated = await migrateRestored(orm, input.say);
    await em.transactional(async (inner) => {
      if (!canHold(manifest)) await hold(inner, input, manifest);
      await unmark(inner);
    });
    return { manifest, aside: await schemasAside(em), migrated, walletIndex: await walletIndexOf(em) };
  } finally {
    await orm.close(true);
  }
}

/** What of the dump is restored; what is left out is said. */
async function listed(
  dump: Omit<Dump, 'privileges' | 'indexes'> & Pick<RestoreInput, 'say'>,
  schemas: readonly string[],
): Promise<readonly string[]> {
  const { taken, left } = await entriesOf(dump, schemas);
  const told = left.slice(0, MOST_TOLD).map((entry) => entry.replace(/^\d+; \d+ \d+ /, '').slice(0, 100));
  const more = left.length > told.length ? ` and ${left.length - told.length} more` : '';
  if (left.length > 0) dump.say(`Left out, for it is not the gateway's: ${told.join(', ')}${more}`);
  return taken;
}

const MOST_TOLD = 5;

type Filling = {
  readonly manifest: Manifest;
  readonly orm: Orm;
  readonly before: Before;
  readonly entries: readonly string[];
};

async function filled(
  input: RestoreInput & { readonly applicationName: string },
  { manifest, orm, before, entries }: Filling,
): Promise<void> {
  const em = orm.em.fork();
  try {
    input.say('Restoring the rows…');
    await fill({ ...input, manifest, indexes: 'made between' }, entries, async () => {
      // A process that was not connected for a moment, and runs, has come back.
      await requireAlone(em);
      await requireRows(em, manifest);
      await em.transactional(async (inner) => {
        await makeIndexes(inner, manifest, input.now());
        if (canHold(manifest)) await hold(inner, input, manifest);
      });
    });
    if (!input.privileges) await closeLock(em);
  } catch (error) {
    try {
      await putBack(em, before);
      input.say('It failed, and the database is as it was before.');
    } catch (second) {
      throw new OperatorError(
        `${reasonOf(error)} And what was there before could not be put back: ${reasonOf(second)}`,
        `${before.aside === null ? '' : `It lies in the schema ${before.aside}, whole. `}When the database answers again, run "gateway restore --replace" again`,
        { cause: error },
      );
    }
    throw error;
  }
}

async function requireRows(em: Em, manifest: Manifest): Promise<void> {
  const found = await countRows(em);
  const differs = Object.entries(manifest.rows).find(([table, count]) => found[table] !== count);
  if (differs)
    throw new OperatorError(
      `The backup has ${differs[1]} rows of ${differs[0]}, and ${found[differs[0]] ?? 0} were restored`,
      'Take another backup',
    );
}

async function hold(em: Em, { actor, now, reason }: RestoreInput, manifest: Manifest): Promise<void> {
  // In a backup of an older version: its own migration finds the table there.
  await run(em, sql.raw(RESTORES));
  const order = { backupAt: new Date(manifest.made_at), reason };
  await holdAfterRestore(em, { actor, now, newId: randomUUID }, order);
}

/** The clock of this host may be behind, and what happened before the loss must not count as seen since. */
async function laterClock(em: Em, here: Date): Promise<Date> {
  const row = await firstRow(
    em,
    sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`,
  );
  return new Date(Math.max(here.getTime(), row?.ms ?? 0));
}

/** Whether the backup has decisions about payouts; one that is older is held as soon as they can be made. */
const canHold = ({ migrations }: Manifest): boolean =>
  migrations.includes(Migration20261125000058_payout_decisions.name);

/**
 * Restores a backup into a database of its own on the same server, hands its address to `look`, and drops it
 * again, whatever comes of it. Nothing else is touched, and everything may run beside it.
 */
export async function drillBackup<T>(
  input: Pick<RestoreInput, 'url' | 'from' | 'programs' | 'now' | 'say'>,
  look: (url: string, manifest: Manifest) => Promise<T>,
): Promise<T> {
  input.say('Reading the backup, and comparing its checksum…');
  const manifest = await readBackup(resolve(input.from));
  const name = `gateway_drill_${randomBytes(6).toString('hex')}`;
  const orm = await openOrm({
    url: input.url,
    poolSize: 1,
    applicationName: 'gateway drill',
    statementTimeoutMs: 0,
  });
  try {
    await createScratch(orm.em.fork(), name);
    await tellLeft(orm.em.fork(), name, input.say);
    try {
      const url = new URL(input.url);
      url.pathname = `/${name}`;
      input.say('Restoring it into a database of its own…');
      const dump = {
        ...input,
        url: url.href,
        from: resolve(input.from),
        manifest,
        applicationName: 'gateway drill',
      };
      const entries = await listed(dump, []);
      const how = { privileges: false, indexes: 'as they were' } as const;
      await fill({ ...dump, ...how }, entries, async () => undefined);
      return await look(url.href, manifest);
    } finally {
      await run(orm.em.fork(), sql`drop database if exists ${sql.ref(name)} with (force)`);
    }
  } finally {
    await orm.close(true);
  }
}

/** A drill that was killed leaves everybody's rows in a database that nobody looks at. */
async function tellLeft(em: Em, own: string, say: (line: string) => void): Promise<void> {
  const left = await rows(
    em,
    sql<{ name: string }>`select datname as name from pg_database d
      where datname ~ '^gateway_drill_[0-9a-f]{12}$' and datname <> ${own}
        and not exists (select from pg_stat_activity a where a.datid = d.oid) order by 1`,
  );
  for (const { name } of left)
    say(
      `A drill that was cut short has left ${name}, with everybody's rows. If no other one runs: "drop database ${name}"`,
    );
}

async function createScratch(em: Em, name: string): Promise<void> {
  try {
    await run(em, sql`create database ${sql.ref(name)} template template0`);
    // Everybody's rows are in it for a while.
    await run(em, sql`revoke connect on database ${sql.ref(name)} from public`);
  } catch (error) {
    throw new OperatorError(
      `No database could be made for the drill: ${reasonOf(error)}`,
      'Run it as the owner of the tables, who may make databases (deploy/postgres/roles.sh gives that right), or name another server in DATABASE_URL',
      { cause: error },
    );
  }
}
