import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FreshDatabase, tempDir } from '../../../../dev/support/parts.ts';
import { postgresPrograms } from '../../../../dev/support/postgres-programs.ts';
import { testRun } from '../../../../dev/support/test-run.ts';
import { createCustomer } from '../../../../dev/support/use-cases.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import { ask, askOne, emptyDatabases } from '../../../cli/care/databases.ts';
import { answer, type Env, gatewayProcess, type Ran } from '../../../cli/support.ts';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';
import { pay } from '../../../support/payment-shop.ts';
import { killingPrograms } from './killing.ts';

const WHO = ['--by', 'Ann', '--reason', 'the disk died'];
const ROLE = 'reads_reports';
const PASSWORD = 'pass:word\\with "all"';

type Made = { readonly folder: string; readonly rows: Record<string, number>; readonly migration: string };

describe('backup and restore, over minutes', function () {
  this.timeout(240_000);
  let api: TestApi;
  let env: Env;
  let folder: string;
  let backup: Made;
  const databases = emptyDatabases();

  const restore = (database: FreshDatabase, ...more: string[]): Promise<Ran> =>
    gatewayProcess(['restore', '--from', backup.folder, ...WHO, ...more], {
      ...env,
      DATABASE_URL: database.url,
    });
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

  it('says what else has to be kept, and never copies it', async () => {
    const ran = await gatewayProcess(['backup', '--to', await tempDir('told')], env);
    expect(ran.code, ran.stderr).to.equal(0);
    for (const word of ['SECRETS_KEY', 'seed', 'journal', 'Temporal'])
      expect(ran.stderr.replace(/\s+/g, ' ')).to.contain(word);
  });

  it('refuses while anybody is connected', async () => {
    const database = await databases.make();
    const orm = await openOrm({ url: database.url, poolSize: 1, applicationName: 'gateway worker watcher' });
    await orm.em.fork().execute('select 1');
    const ran = await restore(database);
    await orm.close(true);
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(/in use by gateway worker watcher \(1\).*Stop every/s);
  });

  it('is all or nothing: what fails on the way leaves the database as it was', async () => {
    const database = await databases.make();
    const wrong = await altered(manifest((it) => ((it['rows'] as Record<string, number>)['deposits'] = 99)));
    const ran = await gatewayProcess(['restore', '--from', wrong], { ...env, DATABASE_URL: database.url });
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(/99 rows of deposits, and 2 were restored/);
    expect(
      await askOne(
        database.url,
        "select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace",
      ),
    ).to.deep.equal({ n: 0 });
    expect((await restore(database)).code).to.equal(0);
  });

  it('that is killed on the way leaves a database over which no process starts', async () => {
    const killing = await killingPrograms(env.POSTGRES_BIN ?? '');
    const database = await databases.make();
    const call = (args: readonly string[], more: Env = {}) =>
      gatewayProcess(args, { ...env, DATABASE_URL: database.url, ...more });
    const ran = await call(['restore', '--from', backup.folder], { POSTGRES_BIN: killing });
    expect(ran.code).to.equal(null);
    expect(await askOne(database.url, 'select count(*)::int as n from deposits')).to.deep.equal({ n: 2 });
    for (const args of [['payout', 'list'], ['migrate'], ['doctor'], ['backup', '--to', folder]]) {
      const { code, stdout, stderr } = await call(args);
      const told = `${stdout} ${stderr}`.replace(/\s+/g, ' ');
      expect(code, told).to.equal(1);
      expect(told).to.match(/a restore of it was cut short.*"gateway restore --replace"/);
    }
    expect((await restore(database, '--replace')).code).to.equal(0);
    expect((await call(['payout', 'list'])).code).to.equal(0);
  });

  it('tells which role is missing, and can leave out what roles may', async () => {
    const url = env.DATABASE_URL ?? '';
    const other = await altered(() => undefined);
    await ask(url, `drop owned by ${ROLE}`);
    for (const { url: restored } of databases.made)
      await ask(restored, `drop owned by ${ROLE}`).catch(() => undefined);
    await ask(url, `drop role ${ROLE}`);
    const database = await databases.make();
    const call = (...more: string[]) =>
      gatewayProcess(['restore', '--from', other, ...more], { ...env, DATABASE_URL: database.url });
    const ran = await call();
    expect(ran.code).to.equal(1);
    expect(ran.stderr.replace(/\s+/g, ' ')).to.match(/role "reads_reports" does not exist.*--no-privileges/);
    const without = await call('--no-privileges');
    expect(without.code, without.stderr).to.equal(0);
    const mayLock = `select has_function_privilege('public', 'lock_for_signing(uuid)', 'execute') as may`;
    expect(await askOne(database.url, mayLock), 'nor may everybody hold payouts').to.deep.equal({
      may: false,
    });
  });

  it('drills: restores into a database of its own, checks the books, and drops it', async () => {
    const before = await askOne(env.DATABASE_URL ?? '', 'select count(*)::int as n from pg_database');
    await ask(env.DATABASE_URL ?? '', 'create database gateway_drill_0123456789ab');
    // Beside a gateway that runs: the database of the address is only asked to make another one.
    const ran = await gatewayProcess(['restore', '--drill', '--from', backup.folder], env);
    const [, toDrop = ''] = /one runs: "([^"]*)"/.exec(ran.stderr.replace(/\s+/g, ' ')) ?? [];
    expect(toDrop, 'one that was killed is named').to.equal('drop database gateway_drill_0123456789ab');
    await ask(env.DATABASE_URL ?? '', toDrop);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(ran.stdout).to.match(/The books agree: 2 deposits/);
    expect(ran.stderr).to.contain('The drill changed nothing');
    expect(await askOne(env.DATABASE_URL ?? '', 'select count(*)::int as n from pg_database')).to.deep.equal(
      before,
    );
  });
});
