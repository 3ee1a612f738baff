import http from 'node:http';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Outcome, WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import { AttemptFailed, describeNetworkError } from './attempt-failed.ts';
import type { Lookup } from './lookup.ts';
import { createReceiverContext, openSocket } from './socket.ts';
import { parseTarget, resolveTarget, type Target, type TargetPolicy, TargetRefused } from './target.ts';

export type TransportDeps = {
  readonly lookup: Lookup;
  readonly policy: TargetPolicy;
  /** A monotonic clock in milliseconds, for durations only. */
  readonly now: () => number;
};

export type Post = {
  readonly url: string;
  /**
   * Read after `onLookup`, so that the headers can carry
   * what it decided. Host and Content-Length are added here.
   */
  readonly headers: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  readonly body: Uint8Array;
  /** The limit for name lookup, connection, TLS, status line and headers together. */
  readonly timeoutMs?: number;
  /**
   * Awaited before anything of the attempt happens. When it throws,
   * nothing is looked up or sent and `post` rejects with its error.
   */
  readonly onLookup?: () => Promise<void>;
};

/**
 * Sends one attempt. Resolves whatever the network or the
 * receiver does; rejects only for `onLookup` and our own defects.
 */
export type WebhookTransport = { readonly post: (input: Post) => Promise<Outcome> };

/**
 * A transport that connects to vetted addresses only, follows no redirect, uses no proxy
 * and keeps no connection. Each post has one deadline over everything; when `post` has
 * settled, its sockets are destroyed. Throws when `policy.caPem` holds no certificate.
 */
export function createWebhookTransport(deps: TransportDeps): WebhookTransport {
  const context = createReceiverContext(deps.policy.caPem);
  return {
    post: async (input) => {
      await input.onLookup?.();
      const headers = typeof input.headers === 'function' ? input.headers() : input.headers;
      return attempt(deps, context, { ...input, headers });
    },
  };
}

type Attempt = Post & { readonly headers: Readonly<Record<string, string>> };

async function attempt(deps: TransportDeps, context: SecureContext, input: Attempt): Promise<Outcome> {
  const startedMs = deps.now();
  const timeoutMs = input.timeoutMs ?? WEBHOOK_LIMITS.attemptMs;
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new AttemptFailed('TIMEOUT', `no answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  let socket: Socket | undefined;
  try {
    const target = parseTarget(input.url, deps.policy);
    const addresses = await untilAborted(
      resolveTarget(deps, target, deps.policy, deadline.signal),
      deadline.signal,
    );
    socket = await openSocket({ target, addresses, context, timeoutMs, signal: deadline.signal });
    const response = await exchange(socket, target, input, deadline.signal);
    const durationMs = deps.now() - startedMs;
    const bodyText = response.message ? storedText(await readBody(response.message, deadline.signal)) : '';
    return { kind: 'response', status: response.status, bodyText, durationMs };
  } catch (error) {
    const failed =
      error instanceof TargetRefused
        ? new AttemptFailed('TARGET_REFUSED', `target refused: ${error.message}`)
        : error;
    if (!(failed instanceof AttemptFailed)) throw failed;
    return { kind: 'error', code: failed.code, message: failed.message, durationMs: deps.now() - startedMs };
  } finally {
    clearTimeout(timer);
    socket?.destroy();
    deadline.abort(); // ends a lookup that nobody waits for any more
  }
}

/**
 * Waits for the lookup or for the signal: the lookup may ignore its signal,
 * but the attempt does not. The lookup's errors become the attempt's failure.
 */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, (error: unknown) => {
      if (error instanceof TargetRefused) reject(error);
      else reject(signal.aborted ? signal.reason : describeNetworkError('DNS', error));
    });
    promise.finally(() => signal.removeEventListener('abort', onAbort)).catch(() => {});
  });
}

type Response = { readonly status: number; readonly message?: http.IncomingMessage };

/** Sends the request on the open socket and waits for the final status line and its headers. */
function exchange(socket: Socket, target: Target, input: Attempt, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      createConnection: () => socket,
      method: 'POST',
      path: `${target.url.pathname}${target.url.search}`,
      headers: {
        ...input.headers,
        Host: target.url.host,
        'Content-Length': String(input.body.byteLength),
        Connection: 'close',
      },
      setHost: false,
      maxHeaderSize: WEBHOOK_LIMITS.responseHeaderBytes,
      insecureHTTPParser: false,
    });
    const onAbort = () => request.destroy(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const done = () => signal.removeEventListener('abort', onAbort);
    let informational = 0;
    request.on('information', () => {
      informational += 1;
      if (informational > WEBHOOK_LIMITS.informationalResponses)
        request.destroy(new AttemptFailed('PROTOCOL', 'too many 1xx answers'));
    });
    request.on('response', (message) => {
      done();
      resolve({ status: message.statusCode ?? 0, message });
    });
    // 101 hands the socket over; here it is a status like any other. The caller destroys the socket.
    request.on('upgrade', (message) => {
      done();
      resolve({ status: message.statusCode ?? 0 });
    });
    request.on('error', (error) => {
      done();
      reject(describeNetworkError('RESET', error));
    });
    if (signal.aborted) onAbort();
    else request.end(input.body);
  });
}

/**
 * Reads what comes until the end, the limit, the deadline or an error: the status line has decided already.
 */
function readBody(message: http.IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = () => {
      signal.removeEventListener('abort', done);
      message.destroy();
      resolve(Buffer.concat(chunks));
    };
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes - chunk.byteLength < WEBHOOK_LIMITS.bodyStoredBytes) chunks.push(chunk);
      if (bytes >= WEBHOOK_LIMITS.bodyReadBytes) done();
    });
    message.on('end', done);
    message.on('error', done);
    message.on('close', done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted || message.destroyed) done();
  });
}

/**
 * The start of a body as text that PostgreSQL takes: valid
 * UTF-8, no NUL, at most 4 KiB, no character cut in half.
 */
function storedText(body: Buffer): string {
  const limit = WEBHOOK_LIMITS.bodyStoredBytes;
  const text = body.subarray(0, limit).toString('utf8').replaceAll('\u0000', '\ufffd');
  if (Buffer.byteLength(text) <= limit && body.byteLength <= limit) return text;
  // Replacement characters are longer than the bytes they stand
  // for, and the cut may have left half a character behind.
  const bytes = Buffer.from(text.replace(/\ufffd$/u, ''));
  let end = Math.min(limit, bytes.byteLength);
  while (end > 0 && end < bytes.byteLength && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
