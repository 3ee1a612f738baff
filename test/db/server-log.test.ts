import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { migrate } from '../../src/app/migrate.ts';
import { type Em, type Orm, openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { testDeps } from '../support/gateway.ts';

const EMAIL = 'very.secret@customer.example';
const NAME = 'Nadia Secretname';
const IBAN = 'DE00-SECRET-META';
const TOKEN = 'pl_SecretSecretSecretSecretSecret00';
const URL_TOKEN = 'https://shop.example/hooks/SECRET-IN-URL';
const SECRETS = [EMAIL, NAME, IBAN, TOKEN, URL_TOKEN];

/** The log of the server itself, which no redaction of ours passes through. */
describe("PostgreSQL's own log", function () {
  this.timeout(90_000);
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let logFile: string;
  let orm: Orm;
  let other: Orm;
  let deps: Deps;
  let ids: string[];
  before(async () => {
    const dataDir = await tempDir('server-log');
    server = await startPostgres({ dataDir, fsync: false, log: () => undefined });
    logFile = join(dataDir, 'postgres.log');
    deps = await testDeps(server.url, []);
    orm = deps.orm;
    other = await openOrm({ url: server.url, poolSize: 4, applicationName: 'other' });
    await migrate(orm);
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    const customer = (email: string) =>
      createCustomer(deps, {
        merchantId,
        mode: 'test',
        externalId: null,
        email,
        name: NAME,
        metadata: { iban: IBAN },
      });
    ids = [(await customer(EMAIL)).id, (await customer(`2.${EMAIL}`)).id];
  });
  after(async () => {
    await other?.close(true);
    await orm?.close(true);
    await server?.stop();
  });

  const fails = async (work: Promise<unknown>): Promise<string> =>
    await work.then(
      () => 'nothing failed',
      (error: Error) => error.message,
    );
  const log = () => readFileSync(logFile, 'utf8');
  const logged = (text: string, before: number) => eventually(text, () => log().slice(before).includes(text));
  /** A statement with every kind of secret in it that does not end by itself. */
  const long = (em: Em) =>
    em.execute('select pg_sleep(30), ?::text, ?::text, ?::jsonb, ?::text, ?::text', [
      EMAIL,
      NAME,
      JSON.stringify({ iban: IBAN }),
      TOKEN,
      URL_TOKEN,
    ]);
  const endLong = (how: 'pg_cancel_backend' | 'pg_terminate_backend') =>
    eventually('the statement', async () => {
      const rows = await other.em.fork().execute(
        `select ${how}(pid) from pg_stat_activity where state = 'active' and query like '%pg_sleep(30)%'
            and pid <> pg_backend_pid()`,
      );
      return rows.length > 0;
    });

  it('says what was cancelled, took too long, hit a unique key or a check, or was cut, and with none of its data', async () => {
    const before = log().length;
    for (const how of ['pg_cancel_backend', 'pg_terminate_backend'] as const) {
      const failed = fails(long(orm.em.fork()));
      await endLong(how);
      expect(await failed).not.to.equal('nothing failed');
    }
    const timedOut = () =>
      orm.em.fork().transactional(async (em) => {
        await em.execute('set local statement_timeout = 50');
        await long(em);
      });
    // The connection that was cut may be met once more.
    await eventually('the time limit', async () => (await fails(timedOut())).includes('statement timeout'));
    const unique = await fails(
      orm.em.fork().execute('update customers set email = ?, name = ? where id = ?', [EMAIL, NAME, ids[1]]),
    );
    expect(unique).to.include('customers_email_unique');
    await fails(
      orm.em.fork().execute('update customers set email = null, external_id = null where id = ?', [ids[0]]),
    );
    for (const text of [
      'canceling statement due to user request',
      'terminating connection',
      'canceling statement due to statement timeout',
    ])
      await logged(text, before);
    for (const text of ['duplicate key value', 'violates check constraint']) await logged(text, before);
    for (const secret of SECRETS) expect(log(), secret).not.to.include(secret);
  });
});
