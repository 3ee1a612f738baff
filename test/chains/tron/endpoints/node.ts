// A node of Tron as the tests of its protocol need it: an HTTP server that answers what it is told to.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool, type TronPoolOptions } from '../../../../src/chains/tron/protocol.ts';

export const GENESIS = `${'0'.repeat(16)}${'ab'.repeat(24)}`;
export const OTHER_GENESIS = `${'0'.repeat(16)}${'cd'.repeat(24)}`;
export const HEAD = 72;

/** A contract of no network that is known. */
export const CONTRACT = 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ';

export type Asked = {
  /** With the base's own path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};
export type Answer =
  | 'hang'
  | 'cut'
  | 'drip'
  | 'reset'
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly text?: string;
      readonly json?: unknown;
    };

export type TestNode = {
  readonly host: string;
  readonly url: string;
  readonly asked: Asked[];
  /** Answers before the node itself does; undefined leaves it to the node. */
  fault: ((asked: Asked) => Answer | undefined) | undefined;
  genesis: string;
  head: number;
  /** How often a path was asked for. */
  count(path: string): number;
  stop(): void;
};

/** A block as `getnowblock` names it; block 0 has no number in its header. */
export function blockOf(number: number, id = number.toString(16).padStart(16, '0').padEnd(64, 'e')): object {
  const raw = number === 0 ? {} : { number, timestamp: 1_795_257_474_000 };
  return { blockID: id, block_header: { raw_data: raw } };
}

/** A pool over these nodes whose budget goes by the same clock; of more requests than a test asks. */
export function poolOf(
  nodes: readonly { readonly url: string }[],
  options: Partial<TronPoolOptions> = {},
): TronPool {
  const { now, pause } = options;
  return createTronPool({
    name: 'tron',
    urls: nodes.map(({ url }) => url),
    budget: createBudget({ perDay: 100_000, perSecond: 1_000, now, pause }),
    genesis: createGenesis({ usdtContract: CONTRACT }),
    ...options,
  });
}

/** Starts so many nodes before the first test, well and unasked before each; stops them after the last. */
export function testNodes(count: number): TestNode[] {
  const nodes: TestNode[] = [];
  before(async () => {
    nodes.push(...(await Promise.all(Array.from({ length: count }, startNode))));
  });
  beforeEach(() => {
    for (const node of nodes) {
      Object.assign(node, { fault: undefined, genesis: GENESIS, head: HEAD });
      node.asked.length = 0;
    }
  });
  after(() => {
    for (const node of nodes) node.stop();
  });
  return nodes;
}

/** Starts a node of {@link GENESIS} at {@link HEAD} that serves both views. */
export async function startNode(): Promise<TestNode> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const asked = { url: request.url ?? '', headers: request.headers, body };
    node.asked.push(asked);
    send(response, node.fault?.(asked) ?? { json: ownAnswer(asked) });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ownAnswer = ({ url }: Asked): unknown => {
    if (url.includes('getblockbynum')) return blockOf(0, node.genesis);
    return url.includes('getnowblock') ? blockOf(node.head) : {};
  };
  const node: TestNode = {
    host,
    url: `http://${host}`,
    asked: [],
    fault: undefined,
    genesis: GENESIS,
    head: HEAD,
    count: (path) => node.asked.filter(({ url }) => url.includes(path)).length,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return node;
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer === 'reset') response.destroy();
  if (answer === 'cut') {
    response.writeHead(200, { 'content-length': 100 }).write('{"blockID"');
    setImmediate(() => response.destroy());
  }
  if (answer === 'drip') {
    // Spaces are good JSON at any length.
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  }
  if (typeof answer === 'string') return;
  const { status = 200, headers = {}, text, json } = answer;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text ?? JSON.stringify(json));
}

/** Time that passes only where somebody waits; who waits beside others waits with them. */
export function madeUpClock(startMs = 0) {
  let nowMs = startMs;
  const pauses: number[] = [];
  const now = (): number => nowMs;
  const pause = async (ms: number): Promise<void> => {
    const until = nowMs + ms;
    pauses.push(ms);
    await new Promise((resolve) => setImmediate(resolve));
    nowMs = Math.max(nowMs, until);
  };
  return { now, pause, pauses };
}
