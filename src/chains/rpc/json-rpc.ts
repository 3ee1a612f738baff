// JSON-RPC as nodes of Ethereum's kind speak it: the protocol of a pool of such endpoints.
import { callBatch, callEndpoint, type RpcRequest } from './call.ts';
import { EndpointFailure } from './errors.ts';
import { createPool } from './pool.ts';
import type { Line, Pool, PoolSettings, Protocol, Session } from './types.ts';

export type RpcSession = Session & {
  /** `timeoutMs` replaces the pool's own limit for this one call. */
  call(
    method: string,
    params: readonly unknown[],
    options?: { readonly timeoutMs?: number },
  ): Promise<unknown>;
  /**
   * The same method once for each list of parameters, the results in that order: in batches where the
   * endpoint takes them, else one by one, within its rate. Fails as a whole with the first failure.
   */
  batch(method: string, params: readonly (readonly unknown[])[]): Promise<unknown[]>;
  /** False once a batch was refused, for some minutes. */
  takesBatches(): boolean;
};

export type RpcPool = Pool<RpcSession> & { readonly chainId: number };
export type RpcPoolOptions = PoolSettings & { readonly chainId: number };

const MAX_BATCH = 50;
const BATCHES_AT_ONCE = 4;
const SINGLES_AT_ONCE = 8;
/** An endpoint that refused batches is tried again after this time. */
const BATCH_AGAIN_MS = 10 * 60_000;

/**
 * Makes a pool; no connection is made before the first call. Throws a sentence for an unusable list of URLs.
 */
export function createRpcPool({ chainId, ...settings }: RpcPoolOptions): RpcPool {
  return Object.assign(createPool({ ...settings, protocol: jsonRpc(chainId) }), { chainId });
}

function jsonRpc(chainId: number): Protocol<RpcSession> {
  return {
    speaker,
    identity: 'chain id',
    serves: async (session) => {
      const answer = await session.call('eth_chainId', []);
      if (typeof answer !== 'string' || !/^0x[0-9a-f]+$/i.test(answer))
        throw new EndpointFailure('no chain id');
      const found = BigInt(answer);
      return found === BigInt(chainId) ? undefined : `chain id ${found} instead of ${chainId}`;
    },
    height: async (session) => {
      const answer = await session.call('eth_blockNumber', []);
      return typeof answer === 'string' && /^0x[0-9a-f]{1,12}$/i.test(answer)
        ? Number.parseInt(answer, 16)
        : undefined;
    },
  };
}

/** Remembers of one endpoint that it takes no batches. */
function speaker(): (line: Line) => RpcSession {
  let noBatchUntil = Number.NEGATIVE_INFINITY;
  return (line) => {
    const { host, endpoint, sawHead } = line;
    const takesBatches = (): boolean => line.now() >= noBatchUntil;
    const one = async (request: RpcRequest, timeoutMs?: number): Promise<unknown> =>
      await line.ask((call) => callEndpoint(call.endpoint, request, call.limits, call.signal), { timeoutMs });
    const batch = async (method: string, params: readonly (readonly unknown[])[]): Promise<unknown[]> => {
      const requests = params.map((each) => ({ method, params: each }));
      if (requests.length > 1 && takesBatches()) {
        try {
          return await inBatches(line, requests);
        } catch (error) {
          if (!(error instanceof EndpointFailure && error.notOffered)) throw error;
          noBatchUntil = line.now() + BATCH_AGAIN_MS;
        }
      }
      return await eachOf(requests, SINGLES_AT_ONCE, (request) => one(request));
    };
    const call: RpcSession['call'] = (method, params, limits) => one({ method, params }, limits?.timeoutMs);
    return { host, endpoint, sawHead, call, batch, takesBatches };
  };
}

async function inBatches(line: Line, requests: readonly RpcRequest[]): Promise<unknown[]> {
  // Endpoints count each request of a batch, so a batch is never larger than what may be asked in a second.
  const size = Math.max(1, Math.min(MAX_BATCH, Math.floor(line.perSecond())));
  const batches = Array.from({ length: Math.ceil(requests.length / size) }, (_, at) =>
    requests.slice(at * size, (at + 1) * size),
  );
  const ask = (some: readonly RpcRequest[]) =>
    line.ask((call) => callBatch(call.endpoint, some, call.limits, call.signal), { turns: some.length });
  return (await eachOf(batches, BATCHES_AT_ONCE, ask)).flat();
}

/**
 * The results in order, with a limited number under way at a time; the first
 * failure ends it, and no further one is begun.
 */
async function eachOf<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length && !failed; at = next++) {
      try {
        results[at] = await work(items[at] as T);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
