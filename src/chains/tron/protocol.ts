// How the endpoints of Tron are asked: the protocol of a pool of them.
import { isRecord } from '../rpc/call.ts';
import { type Endpoint, redact } from '../rpc/endpoint-url.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { createPool } from '../rpc/pool.ts';
import type { Line, Pool, PoolSettings, Protocol, Session } from '../rpc/types.ts';
import type { Budget } from './budget.ts';
import {
  callTron,
  type Parse,
  type SolidityPath,
  type TronRequest,
  tronEndpoints,
  type WalletPath,
} from './call.ts';
import { type Genesis, isGenesisId } from './genesis.ts';

type Body = TronRequest['body'];

/**
 * What a call returns is an object or a list; `{}` and `[]` are what nodes say of that
 * which they do not have, or not yet.
 */
export type TronSession = Session & {
  /** Asks the node's newest view, which holds what is in no block yet as well. */
  call(path: WalletPath, body: Body): Promise<object>;
  /** Asks the node for what nothing can replace any more. */
  solidity(path: SolidityPath, body: Body): Promise<object>;
  /** What a node says in its own words, as one line of at most 120 characters without anything secret. */
  hide(words: string): string;
};

export type TronPool = Pool<TronSession>;
export type TronPoolOptions = Omit<PoolSettings, 'requestsPerSecond' | 'burst'> & {
  /** Sent with every request, to every endpoint. */
  readonly apiKey?: string | undefined;
  /** Where each endpoint serves `walletsolidity`, in the order of `urls`; unset: at the same base. */
  readonly solidityUrls?: readonly string[] | undefined;
  readonly budget: Budget;
  readonly genesis: Genesis;
  /** JSON.parse where unset, which loses digits of numbers above 2^53. */
  readonly parse?: Parse | undefined;
};

/** A proof of the chain costs a request or two: one for each failure could use up the day. */
const PROVEN_FOR_MS = 60_000;
/** Where all endpoints are away, one of them is asked in this time: a day of that costs 23,000 requests. */
const REST_MS = 5_000;
/** An idle endpoint is asked for its head this often: each time costs a request of the day's budget. */
const PROBE_EVERY_MS = 60_000;

/**
 * Makes a pool; no connection is made before the first call. Throws a sentence for an unusable list of URLs.
 */
export function createTronPool(options: TronPoolOptions): TronPool {
  const { apiKey: _, ...settings } = options;
  return createPool({
    ...settings,
    probeEveryMs: settings.probeEveryMs ?? PROBE_EVERY_MS,
    requestsPerSecond: options.budget.perSecond,
    longestRestMs: REST_MS * options.urls.length,
    provenForMs: PROVEN_FOR_MS,
    protocol: tron(options, basesOf(options)),
  });
}

/** Where one endpoint serves its two views. */
type Bases = { readonly wallet: Endpoint; readonly solidity: Endpoint };

function basesOf({ urls, solidityUrls = [], apiKey }: TronPoolOptions): Bases[] {
  if (solidityUrls.length > 0 && solidityUrls.length !== urls.length)
    throw new Error(
      `TRON_SOLIDITY_URLS must name one address for each of TRON_API_URLS, in the same order: ${solidityUrls.length} instead of ${urls.length}`,
    );
  const all = tronEndpoints([...urls, ...solidityUrls], apiKey);
  const wallets = all.slice(0, urls.length);
  return wallets.map((wallet, at) => ({ wallet, solidity: all[urls.length + at] ?? wallet }));
}

function tron(options: TronPoolOptions, bases: readonly Bases[]): Protocol<TronSession> {
  return {
    speaker: () => (line) => sessionOf(line, bases, options),
    identity: 'USDT contract',
    expected: () => options.genesis.id(),
    serves: async (session) => {
      const named = genesisId(await session.call('wallet/getblockbynum', { num: 0 }));
      const { wallet, solidity } = basesAt(bases, session.endpoint);
      if (wallet.url !== solidity.url) {
        const solid = genesisId(await session.solidity('walletsolidity/getblockbynum', { num: 0 }));
        // Finality and what is credited come from there.
        if (solid !== named)
          return `genesis block ${solid} at its solidity address ${solidity.host} and ${named} at the other`;
      }
      return options.genesis.differs(named);
    },
    height: async (session) => heightOf(await session.call('wallet/getnowblock', {})),
  };
}

function sessionOf(
  line: Line,
  bases: readonly Bases[],
  { budget, parse = JSON.parse }: TronPoolOptions,
): TronSession {
  const { host, endpoint, sawHead } = line;
  const { wallet, solidity } = basesAt(bases, endpoint);
  const ask = (base: Endpoint, request: TronRequest): Promise<object> =>
    line.ask(async ({ limits, signal }) => {
      await budget.take(signal);
      const again = (inTime: AbortSignal): Promise<void> => budget.take(inTime);
      return await callTron(base, request, { ...limits, parse, again }, signal);
    });
  return {
    host,
    endpoint,
    sawHead,
    call: (path, body) => ask(wallet, { path, body }),
    solidity: (path, body) =>
      ask(solidity, { path, body }).catch((error: unknown) => {
        throw solidity.host === host ? error : withHost(error, solidity.host);
      }),
    hide: (words) => redact(wallet, words),
  };
}

function basesAt(bases: readonly Bases[], endpoint: number): Bases {
  const found = bases[endpoint];
  if (!found) throw new Error(`no endpoint ${endpoint}`);
  return found;
}

/** A pool names an endpoint by the host of its wallet; this failed somewhere else. */
function withHost(error: unknown, host: string): unknown {
  if (!(error instanceof EndpointFailure)) return error;
  return new EndpointFailure(`${error.message}, at ${host}`, error);
}

function genesisId(block: object): string {
  const id = isRecord(block) ? block['blockID'] : undefined;
  if (!isGenesisId(id)) throw new EndpointFailure('no genesis block');
  return id;
}

/** The height in the header, which the block's id begins with; block 0 has none in its header. */
function heightOf(block: object): number | undefined {
  if (!isRecord(block)) return undefined;
  const { blockID: id, block_header: header } = block;
  const raw = isRecord(header) ? header['raw_data'] : undefined;
  const height = isRecord(raw) ? (raw['number'] ?? 0) : undefined;
  if (typeof height !== 'number' || !Number.isSafeInteger(height) || height < 0) return undefined;
  const begin = height.toString(16).padStart(16, '0');
  return typeof id === 'string' && id.startsWith(begin) ? height : undefined;
}
