import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { OperatorError } from '../../base/errors.ts';
import { reasonOf } from '../../base/reason.ts';
import { openOrm } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { hasTable } from '../doctor/stores.ts';
import { DUMP_FILE, hashOfFile, MANIFEST_FILE, type Manifest } from './manifest.ts';
import { type Place, runProgram } from './run-program.ts';

export type BackupOrder = Place & {
  /** The folder in which the backup gets a folder of its own. */
  readonly to: string;
  readonly by: string;
  readonly now: Date;
};

export type Backup = { readonly folder: string; readonly manifest: Manifest };

/**
 * Dumps the database while everything runs. The backup has its name only when it is complete and on the
 * disk: one that was cut short is a folder that ends in `.partial`. Throws an OperatorError where it cannot
 * be made.
 */
export async function makeBackup(order: BackupOrder): Promise<Backup> {
  const { to, by, now } = order;
  const folder = join(resolve(to), `gateway-${now.toISOString().slice(0, 19).replace(/:/g, '')}Z`);
  const partial = `${folder}.partial`;
  const { server, major, migrations } = await readFacts(order.url);
  makeFolder(to, folder, partial);
  try {
    const file = join(partial, DUMP_FILE);
    writeFileSync(file, '', { mode: 0o600 });
    await runProgram('pg_dump', ['--format=custom', '--no-comments', `--file=${file}`], order);
    const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };
    const dump = { file: DUMP_FILE, bytes: statSync(file).size, sha256: await hashOfFile(file) } as const;
    const manifest: Manifest = {
      format: 1,
      made_at: now.toISOString(),
      by,
      gateway_version: version,
      migrations,
      postgres: { server, major },
      dump,
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    writeFileSync(join(partial, MANIFEST_FILE), text, { mode: 0o600, flush: true });
    renameSync(partial, folder);
    return { folder, manifest };
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

function makeFolder(to: string, folder: string, partial: string): void {
  if (existsSync(folder))
    throw new OperatorError(`There is already a backup of this second at ${folder}`, 'Run it again');
  try {
    if (!existsSync(to)) mkdirSync(to, { mode: 0o700 });
    mkdirSync(partial, { mode: 0o700 });
  } catch (error) {
    throw new OperatorError(
      `The backup cannot be written to ${to}: ${reasonOf(error)}`,
      'Name a folder with --to that this user may write to',
      { cause: error },
    );
  }
}

async function readFacts(url: string) {
  const orm = await openOrm({ url, poolSize: 1, applicationName: 'gateway backup' });
  try {
    const em = orm.em.fork();
    const row = await firstRow(
      em,
      sql<{ server: string; major: number }>`select current_setting('server_version') as server,
        current_setting('server_version_num')::int / 10000 as major`,
    );
    if (!row || !(await hasTable(em, 'schema_migrations')))
      throw new OperatorError(
        'This database holds no gateway',
        'Check DATABASE_URL: there is nothing to back up',
      );
    const found = await rows(em, sql<{ name: string }>`select name from schema_migrations order by id`);
    return { ...row, migrations: found.map(({ name }) => name) };
  } finally {
    await orm.close(true);
  }
}
