import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { IsolationLevel } from '@mikro-orm/core';
import { isInRestore, UNFINISHED_RESTORE } from '../../app/migrate.ts';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Em, openOrm } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { hasTable } from '../doctor/tables.ts';
import { DUMP_FILE, hashOfFile, MANIFEST_FILE, type Manifest } from './manifest.ts';
import { findProgram, type Program } from './programs.ts';
import { runProgram } from './run-program.ts';

/** The tables whose rows are counted: those by which a person knows the backup again. */
const COUNTED = [
  'merchants',
  'customers',
  'deposits',
  'payment_links',
  'payouts',
  'sent_transactions',
  'ledger_transactions',
  'ledger_entries',
  'events',
  'webhook_deliveries',
  'operator_actions',
] as const;
/** Where a restore puts what was in the database before. */
export const SET_ASIDE = 'before_restore_';
/** By it the connections of a backup are known. */
const NAME = 'gateway backup';
const AGAIN = 'See what it says, and run the backup again; nothing was left behind';

export type BackupOrder = {
  readonly url: string;
  /** The folder in which the backup gets a folder of its own. */
  readonly to: string;
  readonly by: string;
  readonly programs: { readonly folder: string | undefined; readonly env: NodeJS.ProcessEnv };
  readonly now: Date;
};

export type Backup = { readonly folder: string; readonly manifest: Manifest };

/**
 * Dumps the database while everything runs, and counts its rows in the very snapshot of the dump. The backup
 * has its name only when it is complete, on the disk and readable: one that was cut short is a folder that
 * ends in `.partial`. Throws an OperatorError where it cannot be made.
 */
export async function makeBackup(order: BackupOrder): Promise<Backup> {
  const target = join(resolve(order.to), nameOf(order.now));
  const partial = `${target}.partial`;
  const orm = await openOrm({
    url: order.url,
    poolSize: 1,
    applicationName: NAME,
    // The snapshot is held for as long as the dump takes.
    statementTimeoutMs: 0,
  });
  try {
    makeFolder(order.to, target, partial);
    const manifest = await orm.em.fork().transactional((em) => dumpWithin(em, order, partial), {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
    writeFileSync(join(partial, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    for (const file of [DUMP_FILE, MANIFEST_FILE, '.']) flush(join(partial, file));
    renameSync(partial, target);
    flush(resolve(order.to));
    return { folder: target, manifest };
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  } finally {
    await orm.close(true);
  }
}

function nameOf(now: Date): string {
  return `gateway-${now.toISOString().slice(0, 19).replace(/:/g, '')}Z`;
}

function makeFolder(to: string, target: string, partial: string): void {
  if (existsSync(target))
    throw new OperatorError(`There is already a backup of this second at ${target}`, 'Run it again');
  try {
    makeFolders(resolve(to));
    mkdirSync(partial, { mode: 0o700 });
  } catch (error) {
    throw new OperatorError(
      `The backup cannot be written to ${to}: ${reasonOf(error)}`,
      'Name a folder with --to that this user may write to',
      { cause: error },
    );
  }
}

/** Node's own way with parents never ends where a file system makes none below one that is there (/proc). */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

async function dumpWithin(em: Em, order: BackupOrder, folder: string): Promise<Manifest> {
  const facts = await readFacts(em);
  const program = await findProgram('pg_dump', facts.major, order.programs);
  const file = join(folder, DUMP_FILE);
  const args = ['--format=custom', '--no-comments', `--exclude-schema=${SET_ASIDE}*`];
  writeFileSync(file, '', { mode: 0o600 });
  await runProgram(program, [...args, `--snapshot=${facts.snapshot}`, `--file=${file}`], {
    url: order.url,
    nextAction: AGAIN,
    applicationName: NAME,
  });
  chmodSync(file, 0o600);
  await proveReadable(program, order, file);
  return await manifestOf(em, order, { ...facts, program, file });
}

/** A dump whose end is missing has no list of what is in it. */
async function proveReadable(
  { major }: Program,
  { url, programs }: BackupOrder,
  file: string,
): Promise<void> {
  const restore = await findProgram('pg_restore', major, programs);
  await runProgram(restore, ['--list', file], { url, nextAction: AGAIN, applicationName: NAME });
}

async function readFacts(em: Em) {
  const row = await firstRow(
    em,
    sql<{ snapshot: string; server: string; major: number }>`select pg_export_snapshot() as snapshot,
      current_setting('server_version') as server,
      current_setting('server_version_num')::int / 10000 as major`,
  );
  if (await isInRestore(em)) throw new OperatorError(...UNFINISHED_RESTORE);
  if (!row || !(await hasTable(em, 'schema_migrations')))
    throw new OperatorError(
      'This database holds no gateway',
      'Check DATABASE_URL: there is nothing to back up',
    );
  await requireNothingOver(em);
  const found = await rows(em, sql<{ name: string }>`select name from schema_migrations order by id`);
  return { ...row, migrations: found.map(({ name }) => name) };
}

/** What is over things that are left out cannot be made again, and the whole restore would fail with it. */
async function requireNothingOver(em: Em): Promise<void> {
  const over = await firstRow(
    em,
    sql<{ name: string; aside: string }>`
      with place as (
        select d.classid, d.objid, n.nspname from pg_depend d join pg_namespace n on n.oid = d.refobjid
          where d.refclassid = 'pg_namespace'::regclass and starts_with(n.nspname, ${SET_ASIDE})
        union select 'pg_type'::regclass, t.oid, n.nspname from pg_type t
          join pg_namespace n on n.oid = t.typnamespace where starts_with(n.nspname, ${SET_ASIDE}))
      select thing.identity as name, place.nspname as aside
      from place join pg_depend d on d.refclassid = place.classid and d.refobjid = place.objid
        left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
        left join pg_constraint k on d.classid = 'pg_constraint'::regclass and k.oid = d.objid
        left join pg_attrdef a on d.classid = 'pg_attrdef'::regclass and a.oid = d.objid
        left join pg_trigger g on d.classid = 'pg_trigger'::regclass and g.oid = d.objid
        left join pg_policy p on d.classid = 'pg_policy'::regclass and p.oid = d.objid
        -- What is a part of a table is told by the table.
        cross join lateral (
          select coalesce(r.ev_class, nullif(k.conrelid, 0), a.adrelid, g.tgrelid, p.polrelid) as id) part
        cross join lateral pg_identify_object(
          case when part.id is null then d.classid else 'pg_class'::regclass end,
          coalesce(part.id, d.objid), 0) thing
      where not starts_with(ltrim(thing.schema, '"'), ${SET_ASIDE})
        -- What a session has for itself, or a table for its long values, is in no dump by itself.
        and not starts_with(thing.schema, 'pg_') order by 1 limit 1`,
  );
  if (over)
    throw new OperatorError(
      `${over.name} is over what a restore has put aside, in ${over.aside}: no backup that has it could be restored`,
      'Make it anew over those of the schema "public", or drop it; then run the backup again',
    );
}

type Dumped = Awaited<ReturnType<typeof readFacts>> & { readonly program: Program; readonly file: string };

async function manifestOf(em: Em, { now, by }: BackupOrder, dumped: Dumped): Promise<Manifest> {
  const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };
  return {
    format: 1,
    made_at: now.toISOString(),
    by,
    gateway_version: version,
    migrations: dumped.migrations,
    postgres: {
      server: dumped.server,
      major: dumped.major,
      pg_dump: dumped.program.version,
      pg_dump_major: dumped.program.major,
    },
    dump: {
      file: DUMP_FILE,
      bytes: statSync(dumped.file).size,
      sha256: await hashOfFile(dumped.file),
    },
    rows: await countRows(em),
    wallet_index: await walletIndex(em),
    chains: await chainsOf(em),
    signer: await signerOf(em),
  };
}

/** How many rows there are of what a person asks for first. A table that this schema lacks is left out. */
export async function countRows(em: Em): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of COUNTED) {
    if (!(await hasTable(em, table))) continue;
    const row = await firstRow(em, sql<{ n: string }>`select count(*)::text as n from ${sql.table(table)}`);
    counts[table] = Number(row?.n ?? 0);
  }
  return counts;
}

async function walletIndex(em: Em): Promise<Manifest['wallet_index']> {
  const row = await firstRow(
    em,
    sql<{ next: number; highest: number; mostInADay: number }>`
      select (s.last_value + s.is_called::int)::int as next,
        (select coalesce(max(wallet_index), 0) from customers)::int as highest,
        (select coalesce(max(n), 0) from (select count(*)::int as n from customers
          group by created_at::date) d)::int as most_in_a_day
      from wallet_index_seq s`,
  );
  return { next: row?.next ?? 1, highest: row?.highest ?? 0, most_in_a_day: row?.mostInADay ?? 0 };
}

async function chainsOf(em: Em): Promise<Manifest['chains']> {
  const found = await rows(
    em,
    sql<{ network: string; scanned: number; verified: number }>`select network,
      scanned_number::int as scanned, verified_number::int as verified from chain_cursors`,
  );
  return Object.fromEntries(found.map(({ network, ...heights }) => [network, heights]));
}

async function signerOf(em: Em): Promise<Manifest['signer']> {
  if (!(await hasTable(em, 'signer_state'))) return null;
  const row = await firstRow(
    em,
    sql<{ journal: string; line: number }>`select journal::text, line from signer_state
      where journal is not null and line is not null`,
  );
  return row ?? null;
}

function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
