// A followed chain without Temporal: a real node, a proxy that can
// misbehave, a real database, and looks that a test takes one by one.

import { HDNodeWallet } from 'ethers';
import { startTestChain, TEST_CHAIN_ID, type TestChain } from '../../../dev/support/chain.ts';
import {
  type Fault,
  type FaultProxy,
  type RpcCall,
  startFaultProxy,
} from '../../../dev/support/fault-proxy.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import { firstBlockSince } from '../../../src/chains/first-block.ts';
import type { ChainReader } from '../../../src/chains/reader.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';
import type { Mode } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { type PassStep, reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { openCursor } from '../../../src/services/watcher/cursor.ts';
import { type Poll, pollChain } from '../../../src/services/watcher/poll.ts';
import type { WatchedChain } from '../../../src/services/watcher/watched-chain.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';

export type Row = Record<string, unknown>;
export type TestWatcher = {
  readonly chain: TestChain;
  /** The endpoint that is preferred; `others` are the further ones. */
  readonly proxy: FaultProxy;
  readonly others: readonly FaultProxy[];
  readonly api: TestApi;
  readonly deps: Deps;
  readonly watchedChain: WatchedChain;
  readonly reader: ChainReader;
  newReader(): ChainReader;
  /** What a watcher that starts now has: nothing but the database. */
  restart(): void;
  readonly seen: { foundLate: number; differences: bigint[]; heights: number };
  /** A customer's address on BNB Chain, lower-case. */
  newAddress(mode?: Mode): Promise<string>;
  /** Looks until nothing is behind; returns what the looks found together. */
  catchUp(): Promise<Poll>;
  /** Mines so many blocks that all before is final (five where finality is near), and follows them. */
  finish(): Promise<void>;
  /** One whole round of the reconciliation; the clock of the round is moved so that it is always due. */
  reconcile(): Promise<PassStep>;
  deposits(address: string): Promise<Row[]>;
  rows(sql: string, params?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

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

/** Keys of a phrase of its own: the development phrase's addresses are the node's rich accounts. */
function ownXpubs(): Deps['xpubs'] {
  const root = HDNodeWallet.fromPhrase(
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
    undefined,
    'm',
  );
  const xpub = (coin: number, account: number) =>
    root.derivePath(`44'/${coin}'/${account}'`).neuter().extendedKey;
  return { live: { bsc: xpub(60, 0), tron: xpub(195, 0) }, test: { bsc: xpub(60, 1), tron: xpub(195, 1) } };
}

const nothingLoaded = (): WatchedChain['watched'] => ({
  network: 'bsc',
  index: new AddressSet(),
  loadedXid: '0',
});

function noting(seen: TestWatcher['seen']): NonNullable<WatchedChain['report']> {
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

/** Makes a customer at each call, and tells that one's address. */
function addressesOf(api: TestApi, deps: Deps): TestWatcher['newAddress'] {
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
    return made.addresses.find((entry) => entry.network === 'bsc')?.address.toLowerCase() ?? '';
  };
}

async function pollToHead(deps: Deps, followed: WatchedChain): Promise<Poll> {
  for (let looks = 0; looks < 500; looks++) {
    const look = await pollChain(deps, followed, signal);
    if (!look.behind) return look;
  }
  throw new Error('the chain is never caught up');
}

async function wholePass(deps: Deps, followed: WatchedChain): Promise<PassStep> {
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
};

/**
 * Starts everything; `fault` is in place before the first
 * call. Finality is twice `slotsInAnEpoch` (1) below the head.
 */
export async function startTestWatcher(options: TestWatcherOptions = {}): Promise<TestWatcher> {
  const { slotsInAnEpoch = 1 } = options;
  const chain = await startTestChain({ slotsInAnEpoch });
  const proxy = await startFaultProxy(chain.url);
  proxy.fault = options.fault;
  const others = await Promise.all(
    Array.from({ length: options.others ?? 0 }, () => startFaultProxy(chain.url)),
  );
  const api = await startTestApi();
  const contracts = { ...api.deps.settings.contracts, bsc: chain.usdt.address };
  const deps: Deps = {
    ...api.deps,
    ...(options.now ? { now: options.now } : {}),
    settings: { ...api.deps.settings, ...options.settings, contracts },
    xpubs: ownXpubs(),
  };
  await chain.mine(3);
  const rpc = createRpcPool({
    name: 'bsc',
    urls: [proxy, ...others].map(({ url }) => url),
    chainId: TEST_CHAIN_ID,
    timeoutMs: 3_000,
  });
  const newReader = () => createBscReader({ rpc, usdtContract: chain.usdt.address });
  const reader = newReader();
  const seen: TestWatcher['seen'] = { foundLate: 0, differences: [], heights: 0 };
  const watchedChain: { -readonly [K in keyof WatchedChain]: WatchedChain[K] } = {
    reader,
    watched: nothingLoaded(),
    report: noting(seen),
    pace: { everyMs: 0, batchAddresses: options.batchAddresses ?? 100 },
  };
  const rows = async (sql: string, params: unknown[] = []) =>
    await deps.orm.em.fork().execute<Row[]>(sql, params);
  const follow = async (): Promise<Poll> => {
    await openCursor(deps, reader, firstBlockSince, signal);
    return await pollToHead(deps, watchedChain);
  };
  return {
    chain,
    proxy,
    others,
    api,
    deps,
    watchedChain,
    reader,
    newReader,
    seen,
    catchUp: follow,
    rows,
    restart: () => {
      watchedChain.reader = newReader();
      watchedChain.watched = nothingLoaded();
      watchedChain.wakeFor = '';
    },
    newAddress: addressesOf(api, deps),
    finish: async () => {
      await chain.mine(3 + 2 * slotsInAnEpoch);
      await follow();
    },
    reconcile: () => wholePass(deps, watchedChain),
    deposits: (address) =>
      rows('select * from deposits where address_key = ? order by created_at, id', [address.slice(2)]),
    stop: async () => {
      await api.stop();
      await Promise.all([proxy, ...others].map((one) => one.stop()));
      await chain.stop();
    },
  };
}
