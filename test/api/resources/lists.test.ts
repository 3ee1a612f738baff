import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, freshDatabase } from '../../../dev/support/parts.ts';
import { listBody } from '../../../src/api/page.ts';
import { isList } from '../../../src/api/requests/lists.ts';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { listOf, listQuery } from '../../../src/contract/common.ts';
import { customer } from '../../../src/contract/customer.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { type Answer, call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';

const RUSH = 150;
const OTHERS = 40;
/** Below this a ratio says nothing on a busy machine. */
const QUICK_MS = 500;

/**
 * A list that takes half a second, whatever indexes there are, and no
 * processor from the others: how those are shared is not ours to say.
 */
const dear = route({
  method: 'get',
  path: '/dear',
  operationId: 'dear',
  auth: 'merchant',
  scope: 'read',
  tag: 'Test',
  statuses: [200],
  summary: 'Dear',
  query: listQuery({}),
  response: listOf(customer),
  read: async (deps) => {
    await deps.orm.em.fork().execute('select pg_sleep(0.5)');
    return ok(listBody({ rows: [], hasMore: false, page: 1, limit: 25, total: 0, totalIsAtLeast: false }));
  },
});

/** One merchant's lists, however many and dear, never take from the others what they need. */
describe('lists of one merchant', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  let listOrm: Orm;
  let outside: Orm;
  let other: TestMerchant;
  before(async () => {
    database = await freshDatabase();
    listOrm = await openOrm({
      url: database.url,
      poolSize: 6,
      applicationName: 'lists',
      statementTimeoutMs: 1_800,
    });
    outside = await openOrm({
      url: database.url,
      poolSize: 2,
      applicationName: 'outside',
      statementTimeoutMs: 0,
    });
    api = await startTestApi({
      databaseUrl: database.url,
      listOrm,
      statementTimeoutMs: 15_000,
      routes: [...ROUTES, dear],
    });
    other = await api.newMerchant();
  });
  after(async () => {
    await api?.stop();
    await listOrm?.close(true);
    await outside?.close(true);
    await database?.drop();
  });

  const rush = (path: string): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: RUSH }, (_, index) =>
        call(`${api.url}${path}?limit=${(index % 100) + 1}`, { key: api.keys.test }),
      ),
    );
  const active = async (): Promise<number> => {
    const rows = await outside.em.fork().execute(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'lists'
          and state <> 'idle' and query like '%payment_links%'`,
    );
    return rows.length;
  };
  const exists = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let index = 0; index < OTHERS; index += 1) {
      const startedAt = performance.now();
      const { status } = await call(`${api.url}/customers/exists?external_id=${index}`, {
        key: other.keys.live,
      });
      expect(status).to.equal(200);
      times.push(performance.now() - startedAt);
    }
    return times.sort((a, b) => a - b);
  };
  const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;

  it('run three at a time, and those whose turn does not come are over within 2 s', async () => {
    await outside.em.fork().transactional(async (em) => {
      await em.execute('lock table payment_links in access exclusive mode');
      const startedAt = performance.now();
      const answers = rush('/payment-links');
      await eventually('three lists at a time', async () => (await active()) === 3);
      const most = { lists: 3 };
      const watched = setInterval(async () => {
        most.lists = Math.max(most.lists, await active());
      }, 50);
      expect((await exists()).length).to.equal(OTHERS);
      // Of another merchant one has its turn at once.
      expect((await call(`${api.url}/customers`, { key: other.keys.live })).status).to.equal(200);
      const refused = await answers;
      const tookMs = performance.now() - startedAt;
      clearInterval(watched);
      const codes = refused.map(({ status, body }) => `${status} ${body['code']}`).sort();
      // Those that had their turn waited for the lock; the others waited for their own.
      expect([...new Set(codes)]).to.deep.equal(['429 RATE_LIMITED', '503 UNAVAILABLE']);
      expect(codes.filter((code) => code.startsWith('503')).length).to.be.within(3, codes.length / 2);
      expect(
        refused.every(({ status, headers }) => status === 503 || headers.get('retry-after') === '2'),
      ).to.equal(true);
      expect(tookMs).to.be.lessThan(4_000);
      expect(most.lists).to.equal(3);
    });
    await eventually('the end of the lists', async () => (await active()) === 0, 1_500);
    expect((await call(`${api.url}/payment-links`, { key: api.keys.test })).status).to.equal(200);
  });

  it('leave the requests of others as quick as they were, however dear they are', async () => {
    await exists();
    const quiet = median(await exists());
    let over = false;
    const answers = rush('/dear').finally(() => {
      over = true;
    });
    const times: number[] = [];
    while (!over) times.push(...(await exists()));
    const statuses = new Set((await answers).map(({ status }) => status));
    expect([...statuses].every((status) => [200, 429, 503].includes(status))).to.equal(true);
    expect(median(times.sort((a, b) => a - b))).to.be.at.most(Math.max(5 * quiet, QUICK_MS));
  });

  it('are known by their query, each of them', () => {
    const lists = ROUTES.filter(
      ({ response }) => 'shape' in response && 'pagination' in (response.shape as object),
    );
    expect(lists.map(({ path }) => path)).to.include.members([
      '/customers',
      '/deposits',
      '/payments',
      '/payment-links',
      '/webhook-endpoints',
    ]);
    for (const list of lists) expect(isList(list), list.path).to.equal(true);
    expect(ROUTES.filter(isList)).to.have.length(lists.length);
  });
});
