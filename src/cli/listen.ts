import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verifyWebhook } from '../../packages/sdk/src/index.ts';
import { pause } from '../base/async/pause.ts';
import { OperatorError } from '../base/errors.ts';
import { jsonLine } from '../base/terminal.ts';
import { plain } from './table.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_SHOWN = 4_096;
const REFUSED = 400;

export type ListenOptions = {
  readonly port: number;
  readonly secret: string | undefined;
  readonly status: number;
  readonly delayMs: number;
  readonly reset: boolean;
  readonly json: boolean;
};

type Seen = {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** Null without a secret to verify with. */
  readonly verified: boolean | null;
  readonly problem: string | null;
  readonly event: string | null;
  readonly event_id: string | null;
  readonly attempt: string | null;
  readonly answered: number | 'reset';
  readonly body: string;
};

/**
 * Runs a receiver on 127.0.0.1 until SIGINT or SIGTERM. With `json`, stdout gets one line that
 * says where it listens, and every request is a JSON line on stderr; else everything is text on
 * stdout. Throws an OperatorError for a taken port.
 */
export async function listenForWebhooks(options: ListenOptions): Promise<void> {
  const stop = new AbortController();
  const server = createServer((request, response) => {
    receive(options, request, response, stop.signal).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(asRefusal(error, options.port)));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : options.port}/`;
  process.stdout.write(
    options.json
      ? jsonLine({ listening: true, url, pid: process.pid })
      : `Listening on ${url}${options.secret ? '' : ' (without WEBHOOK_SECRET nothing is verified)'}. Ctrl-C ends it.\n`,
  );
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  stop.abort();
  server.close();
  server.closeAllConnections();
}

function asRefusal(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new OperatorError(
      `Port ${port} is taken`,
      'Give another one with --port, or --port 0 for a free one',
      { cause: error },
    );
  if (error.code === 'EACCES')
    return new OperatorError(`Port ${port} is not open to this user`, 'Give one above 1023 with --port', {
      cause: error,
    });
  return error;
}

async function receive(
  options: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
  stop: AbortSignal,
): Promise<void> {
  const body = await readBody(request);
  const seen = describe(options, request, body);
  print(options, seen);
  if (options.delayMs > 0) await pause(options.delayMs, stop);
  if (seen.answered === 'reset') request.socket.resetAndDestroy();
  else
    response
      .writeHead(seen.answered, { 'content-type': 'application/json' })
      .end(`{"received":${body !== undefined}}\n`);
}

/** What is not from the gateway gets the answer of every receiver, whatever else is asked for. */
function answerOf({ status }: ListenOptions, verified: boolean | null): number {
  return verified === false ? REFUSED : status;
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

function describe(options: ListenOptions, request: IncomingMessage, body: Buffer | undefined): Seen {
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : null;
  };
  const judged = verdict(options, request, body);
  return {
    at: new Date().toISOString(),
    method: request.method ?? '',
    path: request.url ?? '',
    ...judged,
    event: header('x-webhook-event'),
    event_id: header('x-webhook-id'),
    attempt: header('x-webhook-attempt'),
    answered: options.reset ? 'reset' : answerOf(options, judged.verified),
    body: body === undefined ? '' : body.toString('utf8').slice(0, MAX_SHOWN),
  };
}

function verdict(
  options: ListenOptions,
  request: IncomingMessage,
  body: Buffer | undefined,
): Pick<Seen, 'verified' | 'problem'> {
  if (body === undefined) return { verified: false, problem: 'the body is larger than 1 MiB' };
  if (options.secret === undefined) return { verified: null, problem: null };
  try {
    verifyWebhook({ rawBody: body, headers: request.headers, secret: options.secret });
    return { verified: true, problem: null };
  } catch (error) {
    return { verified: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function print(options: ListenOptions, seen: Seen): void {
  if (options.json) {
    process.stderr.write(jsonLine(seen));
    return;
  }
  const signature =
    seen.verified === null
      ? 'not verified'
      : seen.verified
        ? 'signature right'
        : `NOT VALID: ${plain(seen.problem)}`;
  const attempt = seen.attempt === null ? '' : `  attempt ${plain(seen.attempt)}`;
  const head = `${seen.at}  ${plain(seen.method)} ${plain(seen.path)}  ${plain(seen.event)}${attempt}  ${signature}  → ${seen.answered}`;
  process.stdout.write(`${head}\n${seen.body === '' ? '' : shown(seen.body)}`);
}

/** The body on one line; for a person at a terminal it is laid out, where it is JSON. */
function shown(body: string): string {
  const lines = process.stdout.isTTY ? laidOut(body).split('\n') : [body];
  return lines.map((line) => `  ${plain(line)}\n`).join('');
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
