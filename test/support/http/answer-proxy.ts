// A real HTTP server between a client and the API that loses,
// replaces or holds back answers as networks and load balancers do.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Passing = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/**
 * `lose`: the API does its work and the answer is cut off. `refuse`: the API never
 * gets the request. `hold`: no answer, for ever.
 */
export type Trick =
  | 'lose'
  | 'lose-half'
  | 'refuse'
  | 'hold'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export type AnswerProxy = {
  /** The API's base URL, through the proxy. */
  readonly url: string;
  readonly seen: readonly Passing[];
  /** What is done with the next requests, in order; all later ones pass. */
  play(...tricks: readonly Trick[]): void;
  stop(): Promise<void>;
};

/** Starts a proxy on a free port in front of an API whose base URL is given. */
export async function startAnswerProxy(apiUrl: string): Promise<AnswerProxy> {
  const target = new URL(apiUrl);
  const seen: Passing[] = [];
  const tricks: Trick[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = 'GET', url = '/', headers } = request;
    seen.push({ method, path: url, headers, body });
    const trick = tricks.shift();
    if (trick === 'hold') return;
    if (trick === 'refuse') return void request.socket.resetAndDestroy();
    if (typeof trick === 'object')
      return void response.writeHead(trick.status, trick.headers).end(trick.body);
    const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers;
    const init = { method, headers: passed as Record<string, string>, ...(body === '' ? {} : { body }) };
    const reply = await fetch(new URL(url, target.origin), init);
    const text = await reply.text();
    if (trick === 'lose') return void request.socket.resetAndDestroy();
    const kept = [...reply.headers].filter(
      ([name]) => !['connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name),
    );
    response.writeHead(reply.status, {
      ...Object.fromEntries(kept),
      'content-length': Buffer.byteLength(text),
    });
    if (trick === 'lose-half') response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    else response.end(text);
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    seen,
    play: (...next) => void tricks.splice(0, tricks.length, ...next),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
