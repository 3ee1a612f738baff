import { MikroORM } from '@mikro-orm/postgresql';
import { runCommand } from '../../dev/demo/gateway-process.ts';
import { startTestChain } from '../../dev/support/chain.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createApi } from '../soak/api.ts';
import { folderIn, gatewayRole, postgresServer, temporalServer } from '../servers.ts';

const MIGHT_BE_AWAY_MS = 60_000;
const silent = () => undefined;

export type CostStage = Awaited<ReturnType<typeof setCostStage>>;

/** A chain, the two databases' server, Temporal, a receiver and the gateway in two roles, each by itself. */
export async function setCostStage(folder: string) {
  const chain = await startTestChain();
  const postgres = await postgresServer(folder, silent);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer: false, log: silent });
  const { live, test } = testXpubs();
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    BSC_RPC_URLS: chain.url,
    BSC_USDT_CONTRACT: chain.usdt.address,
    WALLET_XPUB_BSC: live.bsc,
    WALLET_XPUB_TRON: live.tron,
    WALLET_XPUB_TEST_BSC: test.bsc,
    WALLET_XPUB_TEST_TRON: test.tron,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
  };
  await runCommand(['migrate'], env);
  const merchant = await runCommand(['merchant', 'create', '--name', 'Shop'], env);
  const receiver = await startReceiver({});
  const api = await gatewayRole({ name: 'api', role: 'api', folder: folderIn(folder, 'roles'), env });
  const worker = await gatewayRole({
    name: 'worker-1',
    role: 'worker',
    folder: folderIn(folder, 'roles'),
    env,
  });
  // One connection, whose process is left out of the figures.
  const own = { pool: { min: 1, max: 1 }, discovery: { warnWhenNoEntities: false } };
  const orm = await MikroORM.init({ clientUrl: postgres.url, entities: [], ...own });
  return {
    chain,
    receiver,
    postgres,
    temporal,
    api,
    worker,
    client: createApi(api.api, MIGHT_BE_AWAY_MS),
    key: (merchant['keys'] as { live: string }).live,
    sql: <T>(text: string) => orm.em.fork().execute<T[]>(text),
    stop: async () => {
      await orm.close(true);
      for (const part of [api, worker, temporal, postgres]) await part.stop();
      await receiver.stop();
      await chain.stop();
    },
  };
}
