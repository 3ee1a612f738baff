import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { call, type TestApi } from '../../support/gateway.ts';
import { rows } from '../../support/once.ts';
import { openRoute } from './open-route.ts';
import { startWatched, type WatchedApi } from './watched-api.ts';

/** Longer than any wait of this file: what is over before was ended. */
const PATIENCE_MS = 600_000;
const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';

const said = (path: string, handler: (deps: Deps) => Promise<unknown>, extraMs = 0) =>
  openRoute(path, async (deps) => ({ said: await handler(deps) }), { extraMs });

async function inTransaction(deps: Deps): Promise<string> {
  return await deps.orm.em.fork().transactional(async (em) => {
    await em.execute('create table if not exists left_behind (one int)');
    for (;;) await em.execute('select pg_sleep(0.4)');
  });
}

const TEST_ROUTES = [
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
  let watched: WatchedApi;
  let api: TestApi;
  before(async () => {
    // What ends here is ended by its request.
    const limits = { statementTimeoutMs: PATIENCE_MS, poolSize: 6 };
    watched = await startWatched(() => ({ ...limits, routes: [...ROUTES, ...TEST_ROUTES] }));
    api = watched.api;
  });
  after(() => watched?.stop());

  const expectEnded = () =>
    eventually('the end of all work', async () => (await watched.working()).length === 0);

  it('is over with its 503, whatever it waits for', async () => {
    const requests: readonly (readonly [string, unknown?])[] = [
      ['/customers'],
      ['/customers', { external_id: 'nobody' }],
      [`/../../pay/${TOKEN}`],
    ];
    await watched.whileLocked('lock table customers, payment_links in access exclusive mode', async () => {
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
    const [row] = await rows(api, `select to_regclass('left_behind')::text as name`);
    expect(row?.['name']).to.equal(null);
  });

  it('is over when the client goes away, inside a transaction too', async () => {
    for (const path of ['/patient', '/patient-transaction']) {
      const gone = new AbortController();
      const sent = fetch(api.url + path, { signal: gone.signal }).then(
        () => 'answered',
        () => 'broken',
      );
      await eventually('the statement', async () =>
        (await watched.working()).some((query) => /pg_sleep/.test(query)),
      );
      gone.abort();
      expect(await sent).to.equal('broken');
      await expectEnded();
    }
  });
});
