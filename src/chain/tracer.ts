// Which endpoint shows internal transfers, found out by asking it, and the traces themselves.
import { readHash } from './bsc-block.ts';
import { EndpointFailure, RpcRejected } from './errors.ts';
import type { AddressLookup } from './port.ts';
import type { RpcPool, RpcSession } from './rpc.ts';
import { isRecord } from './rpc-call.ts';
import { type InternalTransfer, readCallTracer, readTraceBlock, type TracedBlock } from './trace.ts';

export type TracerOptions = {
  /** Longest wait for one trace. A node that needs longer for a block cannot keep up with the chain. */
  readonly timeoutMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  /** Called when an endpoint is found to trace, not to trace, or to have stopped tracing. Names the host only. */
  readonly report?: ((message: string) => void) | undefined;
};

type Method = 'trace_block' | 'debug_traceBlockByHash';
/** `method` null: no traces from this endpoint until `askAgainAt`. */
type Ability = { readonly method: Method | null; readonly askAgainAt: number };

/** Cheapest first: the callTracer of a whole block costs some nodes seconds. */
const METHODS: readonly Method[] = ['trace_block', 'debug_traceBlockByHash'];
const PROBED_BLOCKS = 4;
const ASK_AGAIN_MS = 60 * 60_000;
const GAVE_UP_MS = 10 * 60_000;
const NO_ANSWER_MS = 60_000;
const FAILURES_TO_GIVE_UP = 3;

/** Reads traces where the endpoint offers them. */
export interface Tracer {
  /**
   * The internal transfers of a block to watched addresses, or undefined where this endpoint does not show them (now). Never fails for
   * a trace that fails: the block is complete without it, and the reconciliation finds what it would have shown.
   */
  read(
    session: RpcSession,
    block: TracedBlock & { readonly number: number },
    watched: AddressLookup,
  ): Promise<InternalTransfer[] | undefined>;
  /**
   * The same from any other endpoint of the pool than the one that read the block: each is asked once at most, and only where it is known
   * (or found out now) to trace. The trace is held against this very block, as every trace is. Undefined where nobody shows it in time; it
   * never holds a block up for longer than twice the wait for one trace.
   */
  readElsewhere(
    rpc: RpcPool,
    besides: RpcSession,
    block: TracedBlock & { readonly number: number },
    watched: AddressLookup,
    signal: AbortSignal,
  ): Promise<InternalTransfer[] | undefined>;
}

/** Makes a tracer for one pool; it asks each endpoint once, before its first trace, and again after an hour. */
export function createTracer(options: TracerOptions = {}): Tracer {
  const now = options.now ?? (() => performance.now());
  const timeoutMs = options.timeoutMs ?? 4_000;
  const abilities = createAbilities({ timeoutMs, now, report: options.report });
  const failures = new Map<number, { count: number }>();

  const failed = (session: RpcSession, before: { count: number } | undefined, reason: string): void => {
    // Traces that were under way together fail together: that is one failure, not three.
    if (failures.get(session.endpoint) !== before) return;
    const count = (before?.count ?? 0) + 1;
    failures.set(session.endpoint, { count });
    if (count < FAILURES_TO_GIVE_UP) return;
    failures.delete(session.endpoint);
    abilities.restUntil(session, now() + GAVE_UP_MS);
    options.report?.(`${session.host}: stopped showing internal transfers (${reason}); others or the reconciliation look for them`);
  };

  const read: Tracer['read'] = async (session, block, watched) => {
    if (block.transactions.length === 0) return [];
    const { method } = await abilities.of(session);
    if (method === null) return undefined;
    const before = failures.get(session.endpoint);
    try {
      const traces = await trace(session, method, block, watched, timeoutMs);
      failures.delete(session.endpoint);
      return traces;
    } catch (error) {
      if (!isEndpoints(error)) throw error;
      failed(session, before, error.message);
      return undefined;
    }
  };

  const readElsewhere: Tracer['readElsewhere'] = async (rpc, besides, block, watched, signal) => {
    const readThere = async (session: RpcSession): Promise<InternalTransfer[] | undefined> => {
      try {
        return await read(session, block, watched);
      } catch (error) {
        // It did not even give the block that its ability is tried on.
        if (isEndpoints(error)) abilities.restUntil(session, now() + NO_ANSWER_MS);
        throw error;
      }
    };
    return await within(2 * timeoutMs, rpc.elsewhere(besides.endpoint, readThere, signal));
  };

  return { read, readElsewhere };
}

type Abilities = {
  /** Asks the endpoint where nothing is known of it, or what is known is old. Throws EndpointFailure when it gives no block to try it on. */
  readonly of: (session: RpcSession) => Promise<Ability>;
  readonly restUntil: (session: RpcSession, askAgainAt: number) => void;
};

function createAbilities({
  timeoutMs,
  now,
  report,
}: TracerOptions & { readonly timeoutMs: number; readonly now: () => number }): Abilities {
  const abilities = new Map<number, Promise<Ability>>();

  const of = async (session: RpcSession): Promise<Ability> => {
    const known = abilities.get(session.endpoint);
    if (known) {
      // A node that gives no block fails whoever asks it; somebody else's shutdown does not.
      const ability = await known.catch((error: unknown) => {
        if (isEndpoints(error)) throw error;
        return undefined;
      });
      if (ability && (ability.method !== null || now() < ability.askAgainAt)) return ability;
      // Somebody else has begun to ask again meanwhile.
      if (abilities.get(session.endpoint) !== known) return await of(session);
    }
    const asking = probe(session, timeoutMs).then((method): Ability => {
      report?.(`${session.host}: ${method ? `shows internal transfers (${method})` : 'does not show internal transfers'}`);
      return { method, askAgainAt: now() + ASK_AGAIN_MS };
    });
    abilities.set(session.endpoint, asking);
    asking.catch(() => {
      if (abilities.get(session.endpoint) === asking) abilities.delete(session.endpoint);
    });
    return await asking;
  };

  const restUntil = (session: RpcSession, askAgainAt: number): void => {
    abilities.set(session.endpoint, Promise.resolve({ method: null, askAgainAt }));
  };

  return { of, restUntil };
}

function isEndpoints(error: unknown): error is EndpointFailure | RpcRejected {
  return error instanceof EndpointFailure || error instanceof RpcRejected;
}

/** The result, or undefined when it takes longer; what is under way then ends by its own limits and its result is forgotten. */
async function within<T>(ms: number, result: Promise<T | undefined>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks every endpoint that answers whether it shows internal transfers, and how; null: it does not. Throws RpcUnavailable when none answers. */
export async function askForTraces(
  rpc: RpcPool,
  signal: AbortSignal,
  timeoutMs = 4_000,
): Promise<{ readonly host: string; readonly method: string | null }[]> {
  return await rpc.all(async (session) => ({ host: session.host, method: await probe(session, timeoutMs) }), signal);
}

async function trace(
  session: RpcSession,
  method: Method,
  block: TracedBlock & { readonly number: number },
  watched: AddressLookup,
  timeoutMs: number,
): Promise<InternalTransfer[]> {
  if (method === 'trace_block')
    return readTraceBlock(block, await session.call(method, [`0x${block.number.toString(16)}`], { timeoutMs }), watched);
  return readCallTracer(block, await session.call(method, [block.hash, { tracer: 'callTracer' }], { timeoutMs }), watched);
}

const NOBODY: AddressLookup = { has: () => false, isOwn: () => false };

/** Traces the smallest of the newest blocks with each method in turn. Throws only when the endpoint does not even give these blocks. */
async function probe(session: RpcSession, timeoutMs: number): Promise<Method | null> {
  const block = await smallBlock(session);
  for (const method of METHODS) {
    try {
      await trace(session, method, block, NOBODY, timeoutMs);
      return method;
    } catch (error) {
      // A refusal, a limit, a page of HTML, a trace that is none: all say that it is not offered.
      if (!isEndpoints(error)) throw error;
    }
  }
  return null;
}

async function smallBlock(session: RpcSession): Promise<TracedBlock & { number: number }> {
  let best: (TracedBlock & { number: number }) | undefined;
  let wanted = 'latest';
  for (let tries = 0; tries < PROBED_BLOCKS; tries++) {
    const block = await session.call('eth_getBlockByNumber', [wanted, false]);
    const hash = isRecord(block) ? readHash(block['hash']) : undefined;
    if (!isRecord(block) || hash === undefined || !Array.isArray(block['transactions'])) break;
    const number = Number.parseInt(String(block['number']), 16);
    const found = { number, hash, transactions: block['transactions'].map((one) => ({ hash: String(one).toLowerCase() })) };
    const smaller = found.transactions.length > 0 && found.transactions.length < (best?.transactions.length ?? Number.POSITIVE_INFINITY);
    if (!best || smaller || best.transactions.length === 0) best = found;
    if (!(number > 0)) break;
    wanted = `0x${(number - 1).toString(16)}`;
  }
  if (!best) throw new EndpointFailure('no block to try a trace on');
  return best;
}
