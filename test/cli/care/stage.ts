// What tests of backups and restores stand on.
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FreshDatabase, freshDatabase, tempDir } from '../../../dev/support/parts.ts';
import { postgresPrograms } from '../../../dev/support/postgres-programs.ts';
import { testRun } from '../../../dev/support/test-run.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';
import { answer, type Env, type gateway, type Ran } from '../support.ts';

type Row = Record<string, unknown>;
type Made = { readonly folder: string; readonly migration: string };
type Place = Pick<FreshDatabase, 'url'>;
export type Care = Awaited<ReturnType<typeof startCare>>;

export const ROLE = 'reads_reports';
const PASSWORD = 'pass:word\\with "all"';
export const TABLES = "select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace";

/** The rows that a statement gives in a database; nothing stays connected to it. */
export async function ask(url: string, sql: string): Promise<Row[]> {
  const orm = await openOrm({ url, poolSize: 1, applicationName: 'look' });
  return await orm.em
    .fork()
    .execute<Row[]>(sql)
    .finally(() => orm.close(true));
}

/** The first of them. */
export const askOne = async (url: string, sql: string): Promise<Row> => (await ask(url, sql))[0] ?? {};

/** Databases that backups are restored into; `drop` ends all of them. */
export function emptyDatabases() {
  const made: FreshDatabase[] = [];
  return {
    made: made as readonly FreshDatabase[],
    make: async (): Promise<FreshDatabase> => {
      const database = await freshDatabase();
      made.push(database);
      return database;
    },
    drop: async (): Promise<void> => {
      for (const database of made) await database.drop();
    },
  };
}

/** Where PostgreSQL's own programs are. */
export const findPrograms = () => testRun.unlimited(async () => postgresPrograms(console.error, process.env));

/** Programs for `POSTGRES_BIN` that do what `script` says before the real ones, or in their place. */
export async function programsThat(programs: string, script: string): Promise<string> {
  const folder = await tempDir('programs');
  for (const name of ['pg_dump', 'pg_restore']) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\nexec ${programs}/${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Programs that restore all rows, and then kill the process that runs them: never that of the tests. */
export const killingPrograms = (programs: string) =>
  programsThat(
    programs,
    `case "$0" in *pg_restore) ${programs}/pg_restore "$@"; kill -9 $PPID; exit 1;; esac`,
  );

/** One customer with a deposit that is paid and one that is not, and a role of the installation. */
async function fillOne({ deps, merchant }: TestApi): Promise<void> {
  const names = { externalId: 'user-1', email: 'a@b.example', name: 'Ann', metadata: {} };
  const { id } = await createCustomer(deps, { merchantId: merchant.id, mode: 'live', ...names });
  await pay(deps, id, { coins: '7' });
  await pay(deps, id, { coins: '8', state: 'detected' });
  const url = deps.orm.config.get('clientUrl') ?? '';
  await ask(url, `create role ${ROLE} login password '${PASSWORD.replace(/'/g, "''")}'`);
  await ask(url, `grant select on merchants to ${ROLE}`);
}

/** A gateway that is filled and backed up, with empty databases beside it; `run` runs the commands. */
export async function startCare(run: typeof gateway, fill: (api: TestApi) => Promise<unknown> = fillOne) {
  const programs = await findPrograms();
  const api = await startTestApi();
  await fill(api);
  const url = api.deps.orm.config.get('clientUrl') ?? '';
  const env: Env = { DATABASE_URL: url, POSTGRES_BIN: programs, LOG_LEVEL: 'error' };
  const backup = await answer<Made>(['backup', '--to', await tempDir('backups'), '--by', 'Ann'], env);
  const databases = emptyDatabases();
  const call = (place: Place, args: readonly string[], more: Env = {}): Promise<Ran> =>
    run(args, { ...env, DATABASE_URL: place.url, ...more });
  return {
    api,
    url,
    programs,
    env,
    backup,
    databases,
    call,
    /** Restores the backup, or what lies in another folder, with these options. */
    restore: (place: Place, options: readonly string[] = [], { from = backup.folder, ...more }: Env = {}) =>
      call(place, ['restore', '--from', from, '--by', 'Ann', '--reason', 'the disk died', ...options], more),
    /** The backup with something about it changed. */
    altered: async (change: (folder: string) => void): Promise<string> => {
      const copy = await tempDir('altered');
      for (const name of readdirSync(backup.folder))
        copyFileSync(join(backup.folder, name), join(copy, name));
      change(copy);
      return copy;
    },
    stop: async () => {
      await ask(url, `drop owned by ${ROLE}`).catch(() => undefined);
      await api.stop();
      await databases.drop();
    },
  };
}

/** What changes the manifest of a backup. */
export const manifest = (change: (manifest: Row) => void) => (folder: string) => {
  const file = join(folder, 'manifest.json');
  const parsed = JSON.parse(readFileSync(file, 'utf8')) as Row;
  change(parsed);
  writeFileSync(file, JSON.stringify(parsed));
};

/** What a command said, as one line. */
export const told = ({ stdout, stderr }: Ran) => `${stdout} ${stderr}`.replace(/\s+/g, ' ');
