import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { turnsOfMerchants } from '../../../src/app/pools.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';

const POOL_SIZE = 10;
const REQUESTS = 40;

/**
 * However many requests of a merchant wait in the database
 * for each other, they wait there on few connections.
 */
describe('the connections of one merchant', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  let other: Orm;
  let alice: TestMerchant;
  before(async () => {
    database = await migratedDatabase();
    const limits = { poolSize: POOL_SIZE, turns: turnsOfMerchants(POOL_SIZE), statementTimeoutMs: 1_800 };
    api = await startTestApi({ databaseUrl: database.url, ...limits });
    other = await openOrm({
      url: database.url,
      poolSize: 2,
      applicationName: 'other',
      statementTimeoutMs: 0,
    });
    alice = await api.newMerchant();
  });
  after(async () => {
    await other?.close(true);
    await api?.stop();
    await database?.drop();
  });

  const waiting = async (): Promise<number> => {
    const [row] = await other.em.fork().execute<{ n: number }[]>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database()
          and application_name = 'test' and wait_event_type = 'Lock'`,
    );
    return row?.n ?? 0;
  };
  /** Requests that all wait for one row, for as long as `meanwhile` takes. */
  const whileTheyWait = async (
    { keys }: Pick<TestMerchant, 'keys'>,
    meanwhile: () => Promise<void>,
    onAnswer: () => void = () => undefined,
  ): Promise<void> => {
    const made = await call(`${api.url}/webhook-endpoints`, {
      key: keys.live,
      body: { url: 'http://127.0.0.1:9/', events: '*' },
    });
    const url = `${api.url}/webhook-endpoints/${made.body['id']}`;
    let sent: Promise<unknown> | undefined;
    await other.em.fork().transactional(async (em) => {
      await em.execute('select id from webhook_endpoints where id = ? for update', [made.body['id']]);
      const change = async () => {
        await call(url, { method: 'PUT', key: keys.live, body: { description: randomUUID() } });
        onAnswer();
      };
      sent = Promise.all(Array.from({ length: REQUESTS }, change));
      await eventually('requests that wait', async () => (await waiting()) > 0);
      await meanwhile();
    });
    await sent;
  };

  it('are few, and another merchant reads and writes while they all wait for a lock', async () => {
    let most = 0;
    const answers: number[] = [];
    await whileTheyWait(api, async () => {
      for (let turn = 0; turn < 5; turn += 1) {
        most = Math.max(most, await waiting());
        answers.push((await call(`${api.url}/customers/exists?email=a`, { key: alice.keys.live })).status);
        answers.push(
          (await call(`${api.url}/customers`, { key: alice.keys.live, body: { external_id: randomUUID() } }))
            .status,
        );
      }
    });
    expect(answers).to.deep.equal(Array.from({ length: 5 }, () => [200, 201]).flat());
    expect(most).to.be.within(1, 3);
  });

  it('are given back in the end, whatever became of the requests', async () => {
    let over = 0;
    await whileTheyWait(
      api.merchant,
      async () => void (await eventually('the end of each', () => over === REQUESTS)),
      () => {
        over += 1;
      },
    );
    const ask = () => call(`${api.url}/customers/exists?email=a`, { key: api.keys.live });
    await eventually('an answer to each of as many', async () =>
      (await Promise.all(Array.from({ length: REQUESTS }, ask))).every(({ status }) => status === 200),
    );
    expect(await waiting()).to.equal(0);
  });
});
