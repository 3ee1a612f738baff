// A chain of Tron that is watched without Temporal: a node, addresses of it that can misbehave, a real
// database, and polls that a test takes one by one.
import type { TronEndpoint } from '../../../../dev/tron/http/endpoint.ts';
import { startTronNode, type TronNodeOptions } from '../../../../dev/tron/node.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { firstBlockSince } from '../../../../src/chains/first-block.ts';
import type { ChainReader } from '../../../../src/chains/reader.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import { type Budget, createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis, type Genesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool } from '../../../../src/chains/tron/protocol.ts';
import { createTronReader } from '../../../../src/chains/tron/reader.ts';
import {
  createTronSpending,
  type TronSpendingOptions,
} from '../../../../src/chains/tron/spending/spending.ts';
import type { Mode } from '../../../../src/domain/assets.ts';
import type { Deps } from '../../../../src/services/deps.ts';
import { noteFault, openCursor } from '../../../../src/services/watcher/cursor.ts';
import { type Poll, pollChain } from '../../../../src/services/watcher/poll.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';
import { startTestApi } from '../../../support/gateway.ts';
import {
  addressesOf,
  depsOver,
  pollToFinal,
  pollToHead,
  rowsOf,
  startAnew,
  type TestWatcher,
  watchedBy,
  wholePass,
} from '../test-watcher.ts';

export type TronWatcher = Awaited<ReturnType<typeof startTronWatcher>>;

export type TronWatcherOptions = TronNodeOptions & {
  readonly others?: number;
  readonly readsAllAgain?: boolean;
  readonly settings?: Partial<Deps['settings']>;
  readonly now?: () => Date;
  /** Sent with every request; the node itself demands none. */
  readonly apiKey?: string;
  readonly timeoutMs?: number;
  /** The limit of an answer; unset means that of every pool. */
  readonly maxResponseBytes?: number;
  /** What the readers of this watcher may ask; unset means more than any test does. */
  readonly budget?: Budget;
  /** The clock of whoever leaves an endpoint alone; unset means the process's own, with `later`. */
  readonly clock?: { readonly now: () => number; readonly pause: (ms: number) => Promise<void> };
};

const { signal } = new AbortController();
/** Longer than any endpoint is left alone. */
const RESTED_MS = 61_000;

/** Starts everything. Finality is `solidDistance` (4) blocks below the head. */
export async function startTronWatcher(options: TronWatcherOptions = {}) {
  const { solidDistance = 4 } = options;
  const node = await startTronNode({ ...options, solidDistance });
  const endpoint = await node.endpoint();
  const others = await Promise.all(Array.from({ length: options.others ?? 0 }, () => node.endpoint()));
  const api = await startTestApi();
  const usdtContract = TRON_ADDRESSES.format(node.usdt.key);
  const deps = depsOver(api, { tron: usdtContract }, options);
  await node.mine(solidDistance + 1);
  const { newReader, newSpending, reports, later } = readersOver(
    [endpoint, ...others],
    usdtContract,
    options,
  );
  const seen: TestWatcher['seen'] = { foundLate: 0, differences: [], heights: 0 };
  const watchedChain = watchedBy(newReader(), seen, { lookAgainMs: 100 });
  const rows = rowsOf(deps);
  const catchUp = async (): Promise<Poll> => {
    await openCursor(deps, watchedChain.reader, firstBlockSince, signal);
    return await pollToHead(deps, watchedChain);
  };
  const addressOf = addressesOf(api, deps, 'tron');
  return {
    node,
    /** The address of the node that is preferred; `others` are the further ones. */
    endpoint,
    others,
    api,
    deps,
    watchedChain,
    seen,
    /** What the reader and its endpoints reported. */
    reports,
    newReader,
    /** The sending side over the same addresses, with a pool of its own. */
    newSpending,
    /** What a watcher that starts now has: nothing but the database. */
    restart: () => startAnew(watchedChain, newReader()),
    /** The key of a new customer's address. */
    newAddress: async (mode?: Mode): Promise<AddressKey> => TRON_ADDRESSES.key(await addressOf(mode)),
    /** Polls until nothing is behind. */
    catchUp,
    /**
     * The same as a worker does it that meets faults: it notes each and goes on when the endpoints have
     * rested. At most so many times; returns why it failed each time, or that there was nothing to read yet.
     */
    tryToCatchUp: (tries?: number) => persistently(deps, watchedChain, later, tries),
    /** Mines so many blocks that all before is final, and polls. */
    finish: async () => {
      await node.mine(solidDistance + 1);
      const finalNumber = node.solidHeight();
      await pollToFinal({ catchUp, finalNumber, endpoints: [endpoint, ...others] });
    },
    reconcile: () => wholePass(deps, watchedChain),
    deposits: (addressKey: AddressKey) =>
      rows(`select * from deposits where address_key = ? and network = 'tron' order by created_at, id`, [
        addressKey,
      ]),
    rows,
    /** How often this was asked of the preferred address since the last call. */
    asked: countingOf(endpoint),
    later,
    stop: async () => {
      await api.stop();
      await node.stop();
    },
  };
}

/** Makes readers over these endpoints, each with a pool of its own. */
function readersOver(
  endpoints: readonly TronEndpoint[],
  usdtContract: string,
  { readsAllAgain = true, apiKey, timeoutMs = 3_000, ...options }: TronWatcherOptions,
) {
  const reports: string[] = [];
  const report = (message: string): void => void reports.push(message);
  let aheadMs = 0;
  const { maxResponseBytes, clock } = options;
  const now = (): number => (clock?.now() ?? performance.now()) + aheadMs;
  const newPool = (genesis: Genesis): TronPool =>
    createTronPool({
      name: 'tron',
      urls: endpoints.map(({ url }) => url),
      solidityUrls: endpoints.map(({ solidityUrl }) => solidityUrl),
      apiKey,
      budget: options.budget ?? createBudget({ perDay: 10_000_000, perSecond: 10_000 }),
      genesis,
      parse: parseTronJson,
      timeoutMs,
      ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
      ...(clock ? { pause: clock.pause } : {}),
      now,
      report,
    });
  const spareRequests = (): number => 1_000;
  const newReader = (): ChainReader => {
    const genesis = createGenesis({ usdtContract });
    const pool = newPool(genesis);
    return createTronReader({ pool, genesis, usdtContract, readsAllAgain, spareRequests, now, report });
  };
  const newSpending = (change?: Partial<TronSpendingOptions>): Spending =>
    createTronSpending({
      pool: newPool(createGenesis({ usdtContract })),
      limits: { usdtContract, maxFeeLimitSun: 50_000_000n },
      spareRequests,
      shortLookMs: 1_000,
      ...change,
    });
  /** Lets time pass for whoever leaves an endpoint alone. */
  const later = (ms: number): void => {
    aheadMs += ms;
  };
  return { newReader, newSpending, reports, later };
}

async function persistently(
  deps: Deps,
  watchedChain: WatchedChain,
  later: (ms: number) => void,
  tries = 3,
): Promise<string[]> {
  const failures: string[] = [];
  while (failures.length < tries) {
    try {
      await openCursor(deps, watchedChain.reader, firstBlockSince, signal);
      const look = await pollChain(deps, watchedChain, signal);
      if (!look.behind) return failures;
      if (look.scanned + look.verified > 0) continue;
      failures.push('not there yet');
      later(RESTED_MS);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      deps.log.warn({ err: error, network: 'tron' }, 'the chain could not be read; trying again');
      await noteFault(deps, 'tron', reason);
      failures.push(reason);
      later(RESTED_MS);
    }
  }
  return failures;
}

function countingOf(endpoint: TronEndpoint): () => Readonly<Record<string, number>> {
  let counted = 0;
  return () => {
    const news = endpoint.requests.slice(counted);
    counted = endpoint.requests.length;
    const paths = Map.groupBy(news, ({ path }) => path);
    return Object.fromEntries(Array.from(paths, ([path, all]) => [path, all.length]));
  };
}
