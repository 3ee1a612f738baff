import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import type { HDNodeWallet } from 'ethers';
import { runCommand } from '../../dev/demo/gateway-process.ts';
import { createRandom } from '../../dev/random.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import type { Print } from '../../src/base/processes.ts';
import type { Network } from '../../src/domain/assets.ts';
import { type Api, createApi } from './api.ts';
import { createBscChain } from './bsc/chain.ts';
import type { SoakChain } from './chain.ts';
import { fundFirst } from './gas.ts';
import { type Operated, operate } from './operator.ts';
import { FIGURES } from './plan/amounts.ts';
import { MERCHANTS, type MerchantName, PAID_OUT, type Plan, type ReceiverName } from './plan/plan.ts';
import { VICTIMS, type Victim } from './plan/plan-troubles.ts';
import { ENDPOINTS, type Hook, startHooks } from './receivers.ts';
import { folderIn, gatewayRole, postgresServer, type Role, type Server, temporalServer } from './servers.ts';
import { createTronChain } from './tron/chain.ts';
import { type Destination, makeWallet, newDestinations } from './wallets.ts';

const API_PATIENCE_MS = 120_000;

/** Who is paid: made by the API, known to the run by the number of the plan. */
export type Customer = {
  readonly number: number;
  readonly merchant: MerchantName;
  readonly mode: 'live' | 'test';
  readonly externalId: string;
  readonly id: string;
  /** By network, as the API showed them; the one of BNB Chain in lower case. */
  readonly addresses: Readonly<Record<Network, string>>;
};

export type Keys = Readonly<Record<MerchantName, Readonly<Record<'live' | 'test', string>>>>;

/** Everything that runs. */
export type Stage = {
  readonly folder: string;
  readonly seed: string;
  readonly chains: readonly SoakChain[];
  readonly hooks: ReadonlyMap<ReceiverName, Hook>;
  readonly servers: ReadonlyMap<Victim, Server>;
  readonly roles: readonly Role[];
  readonly api: Api;
  readonly keys: Keys;
  readonly merchantIds: Readonly<Record<MerchantName, string>>;
  readonly customers: Customer[];
  /**
   * The seed from which the gateway's addresses come; the
   * gateway itself knows only the public keys of its accounts.
   */
  readonly root: HDNodeWallet;
  /** The wallets that pay for gas, by network, as the run writes addresses. */
  readonly gas: Readonly<Record<Network, string>>;
  /** Where merchants are paid out, in the order in which that was said. */
  readonly destinations: Destination[];
  /**
   * One command of the operator's command line, against this run's
   * gateway: its exit status, its JSON answer and what it said.
   */
  operate(args: readonly string[]): Promise<Operated>;
  sql<T>(text: string, params?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
};

type GatewayPlace = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly chains: readonly SoakChain[];
  readonly root: HDNodeWallet;
};

function gatewayEnv(input: GatewayPlace): NodeJS.ProcessEnv {
  const xpub = (coin: number, account: number) =>
    input.root.derivePath(`44'/${coin}'/${account}'`).neuter().extendedKey;
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: input.databaseUrl,
    TEMPORAL_ADDRESS: input.temporalAddress,
    ...Object.assign({}, ...input.chains.map(({ env }) => env)),
    MIN_DEPOSIT: FIGURES.map(({ name, minimum }) => `${name}=${minimum}`).join(','),
    DUST_FLOOR: FIGURES.map(({ name, dustFloor }) => `${name}=${dustFloor}`).join(','),
    SETTLE_MIN: FIGURES.map(({ name, settleMin }) => `${name}=${settleMin}`).join(','),
    SETTLE_MAX_FEE_PERCENT: '100',
    SETTLE_EVERY: '0',
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    WALLET_XPUB_BSC: xpub(60, 0),
    WALLET_XPUB_TRON: xpub(195, 0),
    WALLET_XPUB_TEST_BSC: xpub(60, 1),
    WALLET_XPUB_TEST_TRON: xpub(195, 1),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
  };
}

/** Each with keys; those who are paid out say where to. */
async function makeMerchants(
  env: NodeJS.ProcessEnv,
  seed: string,
): Promise<Pick<Stage, 'keys' | 'merchantIds' | 'destinations'>> {
  const keys: Partial<Record<MerchantName, Keys['A']>> = {};
  const merchantIds: Partial<Record<MerchantName, string>> = {};
  const destinations: Destination[] = [];
  for (const name of MERCHANTS) {
    const own = PAID_OUT.includes(name) ? newDestinations({ seed }, name, 'first') : [];
    const options = own.flatMap(({ network, address }) => [`--withdraw-${network}`, address]);
    const made = await runCommand(['merchant', 'create', '--name', `Shop ${name}`, ...options], env);
    const merchantId = String(made['merchant_id']);
    keys[name] = made['keys'] as Keys['A'];
    merchantIds[name] = merchantId;
    destinations.push(...own.map((one) => ({ ...one, merchantId, askedMs: 0, fromMs: 0 })));
  }
  return { keys: keys as Keys, merchantIds: merchantIds as Stage['merchantIds'], destinations };
}

async function register(api: Api, hooks: ReadonlyMap<ReceiverName, Hook>, keys: Keys): Promise<void> {
  for (const [name, hook] of hooks) {
    const { merchant, mode, events } = ENDPOINTS[name];
    const { status, body } = await api.call('POST', '/webhook-endpoints', keys[merchant][mode], {
      url: hook.url,
      events,
    });
    if (status !== 201)
      throw new Error(`the endpoint ${name} was answered ${status}: ${JSON.stringify(body)}`);
    hook.setSecret(String(body['secret']));
  }
}

function victimsAmong(servers: readonly Server[]): ReadonlyMap<Victim, Server> {
  return new Map(
    VICTIMS.flatMap((victim) =>
      servers.filter((server) => server.name === victim).map((server) => [victim, server]),
    ),
  );
}

/** The chain of a run on this network. Throws where the run has none. */
export function chainOn({ chains }: Pick<Stage, 'chains'>, network: Network): SoakChain {
  const chain = chains.find((one) => one.network === network);
  if (!chain) throw new Error(`this run has no chain on ${network}`);
  return chain;
}

async function startChains(seed: string, folder: string, log: Print): Promise<SoakChain[]> {
  const input = (network: Network, label: string) => ({
    folder: folderIn(folder, `chain-${network}`),
    random: createRandom(`${label}\n${seed}`),
    log,
  });
  return [
    await createBscChain(input('bsc', 'senders')),
    await createTronChain(input('tron', 'senders on tron')),
  ];
}

/** Starts every part, makes merchants and endpoints. All of it ends with `stop`, or with this process. */
export async function setStage(input: {
  plan: Plan;
  folder: string;
  devServer: boolean;
  log: (line: string) => void;
}): Promise<Stage> {
  const { plan, folder, devServer, log } = input;
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan, null, 1));
  const chains = await startChains(plan.seed, folder, log);
  const hooks = await startHooks(plan.seed);
  const postgres = await postgresServer(folder, log);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer, log });
  const { root, gas, env: signerEnv } = await makeWallet(plan.seed, folder);
  await fundFirst({ chains, gas });
  const env = gatewayEnv({
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    chains,
    root,
  });
  await runCommand(['migrate'], env);
  const { keys, merchantIds, destinations } = await makeMerchants(env, plan.seed);
  log('starting the gateway: api, worker-1, worker-2 and signer');
  const apiRole = await gatewayRole({ name: 'api', role: 'api', folder, env });
  const workers = [
    await gatewayRole({ name: 'worker-1', role: 'worker', folder, env }),
    await gatewayRole({ name: 'worker-2', role: 'worker', folder, env }),
  ];
  const signer = await gatewayRole({ name: 'signer', role: 'signer', folder, env: { ...env, ...signerEnv } });
  const api = createApi(apiRole.api, API_PATIENCE_MS);
  await register(api, hooks, keys);
  const orm = await MikroORM.init({
    clientUrl: postgres.url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
  });
  const roles = [apiRole, ...workers, signer];
  const all: readonly Server[] = [...roles, temporal, postgres];
  return {
    folder,
    chains,
    hooks,
    roles,
    api,
    keys,
    merchantIds,
    destinations,
    customers: [],
    seed: plan.seed,
    root,
    gas,
    servers: victimsAmong(all),
    operate: (args) => operate(args, env),
    sql: (text, params = []) => orm.em.fork().execute(text, params),
    stop: async () => {
      await orm.close(true);
      for (const server of all) await server.stop();
      for (const hook of hooks.values()) await hook.stop();
      for (const chain of chains) await chain.stop();
    },
  };
}
