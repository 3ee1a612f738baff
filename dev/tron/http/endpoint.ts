// One address of a node, with a fault of its own. Every one of them serves the same chain.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Served } from './handler.ts';
import { exactJson } from './json.ts';
import { type Body, readBody, readQuery, type View } from './requests.ts';
import { answerOf, handlerOf } from './routes.ts';

const DRIP_MS = 40;
const KEY_HEADER = 'tron-pro-api-key';

/** A request as a fault sees it; `path` is below the base, as in `wallet/getnowblock`. */
export type TronRequest = { readonly path: string; readonly body: Body; readonly view: View };
export type TronAnswer =
  | { readonly json: unknown }
  | {
      readonly status: number;
      readonly body: string | Buffer;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Half of what the node said, then a closed connection. */
  | 'cut'
  /** What the node said, one character at a time with pauses. */
  | 'drip'
  | 'hang'
  | 'reset';
/** Decides about one request; `answer` asks the node. Undefined leaves it to the node. */
export type TronFault = (
  request: TronRequest,
  answer: () => Promise<unknown>,
) => TronAnswer | undefined | Promise<TronAnswer | undefined>;

export type TronEndpoint = {
  readonly url: string;
  /** Where it serves `walletsolidity`: the same base unless the node has a port for each. */
  readonly solidityUrl: string;
  fault: TronFault | undefined;
  /** Every request that came, in order. */
  readonly requests: readonly {
    readonly path: string;
    readonly body: Body;
    readonly headers: IncomingMessage['headers'];
  }[];
  /** Forgets the requests that came. */
  forgetRequests(): void;
  stop(): Promise<void>;
};

export type EndpointOptions = {
  /** Requests without it are refused. */
  readonly key?: string | undefined;
  /** A port for each of the two views. */
  readonly separateSolidity?: boolean;
};

/** Opens an address on 127.0.0.1. */
export async function openEndpoint(served: Served, options: EndpointOptions = {}): Promise<TronEndpoint> {
  const { separateSolidity = false } = options;
  const wallet = await listen();
  const solidity = separateSolidity ? await listen() : wallet;
  const servers = [...new Set([wallet, solidity])];
  const requests: TronEndpoint['requests'][number][] = [];
  const endpoint: TronEndpoint = {
    url: urlOf(wallet),
    solidityUrl: urlOf(solidity),
    fault: undefined,
    requests,
    forgetRequests: () => {
      requests.length = 0;
    },
    stop: async () => {
      await Promise.all(servers.map(close));
    },
  };
  for (const server of servers)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void handle(server, request, response).catch(() => response.destroy());
    });

  async function handle(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const url = new URL(request.url ?? '/', endpoint.url);
    const [, base = '', name = ''] = /^\/(wallet|walletsolidity)\/(\w+)$/.exec(url.pathname) ?? [];
    const view: View = base === 'walletsolidity' ? base : 'wallet';
    const read = (): Body => (request.method === 'GET' ? readQuery(url.searchParams) : readBody(text));
    const asked = { path: url.pathname.slice(1), view, body: attempt(read) };
    requests.push({ path: asked.path, body: asked.body, headers: request.headers });
    const isHere = !separateSolidity || (server === solidity) === (view === 'walletsolidity');
    const handler = isHere && base !== '' ? handlerOf(view, name) : undefined;
    const answer = async (): Promise<unknown> =>
      handler ? await answerOf(served, handler, view, read) : undefined;
    const own = async (): Promise<TronAnswer> => {
      if (options.key !== undefined && request.headers[KEY_HEADER] !== options.key) return UNAUTHORIZED;
      return handler ? { json: await answer() } : nothingHere(request.method ?? 'GET', url.pathname);
    };
    const decided = (await endpoint.fault?.(asked, answer)) ?? (await own());
    await send(request, response, decided, answer);
  }
  return endpoint;
}

const UNAUTHORIZED: TronAnswer = {
  status: 401,
  body: '{"Error":"ApiKey not exists"}',
  headers: { 'content-type': 'application/json' },
};

/** A fault may also be asked about what is no JSON. */
function attempt(read: () => Body): Body {
  try {
    return read();
  } catch {
    return {};
  }
}

async function listen(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The page of the node's own server for a path that nothing serves. */
function nothingHere(method: string, path: string): TronAnswer {
  const [status, words, message] =
    method === 'GET'
      ? ([404, 'Not Found', 'Not Found'] as const)
      : ([
          405,
          'HTTP method POST is not supported by this URL',
          `HTTP method ${method} is not supported by this URL`,
        ] as const);
  const body = `<html>
<head>
<meta http-equiv="Content-Type" content="text/html;charset=ISO-8859-1"/>
<title>Error ${status} ${words}</title>
</head>
<body><h2>HTTP ERROR ${status} ${words}</h2>
<table>
<tr><th>URI:</th><td>${path.replace(/[<>&"]/g, '')}</td></tr>
<tr><th>STATUS:</th><td>${status}</td></tr>
<tr><th>MESSAGE:</th><td>${message}</td></tr>
</table>
<hr/><a href="https://eclipse.org/jetty">Powered by Jetty:// 9.4.53.v20231009</a><hr/>

</body>
</html>
`;
  return { status, body, headers: { 'content-type': 'text/html;charset=iso-8859-1' } };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  decided: TronAnswer,
  answer: () => Promise<unknown>,
): Promise<void> {
  if (decided === 'hang') return;
  if (decided === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (decided === 'cut' || decided === 'drip') {
    const whole = Buffer.from(exactJson((await answer()) ?? {}));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.byteLength });
    if (decided === 'cut')
      response.write(whole.subarray(0, whole.byteLength / 2), () => request.socket.destroy());
    else drip(response, whole);
    return;
  }
  if ('json' in decided) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(exactJson(decided.json));
    return;
  }
  response.writeHead(decided.status, { 'content-type': 'text/html', ...decided.headers });
  response.end(decided.body);
}

function drip(response: ServerResponse, whole: Buffer): void {
  let at = 0;
  const timer = setInterval(() => response.write(whole.subarray(at, ++at)), DRIP_MS);
  response.once('close', () => clearInterval(timer));
}
