import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';

/** Limits against clients that are slow on purpose. Times in milliseconds, sizes in bytes. */
const LIMITS = {
  headersTimeout: 10_000,
  /** Headers and body together. */
  requestTimeout: 30_000,
  /** Longer than the idle time of common load balancers, so that it is they who close. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
} as const;

const MAX_HEADERS = 100;
const DRAIN_POLL_MS = 50;

export type ApiServer = {
  /** Resolves to the port once connections are taken; port 0 takes a free one. Rejects when the port is taken. */
  listen(input: { readonly port: number; readonly host?: string }): Promise<{ readonly port: number }>;
  /** Takes no new connection, lets running requests end for at most `graceMs`, then closes what is left. Never rejects. */
  close(graceMs?: number): Promise<void>;
};

/** An HTTP server around the application. */
export function createServer(app: Koa): ApiServer {
  const handle = app.callback();
  let closing = false;
  const server = createHttpServer({ ...LIMITS, keepAliveTimeoutBuffer: 1_000 }, (request, response) => {
    if (closing) response.setHeader('Connection', 'close');
    void handle(request, response);
  });
  server.maxHeadersCount = MAX_HEADERS;
  server.on('clientError', refuseMalformed);
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
  // A connection becomes idle only after its answer: it is looked for again and again.
  const poll = setInterval(() => server.closeIdleConnections(), DRAIN_POLL_MS);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(poll);
  clearTimeout(force);
}

const MALFORMED: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

/** Bytes that are no HTTP request never reach the application; they get an answer in the same form. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, sentence] = MALFORMED[error.code ?? ''] ?? ['400 Bad Request', 'The request is not valid HTTP.'];
  const body = JSON.stringify({ error: sentence, code: 'VALIDATION_ERROR' });
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
