import { expect } from 'chai';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { composeGateway, type Gateway } from '../../src/app/compose.ts';
import { migrate } from '../../src/app/migrate.ts';
import { type Doors, serveApi, serveWorker } from '../../src/app/serve.ts';
import { createLogger } from '../../src/base/log.ts';
import { createShutdown, type Shutdown } from '../../src/base/shutdown.ts';
import { loadConfig } from '../../src/config/index.ts';
import { call } from '../support/gateway.ts';

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
});
