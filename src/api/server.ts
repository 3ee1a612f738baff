import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import { createHttpGuard, FAULTS, httpFault, originForm, type Refusal } from './http-hardening.ts';

/** Limits against clients that are slow on purpose. Times in milliseconds, sizes in bytes. */
const LIMITS = {
  headersTimeout: 10_000,
  /** Headers and body together. */
  requestTimeout: 30_000,
  /** Longer than the idle time of common load balancers, so that they close a connection before we do. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  // We refuse a missing host ourselves, in the form of every error.
  requireHostHeader: false,
} as const;

/** A connection on which nothing moves while a request runs: a client that does not read its answer. */
const SILENCE_MS = 120_000;

const MAX_HEADERS = 100;
const DRAIN_POLL_MS = 50;

export type ServerOptions = {
  readonly headersTimeout?: number;
  readonly requestTimeout?: number;
  readonly connectionsCheckingInterval?: number;
  /** Told of each answer to bytes that no route sees. */
  readonly onRefusal?: ((refusal: Refusal) => void) | undefined;
};

export type ApiServer = {
  /**
   * Resolves to the port once connections are taken; port 0 takes a free one. Rejects when the port is taken.
   */
  listen(input: { readonly port: number; readonly host?: string }): Promise<{ readonly port: number }>;
  /**
   * Takes no new connection, lets running requests end for at
   * most `graceMs`, then closes what is left. Never rejects.
   */
  close(graceMs?: number): Promise<void>;
};

/** An HTTP server around the application. The times in `options` shorten the limits for slow clients. */
export function createServer(app: Koa, { onRefusal, ...timeouts }: ServerOptions = {}): ApiServer {
  const handle = app.callback();
  const guard = createHttpGuard(onRefusal);
  let closing = false;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (guard.isOver(request)) {
      request.resume();
      return;
    }
    guard.watch(request, response);
    const fault = httpFault(request);
    if (fault) {
      guard.refuse(request, response, fault);
      return;
    }
    // Every reader of the path sees this one form, and none has to take an absolute URL apart.
    request.url = originForm(request.url ?? '/') ?? '/';
    if (closing) response.setHeader('Connection', 'close');
    void handle(request, response);
  };
  const server = createHttpServer({ ...LIMITS, ...timeouts, keepAliveTimeoutBuffer: 1_000 }, serve);
  server.maxHeadersCount = MAX_HEADERS;
  server.timeout = SILENCE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else guard.refuseRest(socket, FAULT_OF[error.code ?? ''] ?? FAULTS.malformed);
  });
  // The reader of the body sends "100 Continue"; a client that is refused before need not send the body.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    guard.refuse(request, response, FAULTS.expectation),
  );
  server.on('connect', (request: IncomingMessage, socket: Duplex) =>
    guard.refuseConnection(socket, FAULTS.tunnel, request.method),
  );
  return {
    listen: ({ port, host }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host ?? '0.0.0.0', () => {
          server.off('error', reject);
          resolve({ port: (server.address() as AddressInfo).port });
        });
      }),
    close: async (graceMs = 10_000) => {
      closing = true;
      await drain(server, graceMs);
    },
  };
}

async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection becomes idle only after its answer, so idle ones are closed again and again.
  const poll = setInterval(() => server.closeIdleConnections(), DRAIN_POLL_MS);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(poll);
  clearTimeout(force);
}

const FAULT_OF: Readonly<Record<string, (typeof FAULTS)[keyof typeof FAULTS]>> = {
  HPE_HEADER_OVERFLOW: FAULTS.headers,
  ERR_HTTP_REQUEST_TIMEOUT: FAULTS.slow,
};
