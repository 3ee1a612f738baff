import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { openRoute } from './open-route.ts';

const API = 'test';
/** Longer than any wait of this file: what is over before was ended. */
const PATIENCE_MS = 600_000;
const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';

const said = (path: string, handler: (deps: Deps) => Promise<unknown>, extraMs = 0) =>
  openRoute(path, async (deps) => ({ said: await handler(deps) }), { extraMs });

async function limitOf(deps: Deps): Promise<string> {
  const [row] = await deps.orm.em
    .fork()
    .execute<{ ms: string }[]>(`select setting as ms from pg_settings where name = 'statement_timeout'`);
  return row?.ms ?? '';
}

async function inTransaction(deps: Deps): Promise<string> {
  return await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('create table if not exists left_behind (one int)');
    for (;;) await em.execute('select pg_sleep(0.4)');
  });
}

const TEST_ROUTES = [
  said('/limit', limitOf),
  said('/limit-later', async (deps) => {
    await deps.orm.em.fork().execute('select pg_sleep(0.9)');
    return await limitOf(deps);
  }),
  said('/late', async (deps) => {
    await deps.orm.em.fork().execute('select pg_sleep(1.2)');
    await deps.orm.em.fork().execute('select pg_sleep(30)');
    return 'late';
  }),
  said('/many', async (deps) => {
    const em = deps.orm.em.fork();
    for (;;) await em.execute('select pg_sleep(0.1)');
  }),
  said('/transaction', inTransaction),
  said('/patient', (deps) => deps.orm.em.fork().execute('select pg_sleep(600)'), PATIENCE_MS),
  said('/patient-transaction', inTransaction, PATIENCE_MS),
];

/** Without it, work that nobody waits for any more keeps the connections from everybody's next request. */
describe("a request's work in the database", function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  let other: Orm;
  before(async () => {
    database = await migratedDatabase();
    api = await startTestApi({
      databaseUrl: database.url,
      // What ends here is ended by its request.
      statementTimeoutMs: PATIENCE_MS,
      poolSize: 6,
      routes: [...ROUTES, ...TEST_ROUTES],
    });
    other = await openOrm({
      url: database.url,
      poolSize: 2,
      applicationName: 'other',
      statementTimeoutMs: 0,
    });
  });
  after(async () => {
    await other?.close(true);
    await api?.stop();
    await database?.drop();
  });

  const working = async (): Promise<string[]> => {
    const rows = await other.em.fork().execute<{ query: string }[]>(
      `select query from pg_stat_activity where datname = current_database() and application_name = '${API}'
          and state <> 'idle'`,
    );
    return rows.map(({ query }) => query);
  };
  const expectEnded = () => eventually('the end of all work', async () => (await working()).length === 0);
  /** Nobody reads or writes these tables until `work` is done. */
  const whileLocked = async (tables: string, work: () => Promise<void>) => {
    await other.em.fork().transactional(async (em) => {
      await em.execute(`lock table ${tables} in access exclusive mode`);
      await work();
    });
  };

  it('is over with its 503, whatever it waits for', async () => {
    const requests: readonly (readonly [string, unknown?])[] = [
      ['/customers/exists?email=a'],
      ['/customers'],
      ['/payment-links'],
      ['/customers', { external_id: 'nobody' }],
      [`/../../pay/${TOKEN}`],
    ];
    await whileLocked('customers, payment_links', async () => {
      const ask = ([path, body]: (typeof requests)[number]) =>
        call(api.url + path, { key: api.keys.test, body });
      const answers = await Promise.all(requests.map(ask));
      expect(answers.map(({ status }) => status)).to.deep.equal(requests.map(() => 503));
      await expectEnded();
    });
    expect((await call(`${api.url}/customers`, { key: api.keys.test })).body['data']).to.deep.equal([]);
  });

  it('is over with its 503 when no statement of it is long, and when only the last one is', async () => {
    const answers = await Promise.all(['/many', '/transaction', '/late'].map((path) => call(api.url + path)));
    expect(answers.map(({ status }) => status)).to.deep.equal([503, 503, 503]);
    await expectEnded();
    const [row] = await other.em
      .fork()
      .execute<{ name: string | null }[]>(`select to_regclass('left_behind')::text as name`);
    expect(row?.name).to.equal(null);
  });

  it('has what is left of its 2 s for each statement, and leaves the connection as it was', async () => {
    const limit = async (path: string) => Number((await call(api.url + path)).body['said']);
    expect(await limit('/limit')).to.be.within(1, 1_900);
    expect(await limit('/limit-later')).to.be.within(1, 1_400);
    expect(await limitOf(api.deps), 'outside of any request').to.equal(String(PATIENCE_MS));
  });

  it('is over when the client goes away, inside a transaction too', async () => {
    for (const path of ['/patient', '/patient-transaction']) {
      const gone = new AbortController();
      const sent = fetch(api.url + path, { signal: gone.signal }).then(
        () => 'answered',
        () => 'broken',
      );
      await eventually('the statement', async () =>
        (await working()).some((query) => /pg_sleep/.test(query)),
      );
      gone.abort();
      expect(await sent).to.equal('broken');
      await expectEnded();
    }
  });

  it('costs the pool no place, however often it is cut short', async () => {
    const many = async (path: string) => {
      const ask = () => call(api.url + path, { key: api.keys.test });
      return (await Promise.all(Array.from({ length: 12 }, ask))).map(({ status }) => status);
    };
    expect(await many('/late')).to.deep.equal(Array(12).fill(503));
    await expectEnded();
    await eventually('an answer to each of as many', async () =>
      (await many('/customers/exists?email=a')).every((status) => status === 200),
    );
  });
});
