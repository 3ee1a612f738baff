// One WebSocket on which an endpoint announces new blocks. An announcement tells
// when to ask, and is never taken for a fact.
import type { Socket } from 'node:net';
import { Agent, buildConnector, WebSocket } from 'undici';
import { isRecord } from './call.ts';
import { type Endpoint, redact } from './endpoint-url.ts';
import { EndpointFailure } from './errors.ts';
import { readQuantity } from './hex.ts';

export type HeadSocketLimits = {
  /** For the connection, the chain id and the subscription together, in milliseconds. */
  readonly openMs: number;
  /** A connection on which no block is announced for this long counts as dead, whatever else it carries. */
  readonly silentMs: number;
};
export type HeadSocketEvents = { subscribed(): void; announced(number: number): void };
export type HeadSocketInput = {
  readonly endpoint: Endpoint;
  readonly chainId: number;
  readonly now: () => number;
  readonly limits?: Partial<HeadSocketLimits> | undefined;
};

const LIMITS: HeadSocketLimits = { openMs: 10_000, silentMs: 30_000 };
const CHECK_MS = 1_000;
/** A header with the validators of an epoch is some KiB. */
const MAX_MESSAGE_BYTES = 65_536;
const MAX_FRAGMENTS = 64;
/** Far above what any chain announces, far below what would cost a processor anything. */
const MAX_MESSAGES_A_CHECK = 100;
const MAX_BYTES_A_CHECK = 1_048_576;
const CHAIN_QUESTION = 1;
const SUBSCRIPTION_QUESTION = 2;

/**
 * Connects, proves the chain, subscribes to new heads and tells `events` of them, until the
 * connection fails or `signal` aborts. Never resolves: throws EndpointFailure with a short
 * reason that holds no URL, or the signal's reason. Nothing of the connection is left then.
 */
export async function listenForHeads(
  input: HeadSocketInput,
  events: HeadSocketEvents,
  signal: AbortSignal,
): Promise<never> {
  signal.throwIfAborted();
  const over = Promise.withResolvers<never>();
  const listener = new Listener(input, events, (reason) => over.reject(new EndpointFailure(reason)));
  const stop = (): void => over.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await over.promise;
  } finally {
    signal.removeEventListener('abort', stop);
    listener.destroy();
  }
}

class Listener {
  readonly #input: HeadSocketInput;
  readonly #events: HeadSocketEvents;
  readonly #fail: (reason: string) => void;
  readonly #limits: HeadSocketLimits;
  readonly #agent: Agent;
  readonly #socket: WebSocket;
  readonly #checking: NodeJS.Timeout;
  readonly #openedMs: number;
  #connection: Socket | undefined;
  #connectionProblem = '';
  #isOpen = false;
  #isOver = false;
  #subscription: string | undefined;
  #announcedMs = 0;
  #messages = 0;
  #bytesRead = 0;

  constructor(input: HeadSocketInput, events: HeadSocketEvents, fail: (reason: string) => void) {
    [this.#input, this.#events, this.#fail] = [input, events, fail];
    this.#limits = { ...LIMITS, ...input.limits };
    this.#openedMs = input.now();
    this.#agent = this.#makeAgent();
    const { authorization } = input.endpoint.headers;
    this.#socket = new WebSocket(input.endpoint.url, {
      dispatcher: this.#agent,
      ...(authorization ? { headers: { authorization } } : {}),
    });
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.addEventListener('open', () => {
      this.#isOpen = true;
      this.#ask(CHAIN_QUESTION, 'eth_chainId', []);
    });
    this.#socket.addEventListener('message', ({ data }) => this.#received(data));
    this.#socket.addEventListener('close', ({ code }) => this.#closed(code));
    this.#checking = setInterval(() => this.#check(), CHECK_MS);
  }

  destroy(): void {
    this.#isOver = true;
    clearInterval(this.#checking);
    this.#socket.close();
    // A server that does not answer the close would hold the connection for ever.
    this.#connection?.destroy();
    this.#agent.destroy().catch(() => undefined);
  }

  /**
   * Keeps the connection at hand: to end it from this side, to say why
   * there is none, and to count what comes.
   */
  #makeAgent(): Agent {
    const connector = buildConnector({ timeout: this.#limits.openMs });
    return new Agent({
      headersTimeout: this.#limits.openMs,
      webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES, maxFragments: MAX_FRAGMENTS },
      connect: (options, callback) =>
        connector(options, (...connected) => {
          const [error, socket] = connected;
          if (socket) this.#connection = socket;
          if (socket && this.#isOver) socket.destroy();
          // Only the code: the message can repeat the URL.
          if (error) this.#connectionProblem = 'code' in error ? ` (${error.code})` : '';
          callback(...connected);
        }),
    });
  }

  #ask(id: number, method: string, params: readonly string[]): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  #received(data: unknown): void {
    this.#messages += 1;
    if (this.#isOver) return;
    if (this.#messages > MAX_MESSAGES_A_CHECK) {
      this.#fail(`more than ${MAX_MESSAGES_A_CHECK} messages a second`);
      return;
    }
    const message = objectOf(data);
    if (message['id'] === CHAIN_QUESTION) this.#chainTold(message['result']);
    else if (message['id'] === SUBSCRIPTION_QUESTION) this.#subscribed(message);
    else if (message['method'] === 'eth_subscription') this.#notified(message['params']);
  }

  #chainTold(id: unknown): void {
    const found = typeof id === 'string' && /^0x[0-9a-f]{1,16}$/i.test(id) ? BigInt(id) : undefined;
    if (found === BigInt(this.#input.chainId))
      this.#ask(SUBSCRIPTION_QUESTION, 'eth_subscribe', ['newHeads']);
    else
      this.#fail(found === undefined ? 'no chain id' : `chain id ${found} instead of ${this.#input.chainId}`);
  }

  #subscribed({ result, error }: Record<string, unknown>): void {
    if (this.#subscription !== undefined) return;
    if (typeof result === 'string' && result !== '') {
      this.#subscription = result;
      this.#announcedMs = this.#input.now();
      this.#events.subscribed();
    } else {
      const said =
        isRecord(error) && typeof error['message'] === 'string'
          ? redact(this.#input.endpoint, error['message'])
          : '';
      this.#fail(`eth_subscribe is refused${said && `: ${said}`}`);
    }
  }

  #notified(params: unknown): void {
    if (
      !isRecord(params) ||
      this.#subscription === undefined ||
      params['subscription'] !== this.#subscription
    )
      return;
    const number = isRecord(params['result']) ? readQuantity(params['result']['number']) : undefined;
    if (number === undefined) return;
    this.#announcedMs = this.#input.now();
    this.#events.announced(number);
  }

  #closed(code: number): void {
    if (this.#isOpen) this.#fail(`the connection was closed (${code})`);
    else if (this.#connection) this.#fail('no WebSocket at this address');
    else this.#fail(`connection failed${this.#connectionProblem}`);
  }

  #check(): void {
    const nowMs = this.#input.now();
    const { openMs, silentMs } = this.#limits;
    const bytes = (this.#connection?.bytesRead ?? 0) - this.#bytesRead;
    this.#bytesRead += bytes;
    this.#messages = 0;
    if (bytes > MAX_BYTES_A_CHECK) this.#fail('more than 1 MiB a second');
    else if (this.#subscription === undefined && nowMs - this.#openedMs >= openMs)
      this.#fail(`no subscription within ${openMs / 1_000} s`);
    else if (this.#subscription !== undefined && nowMs - this.#announcedMs >= silentMs)
      this.#fail(`no block announced for ${silentMs / 1_000} s`);
  }
}

/** The members of a JSON object; no members for any other text. */
function objectOf(data: unknown): Record<string, unknown> {
  if (typeof data !== 'string') return {};
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
