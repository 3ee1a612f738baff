// POST over kept connections, for the blocks of a catch-up: turning a response into text costs more than
// parsing it, so bodies are gathered in buffers that are used again.
import { isAscii } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { EndpointFailure } from './errors.ts';

export type HttpQuestion = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The limit for the response's body, after it was unpacked. */
  readonly maxBytes: number;
  /** Waited for before it is sent a second time; what this throws is thrown instead. */
  readonly again?: ((signal: AbortSignal) => Promise<void>) | undefined;
};
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type HttpResponse = { readonly status: number; readonly headers: HttpHeaders; readonly text: string };

/**
 * Sends one POST and reads the whole response, whatever its status; redirects are not followed. Throws
 * EndpointFailure for a response that is too large or packed wrongly, and the socket's own error for a
 * connection that fails. Ends at once when `signal` aborts, with any error: the caller knows why it aborted.
 */
export type HttpPost = (question: HttpQuestion, signal: AbortSignal) => Promise<HttpResponse>;

type Received = { readonly status: number; readonly headers: HttpHeaders; readonly body: Body };

const MAX_SOCKETS = 64;
/** Longer than the watcher's pause between two polls. */
const KEEP_IDLE_MS = 30_000;
const SPARE_BUFFERS = 16;
const SPARE_BYTES = 4 * 1_048_576;
const FIRST_BYTES = 65_536;
/** The codes of a connection that the other side closed: the client's own, then the kernel's. */
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];
const NOTHING = Buffer.alloc(0);
const unpack = promisify(gunzip);

/** Makes a poster with connections of its own. Idle ones do not keep the process running. */
export function createHttpPost(): HttpPost {
  // The caller's signal is the only clock.
  const agent = new Agent({
    connections: MAX_SOCKETS,
    keepAliveTimeout: KEEP_IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const spares: Buffer[] = [];
  return async (question, signal) => {
    try {
      return await exchange(agent, question, spares, signal);
    } catch (error) {
      // A server may close a kept connection just when it is used again;
      // every request here may be sent twice.
      if (!(error instanceof ClosedBeforeResponse) || signal.aborted) throw error;
      await question.again?.(signal);
      return await exchange(agent, question, spares, signal);
    }
  };
}

class ConnectionClosed extends Error {
  override readonly name: string = 'ConnectionClosed';
  readonly code = 'ECONNRESET';
}

class ClosedBeforeResponse extends ConnectionClosed {
  override readonly name = 'ClosedBeforeResponse';
}

async function exchange(
  agent: Agent,
  question: HttpQuestion,
  spares: Buffer[],
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { status, headers, body } = await receive(agent, question, spares, signal);
  try {
    return { status, headers, text: await textOf(headers, body.bytes(), question.maxBytes) };
  } finally {
    body.release();
  }
}

/** A response's body, in a buffer that an earlier response may have used and a later one may get. */
class Body {
  #buffer: Buffer;
  #size = 0;
  readonly #spares: Buffer[];

  constructor(spares: Buffer[], expectedBytes: number) {
    this.#spares = spares;
    this.#buffer =
      spares.pop() ??
      Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, Math.min(expectedBytes || 0, SPARE_BYTES)));
  }

  /** Appends a copy, because the chunk stays its owner's. Returns the size so far. */
  add(chunk: Buffer): number {
    const size = this.#size + chunk.byteLength;
    if (size > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#buffer.byteLength));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#size);
    this.#size = size;
    return size;
  }

  /** What came so far; valid until {@link release}. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Gives up the buffer for good, so that nothing that is added late can get into another response. */
  release(): void {
    const { byteLength } = this.#buffer;
    if (byteLength > 0 && byteLength <= SPARE_BYTES && this.#spares.length < SPARE_BUFFERS)
      this.#spares.push(this.#buffer);
    this.#buffer = NOTHING;
    this.#size = 0;
  }
}

function receive(
  agent: Agent,
  question: HttpQuestion,
  spares: Buffer[],
  signal: AbortSignal,
): Promise<Received> {
  const { url, headers, body: text, maxBytes } = question;
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    let started: Dispatcher.DispatchController | undefined;
    let answer: Received | undefined;
    const stop = (): void => {
      const stopped = new Error('stopped');
      started?.abort(stopped);
      reject(stopped);
    };
    const over = (): void => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    agent.dispatch(
      {
        origin,
        path: pathname + search,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': 'gzip' },
        body: text,
      },
      {
        onRequestStart: (controller) => {
          started = controller;
          if (signal.aborted) stop();
        },
        onResponseStart: (_, status, headers) => {
          if (status >= 200)
            answer = { status, headers, body: new Body(spares, Number(headers['content-length'])) };
        },
        onResponseData: (controller, chunk) => {
          if (answer && answer.body.add(chunk) > maxBytes) controller.abort(tooLarge(maxBytes));
        },
        onResponseEnd: () => {
          over();
          if (answer) resolve(answer);
          else reject(new ConnectionClosed('no answer'));
        },
        onResponseError: (_, error) => {
          over();
          answer?.body.release();
          reject(
            isClosed(error)
              ? new (answer ? ConnectionClosed : ClosedBeforeResponse)('the connection was closed')
              : error,
          );
        },
      },
    );
  });
}

function isClosed(error: Error & { readonly code?: string }): boolean {
  return CLOSED.includes(error.code ?? '');
}

async function textOf(headers: HttpHeaders, bytes: Buffer, maxBytes: number): Promise<string> {
  const packed = headers['content-encoding'];
  if (packed === undefined || packed === 'identity') return decode(bytes);
  if (packed !== 'gzip' && packed !== 'x-gzip')
    throw new EndpointFailure('an answer packed in a way that was not asked for');
  try {
    // Runs in a thread of its own; a small response that unpacks to gigabytes ends at the limit.
    return decode(await unpack(bytes, { maxOutputLength: maxBytes }));
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(maxBytes) : new EndpointFailure('not JSON or cut short');
  }
}

/**
 * UTF-8; plain characters, of which nearly all answers consist,
 * are the same in Latin-1, and read as that several times faster.
 */
function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
}

function tooLarge(maxBytes: number): EndpointFailure {
  return new EndpointFailure(`answer larger than ${Math.floor(maxBytes / 1_048_576)} MiB`);
}
