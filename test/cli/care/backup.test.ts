import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FreshDatabase, tempDir } from '../../../dev/support/parts.ts';
import { postgresPrograms } from '../../../dev/support/postgres-programs.ts';
import { testRun } from '../../../dev/support/test-run.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { pay } from '../../support/payment-shop.ts';
import { answer, type Env, gateway, oneObject, type Ran } from '../support.ts';
import { ask, askOne, emptyDatabases } from './databases.ts';

const WHO = ['--by', 'Ann', '--reason', 'the disk died'];
const ROLE = 'reads_reports';
const PASSWORD = 'pass:word\\with "all"';

type Made = { readonly folder: string; readonly rows: Record<string, number>; readonly migration: string };

describe('backup and restore', function () {
  this.timeout(240_000);
  let api: TestApi;
  let env: Env;
  let folder: string;
  let backup: Made;
  const databases = emptyDatabases();

  const restore = (database: FreshDatabase, ...more: string[]): Promise<Ran> =>
    gateway(['restore', '--from', backup.folder, ...WHO, ...more], { ...env, DATABASE_URL: database.url });
  /** The backup with something about it changed. */
  const altered = async (change: (folder: string) => void): Promise<string> => {
    const copy = await tempDir('altered');
    for (const name of readdirSync(backup.folder)) copyFileSync(join(backup.folder, name), join(copy, name));
    change(copy);
    return copy;
  };
  const manifest = (change: (manifest: Record<string, unknown>) => void) => (copy: string) => {
    const file = join(copy, 'manifest.json');
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    change(parsed);
    writeFileSync(file, JSON.stringify(parsed));
  };

  before(async () => {
    const programs = await testRun.unlimited(async () => postgresPrograms(console.error, process.env));
    api = await startTestApi();
    const { deps, merchant } = api;
    const { id: customer } = await createCustomer(deps, {
      merchantId: merchant.id,
      mode: 'live',
      externalId: 'user-1',
      email: 'a@b.example',
      name: 'Ann',
      metadata: {},
    });
    await pay(deps, customer, { coins: '7' });
    await pay(deps, customer, { coins: '8', state: 'detected' });
    const url = deps.orm.config.get('clientUrl') ?? '';
    // A role of the installation, with what it may.
    await ask(url, `create role ${ROLE} login password '${PASSWORD.replace(/'/g, "''")}'`);
    await ask(url, `grant select on merchants to ${ROLE}`);
    env = { DATABASE_URL: url, POSTGRES_BIN: programs, LOG_LEVEL: 'error' };
    folder = await tempDir('backups');
    backup = await answer<Made>(['backup', '--to', folder, '--by', 'Ann'], env);
  });
  after(async () => {
    await ask(env.DATABASE_URL ?? '', `drop owned by ${ROLE}`).catch(() => undefined);
    await api?.stop();
    await databases.drop();
  });

  it('is a folder that its owner alone reads, with counts, version, time and checksum', () => {
    expect(statSync(backup.folder).mode & 0o777).to.equal(0o700);
    expect(readdirSync(backup.folder).sort()).to.deep.equal(['database.dump', 'manifest.json']);
    for (const name of readdirSync(backup.folder))
      expect(statSync(join(backup.folder, name)).mode & 0o777, name).to.equal(0o600);
    expect(backup.rows).to.include({ merchants: 1, customers: 1, deposits: 2 });
    expect(backup.migration).to.match(/^Migration2026/);
  });

  it('gives the password to nobody who looks at processes', async () => {
    const wrapped = await tempDir('wrapped');
    const seen = join(wrapped, 'seen');
    for (const name of ['pg_dump', 'pg_restore']) {
      writeFileSync(
        join(wrapped, name),
        `#!/bin/sh\nprintf '%s\\n' "$@" >> ${seen}\nenv >> ${seen}\nexec ${env.POSTGRES_BIN}/${name} "$@"\n`,
      );
      chmodSync(join(wrapped, name), 0o755);
    }
    const { password } = new URL(env.DATABASE_URL ?? '');
    await answer(['backup', '--to', await tempDir('to')], { ...env, POSTGRES_BIN: wrapped });
    expect(readFileSync(seen, 'utf8')).to.contain('PGPASSFILE=').and.not.to.contain(password);
    const file = /PGPASSFILE=(.*)/.exec(readFileSync(seen, 'utf8'))?.[1] ?? '';
    expect(existsSync(file), 'the password file is left behind').to.equal(false);
  });

  it('needs programs as new as the server, and says which', async () => {
    const old = await tempDir('old');
    writeFileSync(join(old, 'pg_dump'), '#!/bin/sh\necho "pg_dump (PostgreSQL) 15.1"\n');
    chmodSync(join(old, 'pg_dump'), 0o755);
    const to = await tempDir('to');
    const ran = await gateway(['backup', '--to', to], { ...env, POSTGRES_BIN: old });
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(
      /pg_dump is of PostgreSQL 15\.1 and cannot be used with PostgreSQL 18.*postgresql-client-18/s,
    );
    expect(readdirSync(to)).to.deep.equal([]);
    const none = await gateway(['backup', '--to', to], { ...env, POSTGRES_BIN: to });
    expect(none.stderr).to.match(/There is no pg_dump in .*POSTGRES_BIN/s);
  });

  it('restores into an empty database: rows, rights, indexes ahead, payouts held, books that agree', async () => {
    const database = await databases.make();
    const ran = await restore(database, '--json');
    expect(ran.code, ran.stderr).to.equal(0);
    const told = oneObject<Record<string, unknown>>(ran.stdout);
    expect(told).to.deep.include({ ok: true, set_aside: [], payouts_held: true, rows: backup.rows });
    expect((told['books'] as Record<string, unknown>)['ok']).to.equal(true);
    const { next, highest } = told['wallet_index'] as { next: number; highest: number };
    expect(highest).to.equal(1);
    expect(next, 'more than a key can take in a day').to.be.greaterThan(8_640_000);
    expect(await askOne(database.url, 'select kind, by_name from payout_decisions')).to.deep.equal({
      kind: 'pause',
      by_name: 'Ann',
    });
    const grants = await askOne(
      database.url,
      `select has_table_privilege('${ROLE}', 'merchants', 'select') as may`,
    );
    expect(grants['may']).to.equal(true);
    const refused = await ask(database.url, 'update ledger_entries set amount_units = 0').catch(
      (error: Error) => error.message,
    );
    expect(String(refused)).to.match(/append-only|refused|never/i);
    const again = await gateway(['payout', 'resume'], { ...env, DATABASE_URL: database.url });
    expect([again.code, again.stderr]).to.deep.equal([1, again.stderr]);
    expect(again.stderr).to.match(/Payouts are held since the restore .* the signer has not taken/s);
    const doctor = await gateway(['doctor', '--json'], { ...env, DATABASE_URL: database.url });
    const checks = oneObject<{ checks: { name: string; ok: boolean; detail: string }[] }>(
      doctor.stdout,
    ).checks;
    expect(checks.find(({ name }) => name === 'restore')).to.deep.include({ ok: false });
  });

  it('refuses a database that is not empty, and puts aside what is there only when it is told to', async () => {
    const database = await databases.make();
    await ask(database.url, 'create table kept (what text)');
    await ask(database.url, 'create sequence wallet_index_seq start 40000000');
    await ask(database.url, 'create materialized view counted as select count(*) from kept');
    await ask(database.url, "create function mine() returns int language sql as 'select 1'");
    const ran = await restore(database);
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(/not empty: it has 4 .*--replace/s);
    const replaced = await restore(database, '--replace', '--json');
    expect(replaced.code, replaced.stderr).to.equal(0);
    const { set_aside: asides, wallet_index: index } = oneObject<{
      set_aside: string[];
      wallet_index: { next: number };
    }>(replaced.stdout);
    expect(index.next, 'what was given away before').to.be.greaterThan(40_000_000);
    const [aside = '', ...others] = asides;
    expect(others).to.deep.equal([]);
    expect(aside).to.match(/^before_restore_\d{14}$/);
    expect(await ask(database.url, `select * from ${aside}.kept`)).to.deep.equal([]);
    expect(await askOne(database.url, 'select count(*)::int as n from deposits')).to.deep.equal({ n: 2 });
    const once = await restore(database, '--replace');
    expect(once.code, once.stderr).to.equal(0);
    expect(await askOne(database.url, "select show_trgm('a') is not null as there")).to.deep.equal({
      there: true,
    });
  });

  it('refuses a newer schema, a damaged dump, and a folder that is none; nothing is changed', async () => {
    const database = await databases.make();
    const from = (path: string) =>
      gateway(['restore', '--from', path], { ...env, DATABASE_URL: database.url });
    const newer = await altered(
      manifest((it) => (it['migrations'] as string[]).push('Migration20990101000000_later')),
    );
    const damaged = await altered((copy) => {
      const bytes = readFileSync(join(copy, 'database.dump'));
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(join(copy, 'database.dump'), bytes);
    });
    const partial = await altered((copy) => writeFileSync(join(copy, 'manifest.json'), '{"format":1'));
    for (const [path, words] of [
      [newer, /newer gateway: it has the migration Migration2099/],
      [damaged, /its checksum differs/],
      [partial, /not what a backup/],
      [await tempDir('nothing'), /is no backup of this gateway/],
    ] as const) {
      const ran = await from(path);
      expect([ran.code, ran.stdout], ran.stderr).to.deep.equal([1, '']);
      expect(ran.stderr).to.match(words);
    }
    expect(
      await askOne(
        database.url,
        "select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace",
      ),
    ).to.deep.equal({ n: 0 });
  });
});
