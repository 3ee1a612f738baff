import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer, createPaymentLink } from '../../dev/support/use-cases.ts';
import { composeGateway, type Gateway } from '../../src/app/compose.ts';
import { migrate } from '../../src/app/migrate.ts';
import { type Doors, serveApi, serveWorker } from '../../src/app/serve.ts';
import { createLogger } from '../../src/base/log.ts';
import { createShutdown, type Shutdown } from '../../src/base/shutdown.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { call } from '../support/gateway.ts';
import { startGatewayChild } from '../support/gateway-child.ts';
import { openEvents } from '../support/http/event-stream.ts';

const xpubs = testXpubs();

/** Which door of a process tells what, and to whom. */
describe('the doors of a process', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let gateway: Gateway;
  const open: Shutdown[] = [];

  const configOf = (env: Record<string, string>) =>
    loadConfig(
      {
        PORT: '0',
        OPS_PORT: '0',
        LOG_LEVEL: 'silent',
        PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
        DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        PUBLIC_URL: 'https://pay.shop.test',
        SECRETS_KEY: SECRETS_KEY.toString('base64'),
        WALLET_XPUB_BSC: xpubs.live.bsc,
        WALLET_XPUB_TRON: xpubs.live.tron,
        ...env,
      },
      { role: 'api' },
    );
  const log = createLogger({ level: 'silent' });

  before(async () => {
    database = await freshDatabase();
    const environment = { databaseUrl: database.url, temporal: undefined, xpubs, secretsKey: SECRETS_KEY };
    gateway = await composeGateway({
      config: configOf({}),
      environment,
      log,
      name: 'test',
      poolSize: 4,
      observed: true,
    });
    await migrate(gateway.deps.orm);
  });
  afterEach(async () => {
    for (const shutdown of open.splice(0)) await shutdown.run('the end of a test');
  });
  after(async () => {
    await gateway?.close();
    await database?.drop();
  });

  async function doors(serve: typeof serveApi, env: Record<string, string>): Promise<Doors> {
    const shutdown = createShutdown({ log });
    open.push(shutdown);
    return await serve({ gateway, config: configOf(env), startedAt: new Date(), shutdown });
  }
  const statuses = async (origin: string) => {
    const paths = ['/health/live', '/health/ready', '/metrics'];
    return await Promise.all(paths.map(async (path) => (await call(`${origin}${path}`)).status));
  };
  const originOf = (url: string | null) => new URL(url ?? '').origin;

  it('keep figures and faults from the public in production: they have a port of their own', async () => {
    const { api, ops } = await doors(serveApi, { NODE_ENV: 'production' });
    expect(await statuses(originOf(api))).to.deep.equal([200, 404, 404]);
    expect((await statuses(ops)).filter((status) => status === 404)).to.deep.equal([]);
    expect(ops).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await call(`${ops}/metrics`)).text).to.contain('gateway_');
    expect((await call(`${ops}/api/v1/balance`)).status, 'the API at the operators').to.equal(404);
    const development = await doors(serveApi, { NODE_ENV: 'development' });
    for (const origin of [originOf(development.api), development.ops])
      expect((await statuses(origin)).filter((status) => status === 404)).to.deep.equal([]);
    const worker = await doors(serveWorker, { NODE_ENV: 'production' });
    expect([worker.api, await statuses(worker.ops)].flat()).to.not.include(404);
    expect(worker.api).to.equal(null);
  });

  const reaches = async (api: string | null, host: string): Promise<boolean> =>
    await fetch(`http://${host}:${new URL(api ?? '').port}/health/live`).then(
      () => true,
      () => false,
    );

  it('are open to this machine alone unless HOST or production says otherwise', async () => {
    const development = (await doors(serveApi, { NODE_ENV: 'development' })).api;
    const production = (await doors(serveApi, { NODE_ENV: 'production' })).api;
    const named = (await doors(serveApi, { NODE_ENV: 'production', HOST: '127.0.0.3' })).api;
    expect(named).to.match(/^http:\/\/127\.0\.0\.3:\d+\/api\/v1$/);
    // Every address of 127.0.0.0/8 is this machine's, and one
    // that is listened on alone does not answer for another.
    expect([await reaches(development, '127.0.0.1'), await reaches(development, '127.0.0.2')]).to.deep.equal([
      true,
      false,
    ]);
    expect([await reaches(production, '127.0.0.1'), await reaches(production, '127.0.0.2')]).to.deep.equal([
      true,
      true,
    ]);
    expect([await reaches(named, '127.0.0.3'), await reaches(named, '127.0.0.1')]).to.deep.equal([
      true,
      false,
    ]);
  });

  it('take a free port for a taken one outside production, and refuse in it with the name of the variable', async () => {
    const taken = new URL((await doors(serveApi, {})).ops).port;
    const { ops } = await doors(serveApi, { OPS_PORT: taken });
    expect(new URL(ops).port).to.not.equal(taken);
    const refusal = await doors(serveApi, { OPS_PORT: taken, NODE_ENV: 'production' }).catch(String);
    expect(refusal).to.match(/Port \d+ is taken.*OPS_PORT/s);
    const elsewhere = await doors(serveApi, { HOST: '203.0.113.1' }).catch(String);
    expect(elsewhere).to.match(/has the address 203\.0\.113\.1.*HOST/s);
  });

  it('are closed in good order while payers watch their links', async () => {
    const { deps } = gateway;
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    const names = { externalId: 'watched', email: null, name: null, metadata: {} };
    const { id } = await createCustomer(deps, { merchantId, mode: 'test', ...names });
    const terms = { merchantId, mode: 'test' as const, customerId: id, amountCents: 2_500n };
    const { link } = await createPaymentLink(deps, { ...terms, publicUrl: 'https://pay.shop.test' });
    const { api } = await doors(serveApi, {});
    const streams = await Promise.all(
      [1, 2, 3].map(() => openEvents(`${originOf(api)}/pay/${link.token}/live`)),
    );
    await Promise.all(streams.map((stream) => stream.view('a first view', () => true)));
    expect(await open.pop()?.run('a test')).to.equal(true);
    await eventually('the end of all', () => streams.every((stream) => stream.isEnded()));
  });

  it('are named by the ready line', async () => {
    const { child, ops } = await startGatewayChild(
      { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
      'api',
    );
    try {
      expect(ops).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await call(`${ops}/health/live`)).body).to.deep.equal({ live: true });
    } finally {
      await child.stop();
    }
  });
});
