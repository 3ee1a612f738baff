import { startTestChain } from '../../dev/support/chain.ts';
import { tronEnv } from '../../dev/support/live-chains.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { migratedDatabase, ownTemporal, stopParts, tempDir } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import { openOrm } from '../../src/db/orm.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf } from '../bench-deps.ts';
import { gatewayRole } from '../servers.ts';

const CUSTOMERS = 500;
const SOLID_DISTANCE = 19;

export type IdleStage = Awaited<ReturnType<typeof setIdleStage>>;

/** Both chains, the servers, customers, and a worker as a process of its own that watches both. */
export async function setIdleStage() {
  const [chain, node, temporal, database] = await Promise.all([
    startTestChain(),
    startTron(),
    ownTemporal(),
    migratedDatabase(),
  ]);
  const orm = await openOrm({
    url: database.url,
    poolSize: 2,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  const deps: Deps = { ...depsOf(orm), xpubs: testXpubs() };
  await makeCustomers(deps);
  const { live, test } = testXpubs();
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.now.address,
    BSC_RPC_URLS: chain.url,
    BSC_USDT_CONTRACT: chain.usdt.address,
    ...tronEnv(node),
    // As for a free key, and as many confirmations as on the main net.
    TRON_CONFIRMATIONS: '19',
    TRON_REQUESTS_PER_SECOND: '15',
    TRON_REQUESTS_PER_DAY: '100000',
    WALLET_XPUB_BSC: live.bsc,
    WALLET_XPUB_TRON: live.tron,
    WALLET_XPUB_TEST_BSC: test.bsc,
    WALLET_XPUB_TEST_TRON: test.tron,
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
  };
  const folder = await tempDir('roles');
  const worker = await gatewayRole({ name: 'worker-1', role: 'worker', folder, env });
  return {
    chain,
    node,
    deps,
    worker,
    stop: async () => {
      await worker.stop();
      await orm.close(true);
      await Promise.all([chain.stop(), node.stop(), temporal.stop()]);
      await stopParts();
    },
  };
}

/** At its pace on the main net. The token is there in the final block too, as the reconciliation expects. */
async function startTron(): Promise<TronNode> {
  const node = await startTronNode({ blockTimeMs: 3_000, solidDistance: SOLID_DISTANCE });
  await node.mine(SOLID_DISTANCE + 1);
  return node;
}

async function makeCustomers(deps: Deps): Promise<void> {
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'live' as const };
  for (let index = 0; index < CUSTOMERS; index += 1)
    await createCustomer(deps, {
      ...scope,
      externalId: `user-${index}`,
      email: null,
      name: null,
      metadata: {},
    });
}
