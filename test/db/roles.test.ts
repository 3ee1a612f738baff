import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ownPostgres, tempDir } from '../../dev/support/parts.ts';
import { postgresPrograms } from '../../dev/support/postgres-programs.ts';
import { testRun } from '../../dev/support/test-run.ts';
import { migrate, requireCurrentSchema } from '../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { listActions } from '../../src/services/audit/list.ts';
import { auditLedger } from '../../src/services/ledger/audit.ts';
import { makeMonthsAhead } from '../../src/services/months/make.ts';
import { answer, gateway } from '../cli/support.ts';
import { call, startTestApi, type TestApi, testDeps } from '../support/gateway.ts';
import { rightsOf } from './rights.ts';

const SCRIPT = join(import.meta.dirname, '../../deploy/postgres/databases.sh');
const ROLES = join(import.meta.dirname, '../../deploy/postgres/roles.sh');
const PASSWORD = 'test';

/**
 * The statements of the script under other names: the embedded
 * server's superuser is called like the service's role.
 */
function statementsOf(script: string): { readonly database: string; readonly sql: string }[] {
  const text = script.slice(script.indexOf("<<'SQL'") + 7, script.lastIndexOf('SQL'));
  let database = 'postgres';
  const found: { database: string; sql: string }[] = [];
  const clean = text
    .replace(/^--.*$/gm, '')
    .replace(/:'(\w+)'/g, `'${PASSWORD}'`)
    .replace(/gateway/g, 'gw');
  for (const line of clean
    .split('\n')
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    if (line.startsWith('\\connect')) database = line.split(' ')[1] ?? '';
    else found.push({ database, sql: line.replace(/;$/, '') });
  }
  return found;
}

describe('the roles of the database, as they are shipped', function () {
  this.timeout(120_000);
  let server: Awaited<ReturnType<typeof ownPostgres>>;
  let api: TestApi;
  const opened: Orm[] = [];

  const open = async (url: string) => {
    const orm = await openOrm({ url, poolSize: 3, applicationName: 'roles' });
    opened.push(orm);
    return orm;
  };
  const urlOf = (user: string) => {
    const url = new URL(server.now.url);
    Object.assign(url, { username: user, password: PASSWORD, pathname: '/gw' });
    return url.href;
  };
  const refusal = (orm: Orm, sql: string): Promise<string> =>
    orm.em
      .fork()
      .execute(sql)
      .then(
        () => 'was done',
        (error: Error) => error.message,
      );
  let owner: Orm;
  let service: Orm;
  let reader: Orm;
  let programs: string;
  /** The script that an operator runs, with these passwords. */
  const runRoles = async (password = PASSWORD): Promise<{ code: number | null; stderr: string }> => {
    const at = new URL(server.now.url);
    const names = ['GATEWAY_OWNER', 'GATEWAY_READER', 'GATEWAY_SIGNER', 'GATEWAY', 'TEMPORAL'];
    const script = readFileSync(ROLES, 'utf8')
      .replace(/gateway/g, 'gw')
      .replace('-U postgres', `-U ${at.username}`);
    const child = spawn('bash', ['--norc', '-c', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: `${programs}:${process.env['PATH']}`,
        PGHOST: at.hostname,
        PGPORT: at.port,
        PGPASSWORD: decodeURIComponent(at.password),
        ...Object.fromEntries(names.map((name) => [`${name}_DB_PASSWORD`, password])),
      },
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  };
  before(async () => {
    programs = await testRun.unlimited(async () => postgresPrograms(console.error, process.env));
    server = await ownPostgres();
    for (const { database, sql } of statementsOf(readFileSync(SCRIPT, 'utf8'))) {
      const url = new URL(server.now.url);
      url.pathname = `/${database}`;
      const orm = await openOrm({ url: url.href, poolSize: 1, applicationName: 'superuser' });
      await orm.em.fork().execute(sql);
      await orm.close(true);
    }
    owner = await open(urlOf('gw_owner'));
    await migrate(owner);
    [service, reader] = [await open(urlOf('gw')), await open(urlOf('gw_reader'))];
    api = await startTestApi({ databaseUrl: urlOf('gw') });
  });
  after(async () => {
    await api?.stop();
    for (const orm of opened) await orm.close(true);
    await server?.stop();
  });

  it('let the service do its work with rows alone', async () => {
    await requireCurrentSchema(service);
    const made = await call(`${api.url}/customers`, {
      key: api.keys.test,
      body: { external_id: 'a', email: 'a@b.example' },
    });
    expect(made.status, made.text).to.equal(201);
    const endpoint = await call(`${api.url}/webhook-endpoints`, {
      key: api.keys.test,
      body: { url: 'http://127.0.0.1:9/', events: '*' },
    });
    expect(endpoint.status, endpoint.text).to.equal(201);
    const paid = await call(`${api.url}/test/simulate-deposit`, {
      key: api.keys.test,
      body: { customer_id: made.body['id'], amount: '12.5' },
    });
    expect(paid.status, paid.text).to.be.within(200, 201);
    for (const path of [
      '/customers?search=b.example',
      '/deposits',
      '/payment-links',
      '/balance',
      '/webhook-endpoints',
    ])
      expect((await call(api.url + path, { key: api.keys.test })).status, path).to.equal(200);
  });

  it('let the service have the months ahead made, in which it writes like in the others', async () => {
    const far = new Date();
    far.setUTCMonth(far.getUTCMonth() + 2);
    const deps = { ...(await testDeps(urlOf('gw'), [])), now: () => far };
    opened.push(deps.orm);
    const made = await makeMonthsAhead(deps);
    expect(made.length).to.be.greaterThan(0);
    const [row] = await service.em.fork().execute<{ owner: string; writes: boolean }[]>(
      `select tableowner as owner, has_table_privilege(format('%I', tablename), 'insert') as writes
          from pg_tables where tablename like 'events\\_%' order by tablename desc limit 1`,
    );
    expect(row).to.deep.equal({ owner: 'gw_owner', writes: true });
  });

  it('refuse the service whatever is more than rows, and the ledger stays as it is', async () => {
    const DENIED = /permission denied|must be owner/;
    for (const sql of [
      'alter table ledger_entries disable trigger all',
      'alter table ledger_entries disable trigger ledger_entries_append_only',
      'truncate ledger_entries',
      'drop table ledger_entries',
      'create table more (one int)',
      'create temporary table more (one int)',
      'alter table customers add column more int',
      'drop function refuse_change() cascade',
      'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
      "set session_replication_role = 'replica'",
      'set log_min_error_statement = error',
    ])
      expect(await refusal(service, sql), sql).to.match(DENIED);
    for (const sql of [
      'update ledger_entries set amount_units = 1',
      'delete from ledger_entries',
      'delete from events',
    ])
      expect(await refusal(service, sql), sql).to.include('never changed or removed');
    expect(
      await refusal(service, `select claim_month_end('customers', now()::date, now()::date)`),
    ).to.include('no such month');
  });

  it('tell an operator who has the wrong one which he needs', async () => {
    const args = ['key', 'create', '--merchant', api.merchant.id, '--mode', 'test', '--by', 'Ann'];
    const ran = await gateway(args, { DATABASE_URL: urlOf('gw_reader'), TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(
      /^The role of DATABASE_URL may not do this \(.*permission denied for table .*name the right one/,
    );
    expect(ran.stderr).to.not.include('LOG_LEVEL');
  });

  it('let the signer read what it checks, write what it signed, and nothing else', async () => {
    expect(await runRoles()).to.deep.equal({ code: 0, stderr: '' });
    const signer = await open(urlOf('gw_signer'));
    for (const sql of [
      'select id, amount_units from deposits',
      'select * from withdraw_addresses',
      'update sent_transactions set refused = refused',
      'select lock_for_signing(gen_random_uuid())',
    ])
      expect(await refusal(signer, sql), sql).to.equal('was done');
    for (const sql of [
      'select email from customers',
      'select * from users',
      'select * from webhook_endpoints',
      'update withdraw_addresses set address = address',
      'update deposit_addresses set seal = null',
      'update deposits set payout_id = null',
      'update payouts set reason = null',
      'update sent_transactions set to_key = to_key',
      'delete from sent_transactions',
      'create table more (one int)',
    ])
      expect(await refusal(signer, sql), sql).to.match(/permission denied/);
    expect(await refusal(reader, 'select lock_for_signing(gen_random_uuid())')).to.match(/permission denied/);
  });

  it('let the reader look at everything and change nothing', async () => {
    await requireCurrentSchema(reader);
    const deps = await testDeps(urlOf('gw_reader'), []);
    opened.push(deps.orm);
    expect((await auditLedger(deps)).differences).to.deep.equal([]);
    expect(await listActions(deps, { limit: 10 })).not.to.equal(undefined);
    expect(await reader.em.fork().execute('select count(*)::int as many from customers')).to.deep.equal([
      { many: 1 },
    ]);
    for (const sql of [
      "update customers set name = 'x'",
      'delete from customers',
      `select nextval('wallet_index_seq')`,
      'truncate events',
      "select make_months('2040-01-01', '2040-01-01')",
    ])
      expect(await refusal(reader, sql), sql).to.match(/permission denied/);
  });

  it('are made where they are missing, and get other passwords, by a script that may run again', async () => {
    const superuser = await open(Object.assign(new URL(server.now.url), { pathname: '/gw' }).href);
    const em = superuser.em.fork();
    const before = await rightsOf(owner);
    await em.execute('drop owned by gw_signer');
    await em.execute('drop role gw_signer');
    await em.execute('alter role gw_owner nocreatedb');
    expect(await runRoles('another')).to.deep.equal({ code: 0, stderr: '' });
    expect(await refusal(await open(urlOf('gw_reader')), 'select 1')).to.match(/password|auth/i);
    const signer = await open(urlOf('gw_signer').replace(PASSWORD, 'another'));
    expect(await refusal(signer, 'select id, amount_units from deposits')).to.equal('was done');
    expect(await refusal(signer, 'select * from users')).to.match(/permission denied/);
    for (let n = 0; n < 2; n += 1) expect(await runRoles()).to.deep.equal({ code: 0, stderr: '' });
    expect(await rightsOf(owner)).to.deep.equal(before);
  });

  it('back up, drill and restore as the owner, and each may do afterwards what it could', async () => {
    const env = { DATABASE_URL: urlOf('gw_owner'), POSTGRES_BIN: programs };
    const rights = await rightsOf(owner);
    const { folder } = await answer<{ folder: string }>(['backup', '--to', await tempDir('roles')], env);
    expect(await answer(['restore', '--drill', '--from', folder], env)).to.include({ ok: true });
    await api.stop();
    for (const orm of opened.splice(0)) await orm.close(true);
    // The functions of the extension belong to the superuser, so what is there is moved by nobody else.
    for (const [role, words] of [
      ['gw', /cannot be marked .*owner of the database/s],
      ['gw_owner', /could not be put aside: .*make an empty database/s],
    ] as const) {
      const denied = await gateway(['restore', '--from', folder, '--replace', '--by', 'Ann'], {
        ...env,
        DATABASE_URL: urlOf(role),
      });
      expect(denied.code === 1 && denied.stderr).to.match(words);
    }
    expect((await gateway(['migrate'], env)).code, 'what was refused leaves it as it was').to.equal(0);
    const superuser = await openOrm({ url: server.now.url, poolSize: 1, applicationName: 'superuser' });
    for (const sql of [
      'alter database gw rename to gw_before',
      'create database gw owner gw_owner',
      'revoke connect, temporary on database gw from public',
      'grant connect on database gw to gw, gw_reader, gw_signer',
    ])
      await superuser.em.fork().execute(sql);
    await superuser.close(true);
    const restored = await answer(['restore', '--from', folder, '--by', 'Ann'], env);
    expect(restored).to.include({ ok: true, payouts_held: true });
    expect(await rightsOf(await open(urlOf('gw_owner')))).to.deep.equal(rights);
    const again = await open(urlOf('gw'));
    await requireCurrentSchema(again);
    expect(await refusal(again, "update customers set name = 'x'")).to.equal('was done');
    expect(await refusal(again, 'update ledger_entries set amount_units = 1')).to.include('never changed');
    expect(await refusal(again, 'drop table ledger_entries')).to.match(/must be owner/);
    const signer = await open(urlOf('gw_signer'));
    expect(await refusal(signer, 'select id, amount_units from deposits')).to.equal('was done');
    expect(await refusal(signer, 'select * from users')).to.match(/permission denied/);
    // It finds its schema by its name: of two, one would lock rows that were put aside.
    const locks = "select count(*)::int as n from pg_proc where proname = 'lock_for_signing'";
    expect(await again.em.fork().execute(locks)).to.deep.equal([{ n: 1 }]);
    // A backup of what was restored is as good as the first.
    const second = await answer<{ folder: string }>(['backup', '--to', await tempDir('again')], env);
    expect(await answer(['restore', '--drill', '--from', second.folder], env)).to.include({ ok: true });
  });
});
