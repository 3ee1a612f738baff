import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Why bytes are refused before any route sees them. */
export type HttpFault = { readonly status: number; readonly reason: string; readonly sentence: string };

/** An answer that no route gave; the method is known where a request could be read. */
export type Refusal = { readonly method: string | undefined; readonly status: number };

const bad = (sentence: string): HttpFault => ({ status: 400, reason: 'Bad Request', sentence });

/** Faults that the server meets outside of a request's own log lines. */
export const FAULTS = {
  malformed: bad('The request is not valid HTTP.'),
  headers: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    sentence: 'The request headers are too large.',
  },
  slow: { status: 408, reason: 'Request Timeout', sentence: 'The request did not arrive in time.' },
  expectation: {
    status: 417,
    reason: 'Expectation Failed',
    sentence: 'The only expectation is "100-continue".',
  },
  tunnel: { status: 405, reason: 'Method Not Allowed', sentence: 'This server opens no tunnels.' },
  version: { status: 505, reason: 'HTTP Version Not Supported', sentence: 'The version must be HTTP/1.1.' },
} as const satisfies Record<string, HttpFault>;

/**
 * How long a connection that we have ended stays open, so that the sender gets to read the answer. Not
 * longer: a sender who never ends their side would keep it.
 */
const LINGER_MS = 2_000;

/**
 * What the parser accepts and we do not, because a proxy in front of us may read it as another request: no or
 * several hosts, another transfer coding than plain `chunked`, a target with a fragment or without a path,
 * versions from before or after ours. Undefined for a plain request.
 */
export function httpFault(request: IncomingMessage): HttpFault | undefined {
  const { httpVersion, headers, rawHeaders, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return FAULTS.version;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return bad('The request must have one Host header.');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return bad('The only transfer coding is "chunked".');
  if (url.includes('#')) return bad('The request target must not have a fragment.');
  if (originForm(url) === undefined)
    return bad('The request target must be a path, or the absolute URL of one.');
  return undefined;
}

/**
 * A request's target as a path with its query. Of an absolute URL, which a client sends to a proxy, it is
 * everything behind the host, letter by letter; `*` stays. Undefined for anything else.
 */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target;
  const host = /^https?:\/\/[^/?\\]+/i.exec(target)?.[0];
  if (host === undefined || !URL.canParse(target)) return undefined;
  const rest = target.slice(host.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Guards connections whose next bytes must not be taken for a request: an answer left before the body
 * of its request had come, or the request itself was refused. The client sent what follows without
 * knowing that. Each refusal is told to `onRefusal`.
 */
export function createHttpGuard(onRefusal: (refusal: Refusal) => void = () => undefined) {
  const over = new WeakSet<Duplex>();
  const running = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();
  /** Answers on the bare connection, where there is no request to answer, and ends it. */
  const refuseConnection = (socket: Duplex, fault: HttpFault, method?: string): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { body, headers } = answerTo(fault);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    endSoon(socket, `HTTP/1.1 ${fault.status} ${fault.reason}\r\n${lines.join('')}\r\n${body}`);
    onRefusal({ method, status: fault.status });
  };
  return {
    refuseConnection,
    isOver: (request: IncomingMessage): boolean => over.has(request.socket),
    /**
     * Makes sure that an answer which leaves before the whole body has come says that
     * it is the last on its connection, and is.
     */
    watch: (request: IncomingMessage, response: ServerResponse): void => {
      running.set(request.socket, { request, response });
      const writeHead = response.writeHead;
      // Node calls writeHead for implicit headers too: it is the last moment at which a header can be added.
      response.writeHead = ((...given: Parameters<typeof writeHead>) => {
        if (!request.complete) {
          over.add(request.socket);
          response.setHeader('Connection', 'close');
          linger(request.socket);
        }
        return writeHead.apply(response, given);
      }) as typeof writeHead;
    },
    /** Refuses one request in its turn, and everything that follows it. */
    refuse: (request: IncomingMessage, response: ServerResponse, fault: HttpFault): void => {
      over.add(request.socket);
      const { body, headers } = answerTo(fault);
      linger(request.socket);
      response.writeHead(fault.status, fault.reason, headers).end(body);
      onRefusal({ method: request.method, status: fault.status });
    },
    /** Refuses what follows a request that is complete; that request's own answer comes first. */
    refuseRest: (socket: Duplex, fault: HttpFault): void => {
      if (over.has(socket)) return;
      over.add(socket);
      const last = running.get(socket);
      if (last?.request.complete && !last.response.writableFinished)
        last.response.once('finish', () => refuseConnection(socket, fault));
      else refuseConnection(socket, fault);
    },
  };
}

/** The answer in the form of every error; the connection ends with it. */
function answerTo({ status, sentence }: HttpFault) {
  const body = JSON.stringify({
    error: sentence,
    code: status === 405 ? 'METHOD_NOT_ALLOWED' : 'VALIDATION_ERROR',
  });
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': `${Buffer.byteLength(body)}`,
    'X-Request-Id': randomUUID(),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  return { body, headers };
}

/**
 * Closing with unread bytes would reset the connection, and the sender would lose the answer.
 * So we end our side, and read theirs for a while.
 */
function linger(socket: IncomingMessage['socket']): void {
  socket.destroySoon = () => endSoon(socket);
}

function endSoon(socket: Duplex, last = ''): void {
  socket.end(last);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
