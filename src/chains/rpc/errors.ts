/**
 * No endpoint gave a complete answer. The message says what each of
 * them did, by host, and is meant for an operator. Worth a retry.
 */
export class RpcUnavailable extends Error {
  override readonly name: string = 'RpcUnavailable';
  /** The chain whose endpoints it is about: what is logged of one outage is told together by it. */
  readonly network: string;
  /** What an operator does about it, where that is more than to see that endpoints answer. */
  readonly action?: string;

  constructor(reason: string, network: string, action?: string) {
    super(reason);
    this.network = network;
    if (action !== undefined) this.action = action;
  }
}

/**
 * This process may send no more requests before `goesOnAt`. No endpoint is to blame, and none is of help:
 * the budget is one for all of them. Thrown by a protocol; worth a retry.
 */
export class BudgetSpent extends RpcUnavailable {
  override readonly name = 'BudgetSpent';
  readonly goesOnAt: Date;

  constructor(reason: string, { network, goesOnAt }: { readonly network: string; readonly goesOnAt: Date }) {
    super(reason, network);
    this.goesOnAt = goesOnAt;
  }
}

/**
 * The endpoints serve another chain or token than configured.
 * A retry does not help: the configuration has to change.
 */
export class ChainMismatch extends Error {
  override readonly name = 'ChainMismatch';
}

/**
 * The node understood the call and refused it (a revert, say).
 * Asking another node gives the same, so the pool passes it on.
 */
export class RpcRejected extends Error {
  override readonly name = 'RpcRejected';
}

type FailureOptions = {
  readonly retryAfterMs?: number | undefined;
  readonly throttled?: boolean | undefined;
  readonly notOffered?: boolean | undefined;
};

/**
 * One endpoint failed once; the pool turns these into
 * back-off and, when all fail, into {@link RpcUnavailable}.
 */
export class EndpointFailure extends Error {
  override readonly name = 'EndpointFailure';
  /** How long the endpoint asks to be left alone, from Retry-After, or undefined. */
  readonly retryAfterMs: number | undefined;
  /**
   * True where the endpoint asks for fewer requests, which deserves a longer pause than a lost connection.
   */
  readonly throttled: boolean;
  /**
   * True where the endpoint says that it does not have this method,
   * or takes no batches: asking again is of no use for a while.
   */
  readonly notOffered: boolean;

  constructor(reason: string, options: FailureOptions = {}) {
    super(reason);
    this.retryAfterMs = options.retryAfterMs;
    this.throttled = options.throttled ?? false;
    this.notOffered = options.notOffered ?? false;
  }
}
