import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { verifyWebhook } from '../../packages/sdk/src/index.ts';

/** What a receiver does with one request. A number answers with that status at once. */
export type Behaviour =
  | number
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body?: string | Buffer;
      readonly headers?: Record<string, string>;
      readonly delayMs?: number;
    }
  | { readonly kind: 'hang' } // takes the request, never answers
  | { readonly kind: 'drip-headers'; readonly everyMs: number }
  | { readonly kind: 'drip-body'; readonly status: number; readonly everyMs: number }
  | { readonly kind: 'endless-body'; readonly status: number }
  | { readonly kind: 'huge-headers'; readonly bytes: number }
  | { readonly kind: 'redirect'; readonly status?: number; readonly to: string }
  | { readonly kind: 'informational'; readonly count: number; readonly everyMs?: number }
  // written to the socket, which is then closed
  | { readonly kind: 'raw'; readonly bytes: string | Buffer; readonly keepOpen?: boolean }
  | { readonly kind: 'reset' };

/**
 * One behaviour for every request, one for each request (the
 * last one stays), or a choice by the request's index from 0.
 */
export type Script =
  | Behaviour
  | readonly Behaviour[]
  | ((index: number, request: ReceivedRequest) => Behaviour);

export type ReceivedRequest = {
  /** Wall clock in milliseconds when the body was complete. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The server name of the TLS handshake; false without one, null without TLS. */
  readonly serverName: string | false | null;
  /** Whether the signature is right; null for a receiver without a secret. */
  readonly verified: boolean | null;
};

export type ReceiverOptions = {
  readonly secret?: string;
  readonly behaviour?: Script;
  /** Makes it an https receiver. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The name in `url`; the socket listens on 127.0.0.1 in any case. */
  readonly host?: string;
  readonly path?: string;
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** TCP connections seen, whether or not a request came. */
  readonly connections: () => number;
  readonly openSockets: () => number;
  readonly setBehaviour: (script: Script) => void;
  /** Sets or replaces the secret that `verified` is computed with. */
  readonly setSecret: (secret: string) => void;
  /** Resolves with the requests once there are `count`; rejects after `timeoutMs`. */
  readonly waitFor: (count: number, timeoutMs?: number) => Promise<readonly ReceivedRequest[]>;
  /** Closes the port and every socket. */
  readonly stop: () => Promise<void>;
};

/** A real webhook receiver on a free port of 127.0.0.1. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let script: Script = options.behaviour ?? 200;
  let secret = options.secret;
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    void readAll(request).then(
      (body) => {
        const received = record(request, body, secret);
        requests.push(received);
        act(pick(script, requests.length - 1, received), response);
      },
      () => response.destroy(),
    );
  };
  const server = options.tls ? https.createServer(options.tls, onRequest) : http.createServer(onRequest);
  const sockets = trackSockets(server);
  const port = await listen(server, '127.0.0.1');
  return {
    url: `${options.tls ? 'https' : 'http'}://${options.host ?? '127.0.0.1'}:${port}${options.path ?? '/hook'}`,
    port,
    requests,
    connections: sockets.seen,
    openSockets: sockets.open,
    setBehaviour: (next) => {
      script = next;
    },
    setSecret: (next) => {
      secret = next;
    },
    waitFor: async (count, timeoutMs = 30_000) => {
      const untilMs = Date.now() + timeoutMs;
      while (requests.length < count) {
        if (Date.now() > untilMs)
          throw new Error(`${requests.length} of ${count} requests within ${timeoutMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return requests;
    },
    stop: () => sockets.stop(),
  };
}

export type Canary = {
  readonly port: number;
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
};

/**
 * A bare TCP listener on all local addresses of both families
 * that must see no connection. It answers like a web server.
 */
export async function startCanary(): Promise<Canary> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
  const sockets = trackSockets(server);
  // '::' accepts IPv4 too; a machine without IPv6 gets the IPv4 half.
  const port = await listen(server, '::').catch(() => listen(server, '0.0.0.0'));
  return { port, connections: sockets.seen, stop: () => sockets.stop() };
}

/** A port of 127.0.0.1 that refuses connections. */
export async function closedPort(): Promise<number> {
  const server = net.createServer();
  const port = await listen(server, '127.0.0.1');
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function act(behaviour: Behaviour, response: ServerResponse): void {
  const { socket } = response;
  if (typeof behaviour === 'number') {
    response.writeHead(behaviour).end();
    return;
  }
  if (!socket) return;
  switch (behaviour.kind) {
    case 'answer':
      later(socket, behaviour.delayMs ?? 0, () =>
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body),
      );
      break;
    case 'hang':
      break;
    case 'drip-headers':
      socket.write('HTTP/1.1 200 OK\r\n');
      repeat(socket, behaviour.everyMs, () => socket.write('X-Drip: 1\r\n'));
      break;
    case 'drip-body':
      response.writeHead(behaviour.status).flushHeaders();
      repeat(socket, behaviour.everyMs, () => response.write('.'));
      break;
    case 'endless-body':
      response.writeHead(behaviour.status).flushHeaders();
      repeat(
        socket,
        1,
        () => socket.writableLength < 1_000_000 && response.write(Buffer.alloc(64 * 1024, 'x')),
      );
      break;
    case 'huge-headers':
      response.writeHead(200, { 'X-Huge': 'h'.repeat(behaviour.bytes) }).end();
      break;
    case 'redirect':
      response.writeHead(behaviour.status ?? 302, { Location: behaviour.to }).end();
      break;
    case 'informational':
      informational(socket, behaviour.count, behaviour.everyMs ?? 0);
      break;
    case 'raw':
      if (behaviour.keepOpen) socket.write(behaviour.bytes);
      else socket.end(behaviour.bytes);
      break;
    case 'reset':
      // A TLS socket cannot be reset through its own handle.
      if (socket instanceof TLSSocket) socket.destroy();
      else socket.resetAndDestroy();
      break;
  }
}

function informational(socket: Socket, count: number, everyMs: number): void {
  let sent = 0;
  const next = () => {
    if (socket.destroyed) return;
    if (sent >= count) {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sent += 1;
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', () => setTimeout(next, everyMs));
  };
  next();
}

function later(socket: Socket, delayMs: number, action: () => void): void {
  const timer = setTimeout(action, delayMs);
  socket.once('close', () => clearTimeout(timer));
}

function repeat(socket: Socket, everyMs: number, action: () => void): void {
  const timer = setInterval(action, everyMs);
  socket.once('close', () => clearInterval(timer));
}

function pick(script: Script, index: number, request: ReceivedRequest): Behaviour {
  if (typeof script === 'function') return script(index, request);
  if (!isList(script)) return script;
  return script[Math.min(index, script.length - 1)] ?? 200;
}

function isList(script: Script): script is readonly Behaviour[] {
  return Array.isArray(script);
}

function record(request: IncomingMessage, body: Buffer, secret: string | undefined): ReceivedRequest {
  const { method = '', url: path = '', headers } = request;
  const serverName = request.socket instanceof TLSSocket ? (request.socket.servername ?? false) : null;
  return {
    at: Date.now(),
    method,
    path,
    headers,
    body,
    serverName,
    verified: secret === undefined ? null : isVerified(body, headers, secret),
  };
}

function isVerified(rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): boolean {
  try {
    verifyWebhook({ rawBody, headers, secret });
    return true;
  } catch {
    return false;
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function trackSockets(server: Server): { seen: () => number; open: () => number; stop: () => Promise<void> } {
  const sockets = new Set<Socket>();
  let seen = 0;
  server.on('connection', (socket: Socket) => {
    seen += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { seen: () => seen, open: () => sockets.size, stop };
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
