import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { composeGateway, type Gateway, observedBy } from '../../src/app/compose.ts';
import { readiness } from '../../src/app/health.ts';
import { healthRoutes } from '../../src/app/health-routes.ts';
import { migrate } from '../../src/app/migrate.ts';
import { sharedResult } from '../../src/base/async/shared-result.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { call } from '../support/gateway.ts';

const CALLERS = 60;
const POOL = 4;

/** Whoever asks for health and metrics, however often, costs those who move money nothing. */
describe('health and metrics', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let gateway: Gateway;
  let server: ReturnType<typeof createServer>;
  let origin: string;
  let key: string;
  let beside: Orm;

  before(async () => {
    database = await freshDatabase();
    const env = {
      LOG_LEVEL: 'silent',
      BSC_RPC_URLS: 'http://127.0.0.1:9',
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    };
    const config = loadConfig(env, { role: 'api' });
    const keys = { xpubs: testXpubs(), secretsKey: SECRETS_KEY };
    const environment = { databaseUrl: database.url, temporal: undefined, ...keys };
    const log = createLogger({ level: 'silent' });
    const named = { name: 'test', poolSize: POOL, observed: true };
    gateway = await composeGateway({ config, environment, log, ...named });
    await migrate(gateway.deps.orm);
    const observed = observedBy(gateway);
    const health = healthRoutes(observed, () => readiness(observed, new Date(0)));
    server = createServer(createApp({ deps: gateway.deps, checkResponses: true, before: [health] }));
    origin = `http://127.0.0.1:${(await server.listen({ port: 0, host: '127.0.0.1' })).port}`;
    key = (await createMerchant(gateway.deps, { name: 'Shop', subscriptionActive: true })).keys.test;
    beside = await openOrm({ url: database.url, poolSize: 2, applicationName: 'beside' });
  });
  after(async () => {
    await server?.close(1_000);
    await beside?.close(true);
    await gateway?.close();
    await database?.drop();
  });

  const waiting = async () => {
    const [row] = await beside.em.fork().execute<{ n: number }[]>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock'`,
    );
    return row?.n ?? 0;
  };

  it('take no connection of the API while the database is slow for them, however many ask', async () => {
    const em = beside.em.fork();
    await em.begin();
    await em.execute('lock table chain_cursors in access exclusive mode');
    const asked = Array.from({ length: CALLERS }, (_, index) =>
      call(`${origin}/${index % 2 === 0 ? 'health/ready' : 'metrics'}`),
    );
    try {
      await eventually('questions that wait', async () => (await waiting()) > 0);
      const body = { external_id: 'asked-meanwhile', email: null };
      // A request has two seconds for everything, the wait for a connection included.
      for (let times = 0; times < 2 * POOL; times += 1)
        expect(
          (
            await call(`${origin}/api/v1/customers`, {
              key,
              body: { ...body, external_id: `meanwhile-${times}` },
            })
          ).status,
        ).to.equal(201);
      expect(await waiting()).to.be.at.most(3);
    } finally {
      await em.rollback();
    }
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200, 503]));
  });

  it('tell of a chain that stands also while another alarm cannot be read', async () => {
    const since = new Date(Date.now() - 60_000);
    const stop = { number: 7, tries: 3, since, reason: 'planted', action: 'see to it' };
    await beside.em.fork().execute(
      `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
         anchored_number, head_number,
         finalized_number, moved_at, finalized_moved_at, polled_at, stops, version, created_at)
       values ('bsc', 1, 7, '0x', 0, 0, 9, 0, now(), now(), now() + interval '1 hour', ?::jsonb, 1, now())`,
      [JSON.stringify({ 'first read': stop })],
    );
    const em = beside.em.fork();
    await em.begin();
    await em.execute('lock table payment_links in access exclusive mode');
    try {
      const told = async () => (await call(`${origin}/health/ready`)).body;
      await eventually('the reason', async () =>
        String((await told())['reasons']).includes('the first read of bsc stands at 7'),
      );
      expect(String((await told())['notes'])).to.include('payment_links could not be read');
    } finally {
      await em.rollback();
      await beside.em.fork().execute('delete from chain_cursors');
    }
  });

  it('say that writes are refused as long as they are, and no longer', async () => {
    const observed = observedBy(gateway);
    const reasons = async () => (await readiness(observed, new Date())).reasons;
    const { name } = database;
    const readOnly = async (to: string) => {
      await beside.em.fork().execute(`alter database ${name} ${to}`);
      await beside.em.fork().execute(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'gateway test health'`);
    };
    await readOnly('set default_transaction_read_only = on');
    await eventually('readiness that tells it', async () =>
      (await reasons()).some((reason) => reason.startsWith('PostgreSQL takes no writes: ')),
    );
    await beside.em.fork().execute(`begin; set transaction read write;
      alter database ${name} reset default_transaction_read_only; commit`);
    await eventually('readiness that is well', async () => (await reasons()).length === 0);
  });
});

describe('a shared answer', () => {
  it('is made once for all who ask meanwhile, and for a second after its beginning', async () => {
    const clock = { ms: 0 };
    let made = 0;
    let finish = () => {};
    const make = () =>
      new Promise<number>((resolve) => {
        made += 1;
        finish = () => resolve(made);
      });
    const ask = sharedResult(make, () => clock.ms);
    const asked = Array.from({ length: 50 }, () => ask());
    clock.ms = 400;
    finish();
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set([1]));
    clock.ms = 999;
    expect(await ask()).to.equal(1);
    clock.ms = 1_000;
    const next = ask();
    finish();
    expect(await next).to.equal(2);
  });
});
