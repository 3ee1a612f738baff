// A gateway's own wiring around the reader of one chain, with one customer.
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { activityDepsOf, composeGateway } from '../../src/app/compose.ts';
import { migrate } from '../../src/app/migrate.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { Network } from '../../src/domain/assets.ts';
import { newCustomer, newShop } from '../deps.ts';

/** Makes them in a database that may be empty; `env` says how the chain is reached. */
export async function watchedChain(network: Network, databaseUrl: string, env: NodeJS.ProcessEnv) {
  const config = loadConfig({ PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1', ...env }, { role: 'tool' });
  const log = createLogger({ level: 'error' });
  const environment = { databaseUrl, temporal: undefined, xpubs: testXpubs(), secretsKey: SECRETS_KEY };
  const gateway = await composeGateway({ config, environment, log, name: 'bench', poolSize: 5 });
  await migrate(gateway.deps.orm);
  const customer = await newCustomer(gateway.deps, await newShop(gateway.deps), 'c');
  const stopping = new AbortController();
  const deps = activityDepsOf(gateway, stopping.signal);
  const chain = deps.chains.get(network);
  if (!chain) throw new Error(`${network} is off`);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('measured'));
    await gateway.close();
  };
  return { deps, chain, customer, signal: stopping.signal, stop };
}
