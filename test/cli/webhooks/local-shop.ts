import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';

type Got = { id: string; body: Buffer; event: string };

const OWN = ['x-webhook-signature', 'x-webhook-timestamp'];
const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** A developer's shop on their own machine, which takes what the SDK's verifier takes, in both schemes. */
export class LocalShop {
  readonly got: Got[] = [];
  secret = '';
  status = 200;
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://localhost:${this.#port}/hook`;
  }

  async open(): Promise<void> {
    this.#server = createServer((asked, answer) => {
      this.#take(asked).then(
        () => answer.writeHead(this.status).end('{"ok":true}'),
        (error: Error) => answer.writeHead(400).end(error.message),
      );
    });
    await new Promise<void>((done) => this.#server?.listen(this.#port, done));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((done) => this.#server?.close(done));
  }

  async #take(asked: IncomingMessage): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    const rawBody = Buffer.concat(parts);
    const without = (names: string[]) =>
      Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !names.includes(name)));
    for (const names of [OWN, STANDARD])
      verifyWebhook({ rawBody, headers: without(names), secret: this.secret });
    const { event } = verifyWebhook({ rawBody, headers: asked.headers, secret: this.secret });
    this.got.push({ id: String(asked.headers['x-webhook-id']), body: rawBody, event });
  }
}
