import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';
import { pause } from '../../base/async/pause.ts';
import { OperatorError, UsageError } from '../../base/errors.ts';
import { jsonLine } from '../../base/terminal.ts';
import { flagOf } from '../arguments.ts';
import { followAs, readSigningSecret } from '../follow/forward.ts';
import { FORWARDING, memberOf } from '../follow/options.ts';
import { plain } from '../print.ts';
import type { CommandCall } from '../run.ts';

const DEFAULT_PORT = 8_090;
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_SHOWN = 4_096;
const REFUSED = 400;
const RECEIVING = ['port', 'status', 'delay'];

type Receive = {
  readonly port?: number;
  readonly secretStdin?: true;
  readonly status?: number;
  readonly delay?: number;
  readonly json?: true;
};
type Options = Receive & {
  readonly forwardTo?: URL;
  readonly api?: string;
  readonly keyStdin?: true;
  readonly events?: readonly string[];
  readonly since?: Date;
};

/** Follows an API key's events, or is a receiver on this machine. */
export async function listen({ options }: CommandCall<Options>) {
  const { forwardTo } = options;
  const following = FORWARDING.map(([flags]) => memberOf(flags.split(' ', 1)[0] ?? ''));
  const alien = (forwardTo ? RECEIVING : following).find((name) => name in options);
  if (alien !== undefined)
    throw new UsageError(`${flagOf(alien)} ${forwardTo ? 'has no meaning with' : 'needs'} --forward-to`);
  if (forwardTo) await followAs({ ...options, to: forwardTo });
  else await receive(options, await readSigningSecret(options.secretStdin));
  return undefined;
}

/**
 * Runs a receiver on 127.0.0.1 until SIGINT or SIGTERM. With `json`, stdout gets one line that
 * says where it listens, and every request is a JSON line on stderr; else everything is text on
 * stdout. Throws an OperatorError for a taken port.
 */
async function receive(options: Receive, secret: string | undefined): Promise<void> {
  const { port = DEFAULT_PORT, delay = 0, json } = options;
  const stop = new AbortController();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = describe(options, request, await readBody(request), secret);
    if (json) process.stderr.write(jsonLine(seen));
    else print(seen);
    if (delay > 0) await pause(delay, stop.signal);
    response
      .writeHead(seen.answered, { 'content-type': 'application/json' })
      .end(`{"received":${seen.problem !== TOO_LARGE}}\n`);
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(asRefusal(error, port)));
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}/`;
  process.stdout.write(
    json
      ? jsonLine({ listening: true, url, pid: process.pid })
      : `Listening on ${url}${secret ? '' : ' (without WEBHOOK_SECRET nothing is verified)'}. Ctrl-C ends it.\n`,
  );
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
  stop.abort();
  server.close();
  server.closeAllConnections();
}

function asRefusal(error: NodeJS.ErrnoException, port: number): Error {
  const [problem, action] =
    error.code === 'EADDRINUSE'
      ? [`Port ${port} is taken`, 'Give another one with --port, or --port 0 for a free one']
      : [`Port ${port} is not open to this user`, 'Give one above 1023 with --port'];
  return error.code === 'EADDRINUSE' || error.code === 'EACCES'
    ? new OperatorError(problem, action, { cause: error })
    : error;
}

/** Undefined for a body larger than a webhook can be. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    const chunk = Buffer.from(part);
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) parts.push(chunk);
  }
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(parts) : undefined;
}

const TOO_LARGE = 'the body is larger than 1 MiB';

function describe(
  { status = 200 }: Receive,
  request: IncomingMessage,
  body: Buffer | undefined,
  secret: string | undefined,
) {
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : null;
  };
  const problem = problemOf(request, body, secret);
  // Null without a secret to verify with.
  const verified = problem === null ? (secret === undefined ? null : true) : false;
  return {
    at: new Date().toISOString(),
    method: request.method ?? '',
    path: request.url ?? '',
    verified,
    problem,
    event: header('x-webhook-event'),
    event_id: header('x-webhook-id'),
    attempt: header('x-webhook-attempt'),
    // What is not from the gateway gets the answer of every receiver, whatever else is asked for.
    answered: verified === false ? REFUSED : status,
    body: body === undefined ? '' : body.toString('utf8').slice(0, MAX_SHOWN),
  };
}

function problemOf(request: IncomingMessage, body: Buffer | undefined, secret: string | undefined) {
  if (body === undefined) return TOO_LARGE;
  if (secret === undefined) return null;
  try {
    verifyWebhook({ rawBody: body, headers: request.headers, secret });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function print(seen: ReturnType<typeof describe>): void {
  const { verified, body } = seen;
  const signature =
    verified === null ? 'not verified' : verified ? 'signature right' : `NOT VALID: ${plain(seen.problem)}`;
  const attempt = seen.attempt === null ? '' : `  attempt ${plain(seen.attempt)}`;
  const head = `${seen.at}  ${plain(seen.method)} ${plain(seen.path)}  ${plain(seen.event)}${attempt}  ${signature}  → ${seen.answered}`;
  // For a person at a terminal the body is laid out, where it is JSON.
  const lines = process.stdout.isTTY ? laidOut(body).split('\n') : [body];
  const shown = body === '' ? '' : lines.map((line) => `  ${plain(line)}\n`).join('');
  process.stdout.write(`${head}\n${shown}`);
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
