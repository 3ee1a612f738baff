import { expect } from 'chai';
import { migrate, requireCurrentSchema } from '../../src/app/migrate.ts';
import { listActions } from '../../src/services/audit/list.ts';
import { auditLedger } from '../../src/services/ledger/audit.ts';
import { makeMonthsAhead } from '../../src/services/months/make.ts';
import { call, testDeps } from '../support/gateway.ts';
import { rightsOf } from './rights.ts';
import { type Roles, refusal, startRoles, takeDeposit } from './roles-stage.ts';

describe('the roles of the database, as they are shipped', function () {
  this.timeout(120_000);
  let the: Roles;
  before(async () => {
    the = await startRoles();
  });
  after(() => the?.stop());

  it('let the service do its work with rows alone', async () => {
    await requireCurrentSchema(the.service);
    await takeDeposit(the);
    for (const path of [
      '/customers?search=b.example',
      '/deposits',
      '/payment-links',
      '/balance',
      '/webhook-endpoints',
    ])
      expect((await call(the.api.url + path, { key: the.api.keys.test })).status, path).to.equal(200);
  });

  it('let the service have the months ahead made, in which it writes like in the others', async () => {
    const far = new Date();
    far.setUTCMonth(far.getUTCMonth() + 2);
    const deps = { ...(await testDeps(the.urlOf('gw'), [])), now: () => far };
    the.opened.push(deps.orm);
    const made = await makeMonthsAhead(deps);
    expect(made.length).to.be.greaterThan(0);
    const [row] = await the.service.em.fork().execute<{ owner: string; writes: boolean }[]>(
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
      expect(await refusal(the.service, sql), sql).to.match(DENIED);
    for (const sql of [
      'update ledger_entries set amount_units = 1',
      'delete from ledger_entries',
      'delete from events',
    ])
      expect(await refusal(the.service, sql), sql).to.include('never changed or removed');
    expect(
      await refusal(the.service, `select claim_month_end('customers', now()::date, now()::date)`),
    ).to.include('no such month');
  });

  it('let the reader look at everything that opens nothing, and change nothing', async () => {
    await requireCurrentSchema(the.reader);
    const deps = await testDeps(the.urlOf('gw_reader'), []);
    the.opened.push(deps.orm);
    expect((await auditLedger(deps)).differences).to.deep.equal([]);
    expect(await listActions(deps, { limit: 10 })).not.to.equal(undefined);
    expect(await the.reader.em.fork().execute('select count(*)::int as many from customers')).to.deep.equal([
      { many: 1 },
    ]);
    for (const [table, hidden] of [
      ['users', 'password_hash, totp_sealed'],
      ['sessions', 'token_hash'],
      ['api_keys', 'hash'],
      ['password_links', 'token_hash'],
      ['idempotency_answers', 'body_sealed'],
      ['webhook_endpoints', 'secret_sealed, earlier_secrets'],
      ['customers', 'page_token_hash, page_token_sealed'],
      ['payment_links', 'token, url'],
    ] as const) {
      expect(await refusal(the.reader, `select id from ${table}`), table).to.equal('was done');
      for (const column of hidden.split(', '))
        expect(await refusal(the.reader, `select ${column} from ${table}`)).to.match(/permission denied/);
    }
    for (const sql of [
      "update customers set name = 'x'",
      'delete from customers',
      `select nextval('wallet_index_seq')`,
      'truncate events',
      "select make_months('2040-01-01', '2040-01-01')",
      'select lock_for_signing(gen_random_uuid())',
    ])
      expect(await refusal(the.reader, sql), sql).to.match(/permission denied/);
  });

  it('give nobody a column by hiding one, and take what was given on too', async () => {
    const superuser = await the.open(Object.assign(new URL(the.server.now.url), { pathname: '/gw' }).href);
    for (const sql of [
      'create role narrow; create role gives; create role given',
      'grant select on merchants to narrow; grant select (id, page_token_hash) on customers to narrow',
      'grant select on merchants, users to gives with grant option',
      'set role gives; grant select on users to given; reset role',
    ])
      await superuser.em.fork().execute(sql);
    await migrate(the.owner);
    const written =
      "select xmin::text from pg_class where relname in ('users', 'customers') order by relname";
    const before = await the.owner.em.fork().execute(written);
    await migrate(the.owner);
    expect(await the.owner.em.fork().execute(written), 'what is so already').to.deep.equal(before);
    const asked = (role: string, what: string) => refusal(superuser, `set role ${role}; ${what}; reset role`);
    expect(await asked('narrow', 'select id from customers')).to.equal('was done');
    expect(await asked('gives', 'select email from users')).to.equal('was done');
    for (const [role, what] of [
      ['narrow', 'select email from customers'],
      ['narrow', 'select page_token_hash from customers'],
      ['narrow', 'select email from users'],
      ['gives', 'select password_hash from users'],
      ['given', 'select password_hash from users'],
    ] as const)
      expect(await asked(role, what), `${role}: ${what}`).to.match(/permission denied/);
    await superuser.em.fork().execute('drop owned by narrow, gives, given; drop role narrow, gives, given');
  });

  it('let the reader see a column that a migration adds, unless it opens something', async () => {
    const add = 'add column plain int, add column more_sealed int';
    await the.owner.em.fork().execute(`alter table customers ${add}`);
    await migrate(the.owner);
    expect(await refusal(the.reader, 'select plain from customers')).to.equal('was done');
    expect(await refusal(the.reader, 'select more_sealed from customers')).to.match(/permission denied/);
    await the.owner.em.fork().execute('alter table customers drop column plain, drop column more_sealed');
  });

  it('are made where they are missing, and get other passwords, by a script that may run again', async () => {
    const superuser = await the.open(Object.assign(new URL(the.server.now.url), { pathname: '/gw' }).href);
    const em = superuser.em.fork();
    expect(await the.runRoles()).to.deep.equal({ code: 0, stderr: '' });
    const before = await rightsOf(the.owner);
    await em.execute('drop owned by gw_signer');
    await em.execute('drop role gw_signer');
    await em.execute('alter role gw_owner nocreatedb');
    expect(await the.runRoles('another')).to.deep.equal({ code: 0, stderr: '' });
    expect(await refusal(await the.open(the.urlOf('gw_reader')), 'select 1')).to.match(/password|auth/i);
    const signer = await the.open(the.urlOf('gw_signer', 'another'));
    expect(await refusal(signer, 'select id, amount_units from deposits')).to.equal('was done');
    expect(await refusal(signer, 'select * from users')).to.match(/permission denied/);
    for (let n = 0; n < 2; n += 1) expect(await the.runRoles()).to.deep.equal({ code: 0, stderr: '' });
    expect(await rightsOf(the.owner)).to.deep.equal(before);
  });
});
