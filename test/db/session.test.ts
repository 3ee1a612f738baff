import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { migrate, requireCurrentSchema } from '../../src/app/migrate.ts';
import { OperatorError } from '../../src/base/errors.ts';
import { Customer } from '../../src/db/entities/index.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { databaseTime, requireUsableDatabase } from '../../src/db/usable.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { testDeps } from '../support/gateway.ts';

/** What a DBA, a template or a managed service gives a role without the gateway's knowledge. */
const GIVEN = {
  datestyle: "'SQL, DMY'",
  intervalstyle: 'sql_standard',
  timezone: "'Pacific/Apia'",
  search_path: 'app',
  default_transaction_isolation: 'serializable',
  client_encoding: 'latin1',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  idle_session_timeout: "'1min'",
};

describe('a session of PostgreSQL that is given settings by others', function () {
  this.timeout(60_000);
  const role = `given_${randomBytes(6).toString('hex')}`;
  const opened: Orm[] = [];
  let database: FreshDatabase;
  let admin: Orm;
  let url: string;
  before(async () => {
    database = await freshDatabase();
    admin = await open(database.url);
    await say(`create role ${role} login password 'given'`);
    await say(`alter database ${database.name} owner to ${role}`);
    // PostgreSQL's default looks into a schema of the role's name first.
    for (const schema of [role, 'app']) await say(`create schema ${schema} authorization ${role}`);
    for (const [name, value] of Object.entries(GIVEN)) await say(`alter role ${role} set ${name} = ${value}`);
    url = Object.assign(new URL(database.url), { username: role, password: 'given' }).href;
  });
  after(async () => {
    for (const orm of opened) await orm.close(true);
    await database?.drop();
    const last = await openOrm({ url: (await freshDatabase()).url, poolSize: 1, applicationName: 'last' });
    await last.em.execute(`drop role ${role}`).finally(() => last.close(true));
  });

  async function open(at: string): Promise<Orm> {
    const orm = await openOrm({ url: at, poolSize: 1, applicationName: 'session test' });
    opened.push(orm);
    return orm;
  }
  const say = (sql: string) => admin.em.fork().execute(sql);
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('has what the gateway needs all the same: one schema, dates, bytes and letters as they are', async () => {
    await migrate(await open(url));
    const deps = await testDeps(url, []);
    opened.push(deps.orm);
    await requireCurrentSchema(deps.orm);
    expect(await migrate(deps.orm), 'the second time').to.deep.equal([]);
    const now = new Date('2026-12-05T10:11:12.345Z');
    const then = { ...deps, now: () => now };
    const { merchantId } = await createMerchant(then, { name: 'Shop', subscriptionActive: true });
    const made = { merchantId, mode: 'test' as const, externalId: 'p1', email: null, metadata: {} };
    const { id } = await createCustomer(then, { ...made, name: 'Łucja \\ Ng' });
    const row = await deps.orm.em.fork().findOneOrFail(Customer, { id });
    expect([row.createdAt, row.name]).to.deep.equal([now, 'Łucja \\ Ng']);
    await deps.orm.em.fork().transactional(async (em) => {
      const [began] = await em.execute<{ now: Date }[]>(`select date_trunc('milliseconds', now()) as now`);
      expect(await databaseTime(em)).to.deep.equal(new Date(String(began?.now)));
    });
    const [session] = await deps.orm.em.fork().execute(
      `select current_schema() as schema, current_setting('transaction_isolation') as isolation,
         '\\xff00'::bytea as bytes, current_setting('client_encoding') as encoding,
         current_setting('idle_session_timeout') as ends`,
    );
    expect(session).to.deep.equal({
      schema: 'public',
      isolation: 'read committed',
      bytes: Buffer.from([255, 0]),
      encoding: 'UTF8',
      ends: '0',
    });
  });

  it('is not kept once it refused a write, so that the next one goes on when writes are taken again', async () => {
    await say(`alter role ${role} set default_transaction_read_only = on`);
    const orm = await open(url);
    const write = () => orm.em.fork().transactional((em) => em.execute('select 1 from customers for update'));
    expect(String(await refusal(write()))).to.include('read-only transaction');
    await say(`alter role ${role} reset default_transaction_read_only`);
    expect(await refusal(write())).to.equal(undefined);
  });

  it('is refused with what to do where nothing can be pinned', async () => {
    const said = async (work: Promise<unknown>) => {
      const error = await refusal(work);
      expect(error).to.be.instanceOf(OperatorError);
      return (error as OperatorError).message + (error as OperatorError).nextAction;
    };
    await say(`alter role ${role} set synchronous_commit = off`);
    expect(await said(requireCurrentSchema(await open(url)))).to.match(/crash .* take back.*Set it to "on"/);
    await say(`alter role ${role} reset synchronous_commit`);
    await say(`alter role ${role} set session_replication_role = replica`);
    expect(await said(requireCurrentSchema(await open(url)))).to.match(/triggers, .*Set it to "origin"/);
    await say(`alter role ${role} reset session_replication_role`);
    const pooled = admin.em.fork().transactional(async (em) => {
      await em.execute('set local search_path = "$user", public');
      await requireUsableDatabase(em);
    });
    expect(await said(pooled)).to.match(/a pooler keeps it.*Let it pass "options"/);
    await say(`alter table public.schema_migrations rename to hidden`);
    await say(`alter database ${database.name} owner to current_user`);
    expect(await said(migrate(await open(url)))).to.match(/may not make tables in .*grant usage, create/);
  });
});
