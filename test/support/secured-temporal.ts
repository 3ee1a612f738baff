import { connect, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createTestAuthority } from '../../dev/support/tls.ts';

/** The name in the server's certificate, which is not where it listens. */
export const SERVER_NAME = 'temporal.shop.test';

export type SecuredTemporal = {
  readonly address: string;
  readonly caPem: string;
  /** A certificate and key that the server accepts. */
  readonly client: { readonly certPem: string; readonly keyPem: string };
  /** Every `Authorization` that came, by the name of the call. */
  readonly seen: Map<string, string | undefined>;
  stop(): Promise<void>;
};

/**
 * TLS in front of a Temporal server, where a proxy or a cloud would end it: it demands a
 * certificate of the client, and passes each call on.
 */
export async function secureTemporal(upstream: string): Promise<SecuredTemporal> {
  const authority = createTestAuthority();
  const own = authority.issue([SERVER_NAME]);
  const theirs = authority.issue(['gateway']);
  const seen = new Map<string, string | undefined>();
  const server = createSecureServer({
    ...own,
    ca: authority.caPem,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const inner = connect(`http://${upstream}`);
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    seen.set(String(headers[':path']), headers.authorization);
    pass(stream, inner.request({ ...headers, ':scheme': 'http', ':authority': upstream }));
  });
  await listening(server);
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.caPem,
    client: { certPem: theirs.cert, keyPem: theirs.key },
    seen,
    stop: async () => {
      for (const session of sessions) session.destroy();
      inner.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** One call with its trailers, in which gRPC says how it ended. */
function pass(stream: ServerHttp2Stream, call: ReturnType<ReturnType<typeof connect>['request']>): void {
  let trailers: Record<string, unknown> = {};
  call.on('trailers', (given) => {
    trailers = given;
  });
  call.on('response', (headers, flags) => {
    const isWhole = (flags & 1) === 1;
    if (stream.closed) return;
    stream.respond(headers, isWhole ? { endStream: true } : { waitForTrailers: true });
    if (!isWhole) call.pipe(stream);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers as never));
  stream.on('error', () => call.close());
  stream.on('close', () => call.close());
  call.on('error', () => stream.close());
  stream.pipe(call);
}

async function listening(server: Http2SecureServer): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}
