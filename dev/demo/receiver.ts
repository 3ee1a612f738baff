import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook, type WebhookEvent } from '../../packages/sdk/src/index.ts';
import type { Screen } from './screen.ts';

/**
 * One event as one receiver saw it: how often it came, how often it was
 * accepted, and whether every signature was right.
 */
export type Seen = {
  readonly event: string;
  /** The transaction that it is about, where it is about one and its signature was right. */
  readonly hash: string | undefined;
  attempts: number;
  accepted: number;
  verified: boolean;
  lastAt: number;
};

export type DemoReceiver = {
  readonly name: string;
  readonly url: string;
  setSecret(secret: string): void;
  /** By event id. */
  readonly seen: ReadonlyMap<string, Seen>;
  stop(): Promise<void>;
};

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * A merchant's receiver as it should be written: it verifies the raw bytes before it trusts
 * them. The first `failFirst` requests get a 503.
 */
export async function startDemoReceiver(
  name: string,
  failFirst: number,
  screen: Screen,
): Promise<DemoReceiver> {
  const seen = new Map<string, Seen>();
  let secret = '';
  let left = failFirst;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const event = verifiedEvent(Buffer.concat(chunks), request.headers, secret);
      const status = !event ? 400 : left > 0 ? 503 : 200;
      if (event && left > 0) left -= 1;
      note(seen, request.headers, { event, status }, (text) => screen.line(`${name.padEnd(8)} ← ${text}`));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    name,
    url: `http://127.0.0.1:${port}/webhooks`,
    seen,
    setSecret: (value) => {
      secret = value;
    },
    stop: () => stop(server),
  };
}

type Event = { readonly transaction_hash?: string; readonly network?: string; readonly currency?: string };

/** Undefined where the signature is wrong. */
function verifiedEvent(
  rawBody: Buffer,
  headers: NodeJS.Dict<string | string[]>,
  secret: string,
): WebhookEvent<Event> | undefined {
  try {
    return verifyWebhook<Event>({ rawBody, headers, secret });
  } catch {
    return undefined;
  }
}

function note(
  seen: Map<string, Seen>,
  headers: NodeJS.Dict<string | string[]>,
  result: { event: WebhookEvent<Event> | undefined; status: number },
  print: (text: string) => void,
): void {
  const id = String(headers['x-webhook-id']);
  const event = String(headers['x-webhook-event']);
  const verified = result.event !== undefined;
  const { transaction_hash: hash, network = '', currency = '' } = result.event?.data ?? {};
  const now = Date.now();
  const entry = seen.get(id) ?? { event, hash, attempts: 0, accepted: 0, verified: true, lastAt: now };
  const gap =
    entry.attempts === 0
      ? 'first attempt'
      : `attempt ${entry.attempts + 1}, ${((now - entry.lastAt) / 1_000).toFixed(1)} s after the one before`;
  seen.set(id, entry);
  entry.attempts += 1;
  entry.lastAt = now;
  entry.verified &&= verified;
  if (result.status === 200) entry.accepted += 1;
  print(
    `${event.padEnd(18)} ${network.padEnd(4)} ${currency.padEnd(4)} answered ${result.status}, signature verified: ${verified ? 'yes' : 'NO'}, ${gap}`,
  );
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
