import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Migration20261125000058_payout_decisions } from '../../../migrations/Migration20261125000058_payout_decisions.ts';
import { RESTORES } from '../../../migrations/Migration20261126000070_restores.ts';
import { migrate } from '../../app/migrate.ts';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Em, type Orm, openOrm } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Actor } from '../../domain/actor.ts';
import { holdAfterRestore } from '../../services/restores/hold.ts';
import { countRows } from './backup.ts';
import { DUMP_FILE, type Manifest, readBackup } from './manifest.ts';
import { findProgram } from './programs.ts';
import { runProgram } from './run-program.ts';
import { countTables, openTarget, putBack, requireFit, setAside } from './target.ts';

/** The entry of a dump's list that holds the rows of this table. */
const MARKER_DATA = /^\d+; \d+ \d+ TABLE DATA public schema_migrations /;
const AGAIN =
  'The database is as it was before. A role that is missing is made as deploy/postgres/databases.sh does it, or leave out what roles may with --no-privileges';
/**
 * An address that was given away since the backup is never given to somebody else: one key at the rate that
 * is usual makes 8.6 million customers a day. A wallet has 2,147 million addresses.
 */
const LEAST_GAP = 10_000_000;
const MOST_GAP = 100_000_000;
const DAY_MS = 24 * 60 * 60_000;

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
  /** Where what was there before lies; null where nothing was. */
  readonly aside: string | null;
  readonly migrated: readonly string[];
  readonly walletIndex: { readonly highest: number; readonly next: number };
};

/**
 * Restores a backup into the database, all of it or nothing. Until wallet indexes are ahead and payouts are
 * held, the database says that its schema is not there, so that no process can be started over it too early,
 * also where this one is killed. Throws an OperatorError where the backup or the database does not permit it.
 */
export async function restoreBackup(input: RestoreInput): Promise<Restored> {
  const from = resolve(input.from);
  input.say('Reading the backup, and comparing its checksum…');
  const manifest = await readBackup(from);
  const orm = await openTarget(input.url);
  try {
    const em = orm.em.fork();
    await requireFit(em, manifest);
    const tables = await countTables(em);
    if (tables > 0 && !input.replace)
      throw new OperatorError(
        `The database is not empty: it has ${tables} tables and sequences`,
        'Name an empty database in DATABASE_URL, or pass --replace, which puts aside what is there',
      );
    const aside = tables > 0 ? await setAside(em, input.now()) : null;
    await filled(input, { manifest, from, orm, aside });
    const migrated = await migrate(orm, input.say);
    if (!canHold(manifest)) await hold(orm, input, manifest);
    return { manifest, aside, migrated, walletIndex: await walletIndexOf(em) };
  } finally {
    await orm.close(true);
  }
}

type Filling = {
  readonly manifest: Manifest;
  readonly from: string;
  readonly orm: Orm;
  readonly aside: string | null;
};

async function filled(input: RestoreInput, { manifest, from, orm, aside }: Filling): Promise<void> {
  const em = orm.em.fork();
  try {
    input.say('Restoring the rows…');
    await fill(input, from, manifest, async () => {
      await em.transactional(async (inner) => {
        await skipIndexes(inner, manifest, { aside, now: input.now() });
        if (!canHold(manifest)) return;
        // A backup of an older version: its own migration finds the table there.
        await run(inner, sql.raw(RESTORES));
        await hold(orm, input, manifest, inner);
      });
    });
    const found = await countRows(em);
    // The restore itself is one action more.
    const differs = Object.entries(manifest.rows).find(
      ([table, count]) => table !== 'operator_actions' && found[table] !== count,
    );
    if (differs)
      throw new OperatorError(
        `The backup has ${differs[1]} rows of ${differs[0]}, and ${found[differs[0]]} were restored`,
        'Take another backup',
      );
  } catch (error) {
    await putBack(em, aside);
    throw error;
  }
}

/** Everything but the marker that says that the schema is there; then `between`; then the marker. */
async function fill(
  input: Pick<RestoreInput, 'url' | 'programs' | 'privileges'>,
  from: string,
  manifest: Manifest,
  between: () => Promise<void>,
): Promise<void> {
  const program = await findProgram('pg_restore', manifest.postgres.pg_dump_major, input.programs);
  const file = join(from, DUMP_FILE);
  const call = { url: input.url, nextAction: AGAIN };
  const list = (await runProgram(program, ['--list', file], call)).split('\n');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-restore-'));
  const pass = async (name: string, lines: readonly string[]): Promise<void> => {
    const listFile = join(folder, name);
    writeFileSync(listFile, `${lines.join('\n')}\n`, { mode: 0o600 });
    const { pathname } = new URL(input.url);
    const args = [
      `--dbname=${decodeURIComponent(pathname.slice(1))}`,
      `--use-list=${listFile}`,
      '--single-transaction',
      '--exit-on-error',
      '--no-owner',
      ...(input.privileges ? [] : ['--no-privileges']),
    ];
    await runProgram(program, [...args, file], call);
  };
  try {
    await pass(
      'rows',
      list.filter((line) => !MARKER_DATA.test(line)),
    );
    await between();
    await pass(
      'marker',
      list.filter((line) => MARKER_DATA.test(line)),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Draws from the sequence until no address that was given away after the backup can be given again: ten
 * times as many as the busiest day would have taken in the meantime, and ten million at least, above what the
 * backup knows and what the database knew that was put aside.
 */
async function skipIndexes(
  em: Em,
  { wallet_index: known, made_at: at }: Manifest,
  { aside, now }: { readonly aside: string | null; readonly now: Date },
): Promise<void> {
  const days = Math.max(1, Math.ceil((now.getTime() - new Date(at).getTime()) / DAY_MS));
  const gap = Math.min(MOST_GAP, Math.max(LEAST_GAP, 10 * days * known.most_in_a_day));
  const before = aside === null ? 0 : await drawnIn(em, aside);
  const wanted = Math.max(known.next, known.highest + 1, before) + gap;
  await run(
    em,
    sql`select max(nextval('wallet_index_seq')) from wallet_index_seq s,
      generate_series(1, greatest(0, ${wanted}::bigint - (s.last_value + s.is_called::int)))`,
  );
}

/** How many indexes were drawn in a schema; 0 where it has no such sequence. */
async function drawnIn(em: Em, schema: string): Promise<number> {
  const there = await firstRow(
    em,
    sql<{
      is: boolean;
    }>`select to_regclass(quote_ident(${schema}::text) || '.wallet_index_seq') is not null as is`,
  );
  if (!there?.is) return 0;
  const row = await firstRow(
    em,
    sql<{ drawn: number }>`select last_value::int as drawn from ${sql.ref(schema)}.wallet_index_seq`,
  );
  return row?.drawn ?? 0;
}

async function hold(
  orm: Orm,
  { actor, now, reason }: RestoreInput,
  manifest: Manifest,
  em?: Em,
): Promise<void> {
  const deps = { actor, now, newId: randomUUID };
  const order = { backupAt: new Date(manifest.made_at), reason };
  if (em) await holdAfterRestore(em, deps, order);
  else await orm.em.fork().transactional((inner) => holdAfterRestore(inner, deps, order));
}

/** Whether the backup has the decisions about payouts, so that they are held before anything can start. */
const canHold = ({ migrations }: Manifest): boolean =>
  migrations.includes(Migration20261125000058_payout_decisions.name);

async function walletIndexOf(em: Em): Promise<Restored['walletIndex']> {
  const row = await firstRow(
    em,
    sql<Restored['walletIndex']>`select (s.last_value + s.is_called::int)::int as next,
      (select coalesce(max(wallet_index), 0) from customers)::int as highest from wallet_index_seq s`,
  );
  return row ?? { highest: 0, next: 1 };
}

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
    try {
      const url = new URL(input.url);
      url.pathname = `/${name}`;
      input.say('Restoring it into a database of its own…');
      await fill(
        { ...input, url: url.href, privileges: false },
        resolve(input.from),
        manifest,
        async () => undefined,
      );
      return await look(url.href, manifest);
    } finally {
      await run(orm.em.fork(), sql`drop database if exists ${sql.ref(name)} with (force)`);
    }
  } finally {
    await orm.close(true);
  }
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
