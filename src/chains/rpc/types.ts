// What a pool of endpoints is to its users, and to the protocol that it is given. Types only.
import type { Endpoint } from './endpoint-url.ts';
import type { CallOptions } from './exchange.ts';

/**
 * How one endpoint does right now, for readiness and diagnosis. `problem` is null when it is
 * in use; `requestsPerSecond` is the pace it is asked at, below the configured one while a
 * lower limit of the endpoint is known; `toldMsAgo` is how old all this is, null where it
 * was never asked. Carries no URL, only the host.
 */
export type EndpointStatus = {
  readonly host: string;
  readonly headNumber: number | null;
  readonly problem: string | null;
  readonly requestsPerSecond: number;
  readonly toldMsAgo: number | null;
};

/** One endpoint during one piece of work: everything that is asked in a session goes to the same node. */
export type Session = {
  readonly host: string;
  /** The endpoint's place in the configured list: the same in every session with it. */
  readonly endpoint: number;
  /** Notes the newest height this node showed, so that the pool can tell who lags behind. */
  sawHead(number: number): void;
};

/** A session as the protocol gets it: it asks the endpoint at the endpoint's own pace. */
export type Line = Session & {
  /**
   * Takes this many turns of the endpoint's rate, waits for them, and asks. `timeoutMs`
   * replaces the pool's own limit. Whether the request was answered, and whether the
   * endpoint asks for fewer, counts for its pace.
   */
  ask<T>(
    question: (call: Call) => Promise<T>,
    how?: { readonly turns?: number; readonly timeoutMs?: number | undefined },
  ): Promise<T>;
  /** Turns a second at present. */
  perSecond(): number;
  /** The pool's clock, in milliseconds. */
  now(): number;
};

/** Everything that one request needs. */
export type Call = {
  readonly endpoint: Endpoint;
  readonly limits: CallOptions;
  readonly signal: AbortSignal;
};

/**
 * How the endpoints of a pool are asked, and how one proves which chain it serves. Reads of `S` throw
 * EndpointFailure and RpcRejected; where one budget holds for all endpoints, BudgetSpent, which no endpoint
 * rests for.
 */
export type Protocol<S extends Session> = {
  /**
   * Called once for each endpoint: what is learned of an endpoint is kept by the
   * function that turns its lines into sessions.
   */
  speaker(): (line: Line) => S;
  /** What proves the chain, as the operator's settings name it: "chain id". */
  readonly identity: string;
  /**
   * What the endpoint serves instead of the configured chain, in words; undefined
   * where it serves that. Throws EndpointFailure where it does not say.
   */
  serves(session: S): Promise<string | undefined>;
  /**
   * What `serves` compares with, where that can change: every endpoint then proves its chain again.
   */
  readonly expected?: () => string | undefined;
  /** The height of its newest block; undefined where the response holds none. */
  height(session: S): Promise<number | undefined>;
};

/** What is configured of a pool, whatever its protocol is. */
export type PoolSettings = {
  /** For messages: "bsc". */
  readonly name: string;
  /** In order of preference; at least one, at most 16. */
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  /** By how much the time that any answer may take is multiplied (1): a busy machine of tests needs more. */
  readonly patience?: number | undefined;
  readonly maxResponseBytes?: number | undefined;
  /** An endpoint that is this many blocks behind the best one is used only when no better one answers. */
  readonly lagBlocks?: number | undefined;
  /** How often the heads of all endpoints are compared. */
  readonly probeEveryMs?: number | undefined;
  /**
   * Requests a second to one endpoint (200), and how many at once after a quiet time (one second of them, at
   * most 50). A lower limit that is met again and again is learned for at most a minute.
   */
  readonly requestsPerSecond?: number | undefined;
  readonly burst?: number | undefined;
  /** The longest pause of an endpoint that fails again and again and asks for none (5 s), in milliseconds. */
  readonly longestRestMs?: number | undefined;
  /**
   * After a failure an endpoint proves its chain again where its last proof is older than this (0), in
   * milliseconds: another node may answer there.
   */
  readonly provenForMs?: number | undefined;
  /** The clock in milliseconds and the wait that goes with it; unset means the process's own. */
  readonly now?: (() => number) | undefined;
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  readonly random?: (() => number) | undefined;
  /** Called when an endpoint stops or starts to be usable. The text names the host only. */
  readonly report?: ((message: string) => void) | undefined;
};

export type PoolOptions<S extends Session> = PoolSettings & { readonly protocol: Protocol<S> };

export type RunOptions = {
  /** True for endpoints (by their place in the list) that are to be asked only when no better one answers. */
  readonly last?: ((endpoint: number) => boolean) | undefined;
  /** The height of the block that is asked for: named where every endpoint fails over it. */
  readonly block?: number | undefined;
};

export type EachOptions = {
  /** Asks only those that are not left alone at the moment. */
  readonly ready?: boolean | undefined;
  /** What each may take, its turn and the proof of its chain included; unset means the pool's limits. */
  readonly withinMs?: number | undefined;
};

/** What one endpoint said: a value, or what went wrong. */
export type EachResponse<T> = { readonly host: string } & (
  | { readonly value: T; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string }
);

export interface Pool<S extends Session> {
  readonly name: string;
  /**
   * Runs `work` on the best endpoint, and on the next ones when it fails or returns undefined
   * ("this node does not have it"). Returns undefined when no endpoint had it; throws
   * RpcUnavailable when all failed, ChainMismatch when all serve another chain, and passes on
   * every other error of `work` (BudgetSpent a second later, so that nobody asks in a loop).
   * `work` throws EndpointFailure to reject an answer as incomplete.
   */
  run<T>(
    work: (session: S) => Promise<T | undefined>,
    signal: AbortSignal,
    options?: RunOptions,
  ): Promise<T | undefined>;
  /**
   * Throws ChainMismatch if any endpoint that answers serves another chain, RpcUnavailable if none answers.
   */
  checkChain(signal: AbortSignal): Promise<void>;
  /**
   * Asks every endpoint at the same time (each may fail on
   * its own) and returns the answers of those that gave one.
   */
  all<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T[]>;
  /**
   * Asks for an extra that not every endpoint offers: each endpoint but `besides` that is not left
   * alone and has budget to spare is asked once at most, in turn, until `work` returns something. What
   * goes wrong counts against none of them, because they may still serve whole blocks. Returns
   * undefined when none gave it; throws only the signal's reason.
   */
  elsewhere<T>(
    besides: number,
    work: (session: S) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T | undefined>;
  /**
   * Asks the best endpoint that is not left alone at the moment, then the next, for something that is
   * not part of reading blocks (a price). What goes wrong counts against none of them: it changes
   * neither their pauses nor their rate, and no endpoint is waited for. Throws RpcUnavailable when none
   * gave it, and passes on every other error of `work`.
   */
  aside<T>(work: (session: S) => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Asks every endpoint at the same time, also one that is left alone at the moment, and returns what
   * each said, in their order; no failure counts against any of them. For diagnosis, and for what all of
   * them are to hear. Throws only the signal's reason and what is no failure of an endpoint.
   */
  each<T>(
    work: (session: S) => Promise<T>,
    signal: AbortSignal,
    options?: EachOptions,
  ): Promise<EachResponse<T>[]>;
  status(): EndpointStatus[];
}
