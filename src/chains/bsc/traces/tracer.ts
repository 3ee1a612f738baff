// Traces from the endpoints that show them, and what is remembered of each endpoint:
// whether it shows them, and when it refused.

import { pause } from '../../../base/async/pause.ts';
import { within } from '../../../base/async/within.ts';
import type { AddressLookup } from '../../reader.ts';
import type { EndpointFailure } from '../../rpc/errors.ts';
import type { RpcPool, RpcSession } from '../../rpc/json-rpc.ts';
import { isEndpoints, isThrottled, type NumberedBlock, probe, type ShownBy, traceOn } from './method.ts';
import type { InternalTransfer } from './trace.ts';

export type TracerOptions = {
  /** Longest wait for one trace. A node that needs longer for a block cannot keep up with the chain. */
  readonly timeoutMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  /** The wait that goes with the clock. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Called when an endpoint is found to trace, not to trace, or to have stopped tracing. Names the host only.
   */
  readonly report?: ((message: string) => void) | undefined;
};

/** `method` null: no traces from this endpoint until `askAgainAt`. */
type Ability = ShownBy & { readonly askAgainAt: number };
/**
 * A question with `insists` belongs to a read that decides what a block holds: it waits a
 * little for an endpoint that asks for fewer requests.
 */
export type TraceQuestion = {
  readonly block: NumberedBlock;
  readonly watched: AddressLookup;
  readonly insists: boolean;
  readonly signal: AbortSignal;
};

const ASK_AGAIN_MS = 60 * 60_000;
const GAVE_UP_MS = 10 * 60_000;
const NO_RESPONSE_MS = 60_000;
/**
 * An endpoint that did not say whether it traces, because it
 * asked for fewer requests, is asked again after this time.
 */
const NOT_SAID_MS = 5_000;
const FAILURES_TO_GIVE_UP = 3;
/**
 * How long an endpoint is asked for no trace after it refused for the number of requests,
 * and how many such refusals one block waits for.
 */
const REFUSED_FIRST_MS = 1_000;
const REFUSED_MAX_MS = 30_000;
const REFUSALS_WAITED_FOR = 3;

/** Reads traces where the endpoint offers them. */
export interface Tracer {
  /**
   * The internal transfers of a block to watched addresses, or undefined where this endpoint does
   * not show them (now). Never fails for a trace that fails: the block is complete without it.
   */
  read(session: RpcSession, question: TraceQuestion): Promise<InternalTransfer[] | undefined>;
  /**
   * The same from any other endpoint of the pool than the one that read the block: each is asked once
   * at most, and only where it is known (or found out now) to trace. The trace is compared with this
   * very block, as every trace is. Undefined where no endpoint shows it in time; it never holds a
   * block up for longer than twice the wait for one trace.
   */
  readElsewhere(
    rpc: RpcPool,
    besides: RpcSession,
    question: TraceQuestion,
  ): Promise<InternalTransfer[] | undefined>;
  /**
   * True where a missing trace may be had later: some endpoint traces, or has not said yet whether it does.
   */
  mayCome(): boolean;
}

/**
 * Makes a tracer for one pool; it asks each endpoint once, before its first trace, and again after an hour.
 */
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
    options.report?.(
      `${session.host}: stopped showing internal transfers (${reason}); others or the reconciliation look for them`,
    );
  };

  const refusals = createRefusals({ timeoutMs, now, pause: options.pause ?? pause });

  const read: Tracer['read'] = async (session, question) => {
    const { block, watched } = question;
    if (block.transactions.length === 0) return [];
    for (let tries = 0; tries < REFUSALS_WAITED_FOR; tries++) {
      const { method } = await abilities.of(session);
      if (method === null || !(await refusals.waited(session, question))) return undefined;
      const before = failures.get(session.endpoint);
      try {
        const traces = await traceOn(session, method, block, watched, timeoutMs);
        failures.delete(session.endpoint);
        refusals.forget(session);
        return traces;
      } catch (error) {
        if (!isEndpoints(error)) throw error;
        // Refused for the number of requests does not mean unable: the endpoint is asked again when the wait
        // it asked for is over, and nothing is concluded from it.
        if (!isThrottled(error)) {
          failed(session, before, error.message);
          return undefined;
        }
        refusals.note(session, error);
        if (!question.insists) return undefined;
      }
    }
    return undefined;
  };

  const readElsewhere: Tracer['readElsewhere'] = async (rpc, besides, question) => {
    const readThere = async (session: RpcSession): Promise<InternalTransfer[] | undefined> => {
      try {
        return await read(session, { ...question, insists: false });
      } catch (error) {
        // It did not even give the block on which its methods are tried.
        if (isEndpoints(error)) abilities.restUntil(session, now() + NO_RESPONSE_MS);
        throw error;
      }
    };
    return await within(
      2 * timeoutMs,
      rpc.elsewhere(besides.endpoint, readThere, question.signal),
      () => undefined,
    );
  };

  return { read, readElsewhere, mayCome: abilities.mayCome };
}

/** Endpoints that refused a trace for the number of requests, and until when each is asked for none. */
function createRefusals({
  timeoutMs,
  now,
  pause: wait,
}: Clocked & { readonly pause: NonNullable<TracerOptions['pause']> }) {
  const refusals = new Map<number, { readonly count: number; readonly until: number }>();

  const note = (session: RpcSession, failure: EndpointFailure): void => {
    const before = refusals.get(session.endpoint);
    // Requests that were under way together and are refused together count as one refusal.
    if (before && now() < before.until) return;
    const count = Math.min((before?.count ?? 0) + 1, 8);
    const restMs = Math.min(
      Math.max(REFUSED_FIRST_MS * 2 ** (count - 1), failure.retryAfterMs ?? 0),
      REFUSED_MAX_MS,
    );
    refusals.set(session.endpoint, { count, until: now() + restMs });
  };

  /**
   * True when the endpoint may be asked now; false where it is left alone
   * for longer than this question waits.
   */
  const waited = async (session: RpcSession, { insists, signal }: TraceQuestion): Promise<boolean> => {
    const restMs = (refusals.get(session.endpoint)?.until ?? 0) - now();
    if (restMs <= 0) return true;
    if (!insists || restMs > timeoutMs) return false;
    await wait(restMs, signal);
    return true;
  };

  return { note, waited, forget: (session: RpcSession) => void refusals.delete(session.endpoint) };
}

type Clocked = { readonly timeoutMs: number; readonly now: () => number };
type Abilities = {
  /**
   * Asks the endpoint where nothing is known of it, or what is known is old. Throws
   * EndpointFailure when it gives no block to try the methods on.
   */
  readonly of: (session: RpcSession) => Promise<Ability>;
  readonly restUntil: (session: RpcSession, askAgainAt: number) => void;
  /** Whether any endpoint traces or has not answered that question yet. */
  readonly mayCome: () => boolean;
};

function createAbilities({ timeoutMs, now, report }: Pick<TracerOptions, 'report'> & Clocked): Abilities {
  const abilities = new Map<number, Promise<Ability>>();
  /** Endpoints that trace, or may. */
  const hopeful = new Set<number>();

  const of = async (session: RpcSession): Promise<Ability> => {
    const known = abilities.get(session.endpoint);
    if (known) {
      // A node that gives no block fails for every caller; another caller's
      // shutdown fails for that caller alone.
      const ability = await known.catch((error: unknown) => {
        if (isEndpoints(error)) throw error;
        return undefined;
      });
      if (ability && (ability.method !== null || now() < ability.askAgainAt)) return ability;
      // Another caller has begun to ask again meanwhile.
      if (abilities.get(session.endpoint) !== known) return await of(session);
    }
    hopeful.add(session.endpoint);
    const asking = probe(session, timeoutMs).then((found): Ability => {
      const { method, certain } = found;
      if (method !== null || certain)
        report?.(
          `${session.host}: ${method ? `shows internal transfers (${method})` : 'does not show internal transfers'}`,
        );
      if (method === null && certain) hopeful.delete(session.endpoint);
      return { ...found, askAgainAt: now() + (certain ? ASK_AGAIN_MS : NOT_SAID_MS) };
    });
    abilities.set(session.endpoint, asking);
    asking.catch(() => {
      if (abilities.get(session.endpoint) === asking) abilities.delete(session.endpoint);
    });
    return await asking;
  };

  const restUntil = (session: RpcSession, askAgainAt: number): void => {
    abilities.set(session.endpoint, Promise.resolve({ method: null, certain: false, askAgainAt }));
  };

  return { of, restUntil, mayCome: () => hopeful.size > 0 };
}
