// A real HTTP server between a client and a JSON-RPC node that can misbehave in the ways public endpoints do.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const DRIP_MS = 40;

export type RpcCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };
/** The answer: JSON to send, or a whole answer of its own, or nothing for ever. */
export type Answer =
  | { readonly json: unknown }
  | { readonly status: number; readonly body: string | Buffer; readonly headers?: Record<string, string> }
  /** Half of what the node said, then a closed connection. */
  | 'cut'
  /** What the node said, one character at a time with pauses. */
  | 'drip'
  | 'hang'
  | 'reset';
type Reply = { id: unknown; result?: unknown; error?: unknown };
/** Decides about one call; `forward` asks the real node. Returning undefined means "forward". */
export type Fault = (
  call: RpcCall,
  forward: () => Promise<Reply>,
) => Promise<Answer | undefined> | Answer | undefined;

/** The answer of the first of these faults that gives one. */
export const firstOf =
  (...faults: readonly Fault[]): Fault =>
  async (call, forward) => {
    for (const fault of faults) {
      const answer = await fault(call, forward);
      if (answer) return answer;
    }
    return undefined;
  };

export type FaultProxy = {
  readonly url: string;
  /** Every method asked for, in order. */
  readonly calls: RpcCall[];
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly path: string }[];
  fault: Fault | undefined;
  /**
   * The answer to a batch as such; undefined lets its
   * questions be answered one by one, each with its own fault.
   */
  batchFault: ((calls: readonly RpcCall[]) => Answer | undefined) | undefined;
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
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    requests: [],
    fault: undefined,
    batchFault: undefined,
    target,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const question = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall | RpcCall[];
    proxy.requests.push({ headers: request.headers, path: request.url ?? '' });
    proxy.calls.push(...[question].flat());
    const decided = Array.isArray(question)
      ? (proxy.batchFault?.(question) ?? (await answerEach(question)))
      : await answerOne(question);
    await send(request, response, decided, () => ask(question));
  }

  async function ask(question: RpcCall | readonly RpcCall[]): Promise<Reply> {
    const headers = { 'content-type': 'application/json' };
    return (await (
      await fetch(proxy.target, { method: 'POST', headers, body: JSON.stringify(question) })
    ).json()) as Reply;
  }

  async function answerOne(call: RpcCall): Promise<Answer> {
    const forward = () => ask(call);
    return (await proxy.fault?.(call, forward)) ?? { json: await forward() };
  }

  /** A fault that is more than another JSON text becomes the fault of the whole batch. */
  async function answerEach(batch: readonly RpcCall[]): Promise<Answer> {
    const answers = await Promise.all(batch.map(answerOne));
    const whole = answers.find((one) => !(typeof one === 'object' && 'json' in one));
    return whole ?? { json: answers.map((one) => (one as { json: unknown }).json) };
  }

  return proxy;
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  decided: Answer,
  forward: () => Promise<Reply>,
): Promise<void> {
  if (decided === 'hang') return;
  if (decided === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if (decided === 'cut' || decided === 'drip') {
    const whole = Buffer.from(JSON.stringify(await forward()));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.byteLength });
    if (decided === 'cut')
      response.write(whole.subarray(0, whole.byteLength / 2), () => request.socket.destroy());
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
