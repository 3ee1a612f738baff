import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { HDNodeWallet, Mnemonic, Wallet } from 'ethers';
import { runCommand } from '../../dev/demo/gateway-process.ts';
import { createRandom } from '../../dev/random.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import type { Print } from '../../src/base/processes.ts';
import { NETWORKS, type Network } from '../../src/domain/assets.ts';
import { createWallet } from '../../src/signer/wallet-file.ts';
import { folderIn, gatewayRole, postgresServer, type Role, type Server, temporalServer } from '../servers.ts';
import { type Api, createApi, type Json } from './api.ts';
import { createBscChain } from './chains/bsc.ts';
import type { SoakChain } from './chains/chain.ts';
import { base58Of, createTronChain } from './chains/tron.ts';
import type { Customer, Destination } from './judge/records.ts';
import { addressAs } from './judge/truth.ts';
import { FIGURES } from './plan/amounts.ts';
import { MERCHANTS, type MerchantName, PAID_OUT, type Plan } from './plan/plan.ts';
import { ENDPOINTS, type Hook, type ReceiverName, startHooks } from './receivers.ts';

const ENTRY = join(import.meta.dirname, '../../src/bin.mjs');
const API_PATIENCE_MS = 120_000;
const PASSPHRASE = 'the passphrase of a soak';
/** Long enough that payouts wait for it, and short enough that they go on within the run. */
const NEW_DESTINATION_AFTER = '15s';
/** A comparison of balances may look five times, with minutes between. */
const COMMAND_WITHIN_MS = 15 * 60_000;
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;

/** `json` is empty where the command printed none, as where it was used wrongly. */
type Operated = { readonly status: number; readonly json: Json; readonly said: string };
type Keys = Readonly<Record<MerchantName, Readonly<Record<'live' | 'test', string>>>>;

/** Everything that runs. */
export type Stage = {
  readonly folder: string;
  readonly seed: string;
  readonly chains: readonly SoakChain[];
  readonly hooks: ReadonlyMap<ReceiverName, Hook>;
  readonly servers: readonly Server[];
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
  /** One command of the operator's command line. Never throws: a refusal is an answer. */
  operate(args: readonly string[]): Promise<Operated>;
  sql<T>(text: string, params?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
};

/** Makes the wallet that the seed of a run names, and the files that only its signer is given. */
async function makeWallet(seed: string, folder: string) {
  const { phrase } = Mnemonic.fromEntropy(`0x${createRandom(`wallet\n${seed}`).hex(32)}`);
  const own = folderIn(folder, 'wallet');
  const [file, passphrase] = [join(own, 'wallet.json'), join(own, 'passphrase')];
  writeFileSync(passphrase, `${PASSPHRASE}\n`, { mode: 0o600 });
  const { publicParts } = await createWallet({ file, passphrase: PASSPHRASE, phrase, now: new Date() });
  const { bsc, tron } = publicParts.gas;
  const signerEnv: NodeJS.ProcessEnv = {
    WALLET_SEED_FILE: file,
    WALLET_PASSPHRASE_FILE: passphrase,
    SIGN_JOURNAL_FILE: join(own, 'journal'),
    SIGN_NEW_DESTINATION_AFTER: NEW_DESTINATION_AFTER,
  };
  return {
    root: HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed()),
    gas: { bsc: addressAs('bsc', bsc), tron: addressAs('tron', tron) },
    signerEnv,
  };
}

function gatewayEnv(input: {
  databaseUrl: string;
  temporalAddress: string;
  chains: readonly SoakChain[];
  root: HDNodeWallet;
}): NodeJS.ProcessEnv {
  const xpub = (coin: number, account: number) =>
    input.root.derivePath(`44'/${coin}'/${account}'`).neuter().extendedKey;
  const figures = (which: 'minimum' | 'dustFloor' | 'settleMin') =>
    FIGURES.map((one) => `${one.name}=${one[which]}`).join(',');
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: input.databaseUrl,
    TEMPORAL_ADDRESS: input.temporalAddress,
    ...Object.assign({}, ...input.chains.map(({ env }) => env)),
    MIN_DEPOSIT: figures('minimum'),
    DUST_FLOOR: figures('dustFloor'),
    SETTLE_MIN: figures('settleMin'),
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

/** A merchant's own addresses, which nobody but the gateway pays, and the options that say so. */
export function newDestinations(seed: string, merchant: MerchantName, which: string) {
  const made = NETWORKS.map((network) => {
    const draws = createRandom(`the ${which} wallet of ${merchant} on ${network}\n${seed}`);
    const { address } = new Wallet(`0x${draws.hex(32)}`);
    return { network, address: network === 'tron' ? base58Of(address.slice(2)) : address.toLowerCase() };
  });
  return { made, options: made.flatMap(({ network, address }) => [`--withdraw-${network}`, address]) };
}

/** Each with keys; those who are paid out say where to. */
async function makeMerchants(env: NodeJS.ProcessEnv, seed: string) {
  const keys: Record<string, unknown> = {};
  const merchantIds: Record<string, string> = {};
  const destinations: Destination[] = [];
  for (const name of MERCHANTS) {
    const own = newDestinations(seed, name, 'first');
    const options = PAID_OUT.includes(name) ? own.options : [];
    const answer = await runCommand(['merchant', 'create', '--name', `Shop ${name}`, ...options], env);
    const merchantId = String(answer['merchant_id']);
    keys[name] = answer['keys'];
    merchantIds[name] = merchantId;
    if (options.length > 0)
      destinations.push(...own.made.map((one) => ({ ...one, merchantId, askedMs: 0, fromMs: 0 })));
  }
  return { keys: keys as Keys, merchantIds: merchantIds as Stage['merchantIds'], destinations };
}

async function register(api: Api, hooks: ReadonlyMap<ReceiverName, Hook>, keys: Keys): Promise<void> {
  for (const [name, { url, setSecret }] of hooks) {
    const { merchant, mode, events } = ENDPOINTS[name];
    const asked = { url, events };
    const { status, body } = await api.call('POST', '/webhook-endpoints', keys[merchant][mode], asked);
    if (status !== 201) throw new Error(`endpoint ${name} was answered ${status}: ${JSON.stringify(body)}`);
    setSecret(String(body['secret']));
  }
}

function operate(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Operated> {
  return new Promise((resolve) => {
    const options = { env, timeout: COMMAND_WITHIN_MS, maxBuffer: MAX_ANSWER_BYTES };
    execFile(process.execPath, [ENTRY, ...args, '--json'], options, (error, out, said) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const text = out.trim();
      resolve({ status, json: text.startsWith('{') ? (JSON.parse(text) as Json) : {}, said });
    });
  });
}

/** The chain of a run on this network. Throws where the run has none. */
export function chainOn({ chains }: Pick<Stage, 'chains'>, network: Network): SoakChain {
  const chain = chains.find((one) => one.network === network);
  if (!chain) throw new Error(`this run has no chain on ${network}`);
  return chain;
}

type StageInput = {
  readonly plan: Plan;
  readonly folder: string;
  readonly devServer: boolean;
  readonly log: Print;
  /** Gives each wallet that pays for gas coins for a few payouts, before anything is paid. */
  readonly fund: (stage: Pick<Stage, 'chains' | 'gas'>) => Promise<void>;
};

/** Starts every part, makes merchants and endpoints. All of it ends with `stop`, or with this process. */
export async function setStage({ plan, folder, devServer, log, fund }: StageInput): Promise<Stage> {
  const { seed } = plan;
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan, null, 1));
  const chainInput = (network: Network) => ({
    folder: folderIn(folder, `chain-${network}`),
    random: createRandom(`senders on ${network}\n${seed}`),
    log,
  });
  const chains = [await createBscChain(chainInput('bsc')), await createTronChain(chainInput('tron'))];
  const hooks = await startHooks(seed);
  const postgres = await postgresServer(folder, log);
  const temporal = await temporalServer({ folder, postgresUrl: postgres.url, devServer, log });
  const { root, gas, signerEnv } = await makeWallet(seed, folder);
  await fund({ chains, gas });
  const env = gatewayEnv({ databaseUrl: postgres.url, temporalAddress: temporal.address, chains, root });
  await runCommand(['migrate'], env);
  const made = await makeMerchants(env, seed);
  log('starting the gateway: api, worker-1, worker-2 and signer');
  const roles = [
    await gatewayRole({ name: 'api', role: 'api', folder, env }),
    await gatewayRole({ name: 'worker-1', role: 'worker', folder, env }),
    await gatewayRole({ name: 'worker-2', role: 'worker', folder, env }),
    await gatewayRole({ name: 'signer', role: 'signer', folder, env: { ...env, ...signerEnv } }),
  ];
  const api = createApi(roles[0]?.api ?? '', API_PATIENCE_MS);
  await register(api, hooks, made.keys);
  const discovery = { warnWhenNoEntities: false };
  const orm = await MikroORM.init({ clientUrl: postgres.url, entities: [], discovery });
  const servers: readonly Server[] = [...roles, temporal, postgres];
  return {
    ...made,
    folder,
    seed,
    chains,
    hooks,
    servers,
    roles,
    api,
    root,
    gas,
    customers: [],
    operate: (args) => operate(args, env),
    sql: (text, params = []) => orm.em.fork().execute(text, params),
    stop: async () => {
      await orm.close(true);
      for (const server of servers) await server.stop();
      for (const hook of hooks.values()) await hook.stop();
      for (const chain of chains) await chain.stop();
    },
  };
}
