// A followed chain without Temporal: a real node, a proxy that can
// misbehave, a real database, and looks that a test takes one by one.

import { setTimeout } from 'node:timers/promises';
import { HDNodeWallet } from 'ethers';
import { startTestChain, TEST_CHAIN_ID } from '../../../dev/support/chain.ts';
import {
  type Fault,
  type FaultProxy,
  type RpcCall,
  startFaultProxy,
} from '../../../dev/support/fault-proxy.ts';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import { createTracer } from '../../../src/chains/bsc/traces/tracer.ts';
import { firstBlockSince } from '../../../src/chains/first-block.ts';
import type { ChainReader } from '../../../src/chains/reader.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';
import type { Mode, Network } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { type PassStep, reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { openCursor } from '../../../src/services/watcher/cursor.ts';
import { type Poll, pollChain } from '../../../src/services/watcher/poll.ts';
import type { WatchedChain } from '../../../src/services/watcher/watched-chain.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';

export type Row = Record<string, unknown>;
export type TestWatcher = Awaited<ReturnType<typeof startTestWatcher>>;
type Rows = (sql: string, params?: unknown[]) => Promise<Row[]>;
type Seen = { foundLate: number; differences: bigint[]; heights: number };

/** A node that does not have these methods. */
export const without =
  (...methods: string[]): Fault =>
  (call: RpcCall) =>
    methods.includes(call.method)
      ? {
          json: {
            jsonrpc: '2.0',
            id: call.id,
            error: { code: -32601, message: 'the method does not exist/is not available' },
          },
        }
      : undefined;
export const NO_TRACES = [
  'trace_block',
  'debug_traceBlockByHash',
  'trace_transaction',
  'debug_traceTransaction',
] as const;
/** Whether it asks for a trace. */
export const isTrace = (call: RpcCall): boolean => (NO_TRACES as readonly string[]).includes(call.method);
/** A node that has these methods, and no time for them. */
export const refusesTraces: Fault = (call) =>
  isTrace(call) ? { status: 500, body: 'overloaded' } : undefined;

const { signal } = new AbortController();
/** Longer than an endpoint's word on what is final counts, and than one that gave none is left alone. */
const WORD_MS = 12_000;
const FINAL_POLL_MS = 25;

/** A phrase of its own: the development phrase's addresses are the node's rich accounts. */
export const OWN_PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const own = HDNodeWallet.fromPhrase(OWN_PHRASE, undefined, 'm');
const accountOf = (coin: number, account: number): HDNodeWallet => own.derivePath(`44'/${coin}'/${account}'`);

/** The public parts from which addresses of customers are made. */
export function ownXpubs(): Deps['xpubs'] {
  const xpub = (coin: number, account: number) => accountOf(coin, account).neuter().extendedKey;
  return { live: { bsc: xpub(60, 0), tron: xpub(195, 0) }, test: { bsc: xpub(60, 1), tron: xpub(195, 1) } };
}

/** The private key of a customer's address, hex without 0x. Throws for any other. */
export function ownKey(network: Network, addressKey: AddressKey): string {
  const external = accountOf(network === 'tron' ? 195 : 60, 0).deriveChild(0);
  for (let index = 0; index < 1_000; index += 1) {
    const { address, privateKey } = external.deriveChild(index);
    if (keyOfHex(address, 2) === addressKey) return privateKey.slice(2);
  }
  throw new Error(`${addressKey} is no address of ours`);
}

/** The addresses of a watcher that starts now. */
const nothingLoaded = (network: Network): WatchedChain['watched'] => ({
  network,
  index: new AddressSet(),
  loadedXid: '0',
});

/** Notes what a watcher reports. */
function noting(seen: Seen): NonNullable<WatchedChain['report']> {
  return {
    foundLate: ({ deposits }) => {
      seen.foundLate += deposits;
    },
    difference: ({ units }) => seen.differences.push(units),
    heights: ({ scanned }) => {
      seen.heights = scanned;
    },
  };
}

/** What a watcher keeps in memory, as a test changes it. */
export type Watched = { -readonly [K in keyof WatchedChain]: WatchedChain[K] };

/** A watcher that has just started. A round of the reconciliation is always due. */
export function watchedBy(
  reader: ChainReader,
  seen: Seen,
  { batchAddresses = 100, lookAgainMs }: { batchAddresses?: number; lookAgainMs?: number } = {},
): Watched {
  return {
    reader,
    watched: nothingLoaded(reader.network),
    report: noting(seen),
    pace: { everyMs: 0, batchAddresses, ...(lookAgainMs === undefined ? {} : { lookAgainMs }) },
  };
}

/** Leaves a watcher nothing but the database. */
export function startAnew(watched: Watched, reader: ChainReader): void {
  watched.reader = reader;
  watched.watched = nothingLoaded(reader.network);
  watched.wakeFor = '';
}

/** Asks the database. */
export const rowsOf =
  (deps: Deps): Rows =>
  async (sql, params = []) =>
    await deps.orm.em.fork().execute<Row[]>(sql, params);

/** Makes a customer at each call, and tells that one's address as the chain shows it. */
export function addressesOf(api: TestApi, deps: Deps, network: Network): (mode?: Mode) => Promise<string> {
  let count = 0;
  return async (mode = 'live') => {
    count += 1;
    const made = await createCustomer(deps, {
      merchantId: api.merchant.id,
      mode,
      externalId: `user-${mode}-${count}`,
      email: null,
      name: null,
      metadata: {},
    });
    return made.addresses.find((entry) => entry.network === network)?.address ?? '';
  };
}

/** Polls until nothing is behind. */
export async function pollToHead(deps: Deps, followed: WatchedChain): Promise<Poll> {
  for (let looks = 0; looks < 500; looks++) {
    const look = await pollChain(deps, followed, signal);
    if (!look.behind) return look;
  }
  throw new Error('the chain is never caught up');
}

type Following = {
  readonly catchUp: () => Promise<Poll>;
  /** What the node itself calls final. */
  readonly finalNumber: number;
  readonly endpoints: readonly { readonly fault: unknown }[];
};

/**
 * Polls until what the node calls final is read twice. On a busy machine a second endpoint may say too late
 * what it calls final, and an older word of it counts meanwhile. Where a test has an endpoint err, one round
 * of polls is all.
 */
export async function pollToFinal({ catchUp, finalNumber, endpoints }: Following): Promise<void> {
  for (const until = Date.now() + WORD_MS; ; ) {
    const { cursor } = await catchUp();
    if (cursor.verifiedNumber >= finalNumber || endpoints.some(({ fault }) => fault !== undefined)) return;
    if (Date.now() > until) return;
    await setTimeout(FINAL_POLL_MS);
  }
}

/** One whole pass of the reconciliation. */
export async function wholePass(deps: Deps, followed: WatchedChain): Promise<PassStep> {
  const pace = followed.pace ?? { everyMs: 0, batchAddresses: 100 };
  for (let steps = 0; steps < 100; steps++) {
    const step = await reconcileStep(deps, followed, pace, signal);
    if (step.did !== 'compared') return step;
  }
  throw new Error('the round never ends');
}

export type TestWatcherOptions = {
  readonly fault?: Fault;
  readonly batchAddresses?: number;
  readonly slotsInAnEpoch?: number;
  readonly others?: number;
  readonly settings?: Partial<Deps['settings']>;
  readonly now?: () => Date;
  /** For how long an endpoint that fails is left alone at most; unset means as in production. */
  readonly longestRestMs?: number;
};

/** The services over a chain's own token, with keys of its own. */
export function depsOver(
  api: TestApi,
  token: Partial<Deps['settings']['contracts']>,
  { settings, now }: Pick<TestWatcherOptions, 'settings' | 'now'>,
): Deps {
  const contracts = { ...api.deps.settings.contracts, ...token };
  return {
    ...api.deps,
    ...(now ? { now } : {}),
    settings: { ...api.deps.settings, ...settings, contracts },
    xpubs: ownXpubs(),
  };
}

/** Makes readers over these endpoints, each with a pool of its own. */
function readersOver(
  proxies: readonly FaultProxy[],
  usdtContract: string,
  { longestRestMs }: TestWatcherOptions,
): () => ChainReader {
  const urls = proxies.map(({ url }) => url);
  const settings = { name: 'bsc', urls, chainId: TEST_CHAIN_ID, timeoutMs: 30_000, longestRestMs };
  return () =>
    createBscReader({
      rpc: createRpcPool(settings),
      usdtContract,
      tracer: createTracer({ timeoutMs: settings.timeoutMs }),
    });
}

/**
 * Starts everything; `fault` is in place before the first
 * call. Finality is twice `slotsInAnEpoch` (1) below the head.
 */
export async function startTestWatcher(options: TestWatcherOptions = {}) {
  const { slotsInAnEpoch = 1, others: further = 0 } = options;
  const chain = await startTestChain({ slotsInAnEpoch });
  const proxy = await startFaultProxy(chain.url);
  proxy.fault = options.fault;
  const others = await Promise.all(Array.from({ length: further }, () => startFaultProxy(chain.url)));
  const api = await startTestApi({ deps: { secretBox: createSecretBox(SECRETS_KEY) } });
  const deps = depsOver(api, { bsc: chain.usdt.address }, options);
  await chain.mine(3);
  const newReader = readersOver([proxy, ...others], chain.usdt.address, options);
  const reader = newReader();
  const seen: Seen = { foundLate: 0, differences: [], heights: 0 };
  const watchedChain = watchedBy(reader, seen, options);
  const addressOf = addressesOf(api, deps, 'bsc');
  const rows = rowsOf(deps);
  const catchUp = async (): Promise<Poll> => {
    await openCursor(deps, reader, firstBlockSince, signal);
    return await pollToHead(deps, watchedChain);
  };
  return {
    chain,
    /** The endpoint that is preferred; `others` are the further ones. */
    proxy,
    others,
    api,
    deps,
    watchedChain,
    reader,
    newReader,
    seen,
    /** Looks until nothing is behind; returns what the looks found together. */
    catchUp,
    rows,
    /** What a watcher that starts now has: nothing but the database. */
    restart: () => startAnew(watchedChain, newReader()),
    /** A customer's address on BNB Chain, lower-case. */
    newAddress: async (mode?: Mode) => (await addressOf(mode)).toLowerCase(),
    /** Mines so many blocks that all before is final (five where finality is near), and follows them. */
    finish: async () => {
      await chain.mine(3 + 2 * slotsInAnEpoch);
      const final = await chain.anvil.rpc('eth_getBlockByNumber', ['finalized', false]);
      const finalNumber = Number.parseInt((final as { number: string }).number, 16);
      await pollToFinal({ catchUp, finalNumber, endpoints: [proxy, ...others] });
    },
    /** One whole round of the reconciliation; the clock of the round is moved so that it is always due. */
    reconcile: () => wholePass(deps, watchedChain),
    deposits: (address: string) =>
      rows('select * from deposits where address_key = ? order by created_at, id', [address.slice(2)]),
    stop: async () => {
      await api.stop();
      await Promise.all([proxy, ...others].map((one) => one.stop()));
      await chain.stop();
    },
  };
}
