import { expect } from 'chai';
import { z } from 'zod';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

const API = 'test';
/** The steps in which a limit is told to the server, and a busy machine. */
const ENDS_WITHIN_MS = 1_500;
const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';

const said = (path: string, handler: (deps: Deps) => Promise<string>) =>
  route({
    method: 'get',
    path,
    operationId: path.slice(1),
    auth: 'none',
    scope: 'none',
    tag: 'Test',
    statuses: [200],
    summary: 'Test',
    response: z.strictObject({ said: z.string() }),
    read: async (deps) => ok({ said: await handler(deps) }),
  });

async function limitOf(deps: Deps): Promise<string> {
  const [row] = await deps.orm.em
    .fork()
    .execute<{ ms: string }[]>(`select setting as ms from pg_settings where name = 'statement_timeout'`);
  return row?.ms ?? '';
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
  said('/transaction', (deps) =>
    deps.orm.em.fork().transactional(async (em) => {
      await em.execute('create table if not exists left_behind (one int)');
      for (;;) await em.execute('select pg_sleep(0.4)');
    }),
  ),
];

/** Without it, work that nobody waits for any more keeps the connections from everybody's next request. */
describe("a request's work in the database", function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  let other: Orm;
  before(async () => {
    database = await freshDatabase();
    api = await startTestApi({
      databaseUrl: database.url,
      statementTimeoutMs: 15_000,
      poolSize: 3,
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
  const isWorking = async () => (await working()).length > 0;
  const expectEnded = async (withinMs = ENDS_WITHIN_MS) => {
    const end = performance.now() + withinMs;
    let still = await working();
    // One look without any is enough: what the process does for itself may be seen at the next one.
    while (still.length > 0 && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      still = await working();
    }
    expect(still).to.deep.equal([]);
  };
  /** Nobody reads or writes these tables until `work` is done. */
  const whileLocked = async (tables: string, work: () => Promise<void>) => {
    await other.em.fork().transactional(async (em) => {
      await em.execute(`lock table ${tables} in access exclusive mode`);
      await work();
    });
  };

  const requests: readonly (readonly [string, string, unknown?])[] = [
    ['one prepared read', '/customers/exists?email=a'],
    ['a list', '/customers'],
    ['a list of entities', '/payment-links'],
    ['a write', '/customers', { external_id: 'nobody' }],
    ['a page for everybody', `/../../pay/${TOKEN}`],
  ];
  for (const [name, path, body] of requests) {
    it(`is over with its 503: ${name}`, async () => {
      await whileLocked('customers, payment_links', async () => {
        const answer = await call(api.url + path, { key: api.keys.test, body });
        expect(answer.status).to.equal(503);
        await expectEnded();
      });
      expect((await call(`${api.url}/customers`, { key: api.keys.test })).body['data']).to.deep.equal([]);
    });
  }

  it('is over with its 503 when no statement of it is long, and when only the last one is', async () => {
    for (const path of ['/many', '/transaction', '/late']) {
      expect((await call(api.url + path)).status).to.equal(503);
      await expectEnded();
    }
    const [row] = await other.em
      .fork()
      .execute<{ name: string | null }[]>(`select to_regclass('left_behind')::text as name`);
    expect(row?.name).to.equal(null);
  });

  it('has what is left of its 2 s for each statement, and leaves the connection as it was', async () => {
    const limit = async (path: string) => Number((await call(api.url + path)).body['said']);
    expect(await limit('/limit')).to.be.within(1_700, 1_900);
    expect(await limit('/limit-later')).to.be.within(100, 1_000);
    for (let times = 0; times < 6; times += 1) expect(await limit('/limit')).to.be.within(1_700, 1_900);
    expect(await limitOf(api.deps), 'outside of any request').to.equal('15000');
  });

  it('is over when the client goes away, inside a transaction too', async () => {
    const leaving: readonly (readonly [string, unknown?])[] = [
      ['/customers'],
      ['/customers/exists?email=a'],
      ['/customers', { email: 'a@b.example' }],
    ];
    for (const [path, body] of leaving) {
      // A busy machine may need longer than the request would
      // have had anyway; what never ends early does so at no try.
      let ended = false;
      for (let tries = 0; tries < 5 && !ended; tries++) ended = await endsWhenLeft(path, body);
      expect(ended, path).to.equal(true);
    }
  });

  async function endsWhenLeft(path: string, body: unknown): Promise<boolean> {
    let ended = false;
    await whileLocked('customers', async () => {
      const gone = new AbortController();
      const headers = {
        Authorization: `Bearer ${api.keys.test}`,
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      };
      const sent = fetch(api.url + path, {
        headers,
        signal: gone.signal,
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      });
      const broken = sent.then(
        () => 'answered',
        () => 'broken',
      );
      const began = performance.now();
      const isSeen = await eventually('the statement', isWorking, 1_500).catch(() => false);
      gone.abort();
      const how = await broken;
      while ((await isWorking()) && performance.now() - began < ENDS_WITHIN_MS)
        await new Promise((resolve) => setTimeout(resolve, 20));
      ended = isSeen && how === 'broken' && performance.now() - began < ENDS_WITHIN_MS;
    });
    // How soon it ended is judged above; the next try begins with nothing left.
    await expectEnded(10 * ENDS_WITHIN_MS);
    return ended;
  }

  it('costs the pool no place, however often it is cut short', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => call(`${api.url}/late`)));
    expect(all.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => 503));
    await expectEnded();
    const after = await Promise.all(
      Array.from({ length: 12 }, () => call(`${api.url}/customers/exists?email=a`, { key: api.keys.test })),
    );
    expect(after.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => 200));
  });
});
