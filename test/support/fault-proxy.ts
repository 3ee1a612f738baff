// A real HTTP server between a client and a JSON-RPC node that can misbehave in the ways public endpoints do.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const DRIP_MS = 40;

export type RpcCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };
/** What is answered: JSON to send, or a whole answer of its own, or nothing for ever. */
export type Answer =
  | { readonly json: unknown }
  | { readonly status: number; readonly body: string | Buffer; readonly headers?: Record<string, string> }
  /** Half of what the node said, then a closed connection. */
  | 'cut'
  /** What the node said, a character a moment. */
  | 'drip'
  | 'hang'
  | 'reset';
/** Decides about one call; `forward` asks the real node. Returning undefined means "forward". */
export type Fault = (
  call: RpcCall,
  forward: () => Promise<{ id: unknown; result?: unknown; error?: unknown }>,
) => Promise<Answer | undefined> | Answer | undefined;

export type FaultProxy = {
  readonly url: string;
  /** Every method asked for, in order. */
  readonly calls: RpcCall[];
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly path: string }[];
  fault: Fault | undefined;
  /** The node behind it. */
  target: string;
  stop(): Promise<void>;
};

function drip(response: ServerResponse, whole: Buffer): void {
  let at = 0;
  const timer = setInterval(() => response.write(whole.subarray(at, ++at)), DRIP_MS);
  response.once('close', () => clearInterval(timer));
}

/** Starts a proxy on a free port of 127.0.0.1 in front of the node at `target`. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const state: { fault: Fault | undefined; target: string } = { fault: undefined, target };
  const calls: RpcCall[] = [];
  const requests: FaultProxy['requests'] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const call = JSON.parse(text) as RpcCall;
    calls.push(call);
    requests.push({ headers: request.headers, path: request.url ?? '' });
    const forward = async () => {
      const reply = await fetch(state.target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
      return (await reply.json()) as { id: unknown; result?: unknown };
    };
    const decided = (await state.fault?.(call, forward)) ?? { json: await forward() };
    if (decided === 'hang') return;
    if (decided === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (decided === 'cut' || decided === 'drip') {
      const whole = Buffer.from(JSON.stringify(await forward()));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.byteLength });
      if (decided === 'cut') response.write(whole.subarray(0, whole.byteLength / 2), () => request.socket.destroy());
      else drip(response, whole);
      return;
    }
    if ('json' in decided) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(decided.json)));
      return;
    }
    response.writeHead(decided.status, { 'content-type': 'text/html', ...decided.headers });
    response.end(decided.body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    requests,
    get fault() {
      return state.fault;
    },
    set fault(fault) {
      state.fault = fault;
    },
    get target() {
      return state.target;
    },
    set target(url) {
      state.target = url;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
