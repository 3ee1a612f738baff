// One JSON-RPC request to one endpoint. Everything an endpoint can do wrong becomes an EndpointFailure with a short reason.
import { EndpointFailure, RpcRejected } from './errors.ts';
import type { HttpAnswer, HttpPost } from './http-post.ts';

/** An endpoint as configured, split so that only `host` is ever shown: path, query and user information often hold an API key. */
export type Endpoint = {
  readonly host: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
};

export type CallOptions = { readonly post: HttpPost; readonly timeoutMs: number; readonly maxResponseBytes: number };

/** Splits an endpoint URL; throws a sentence without the URL in it. User information becomes an Authorization header. */
export function parseEndpoint(text: string): Endpoint {
  if (!URL.canParse(text)) throw new Error('an RPC endpoint is not a URL: write it as https://host/path');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`the RPC endpoint ${url.host} must be an http or https URL`);
  const { username, password } = url;
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (username || password) {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), username, password];
  return { host: url.host, url: url.href, headers, secrets: parts.filter((part) => part.length >= 6) };
}

/** A text from outside, fit for a log: no URL, none of the endpoint's secrets, one line, at most 120 characters. */
export function redact(endpoint: Endpoint, text: string): string {
  let clean = text.replace(/\bhttps?:\/\/\S+/gi, '***').replace(/[\p{Cc}\s]+/gu, ' ');
  for (const secret of endpoint.secrets) clean = clean.replaceAll(secret, '***').replaceAll(decodeLoosely(secret), '***');
  return clean.slice(0, 120).trim();
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let lastId = 0;

/**
 * Sends one request and returns its `result` (null included). Throws the signal's reason when the caller aborts, RpcRejected when
 * the node refused the call itself, EndpointFailure for everything else.
 */
export async function callEndpoint(
  endpoint: Endpoint,
  request: { readonly method: string; readonly params: readonly unknown[] },
  options: CallOptions,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  // The id only pairs an answer with its question on one connection, so a counter of the process is enough.
  lastId = (lastId + 1) % 1_000_000_000;
  const id = lastId;
  const abort = new AbortController();
  const stop = () => abort.abort();
  const timer = setTimeout(stop, options.timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { url, headers } = endpoint;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: request.method, params: request.params });
    const answer = await options.post({ url, headers, body, maxBytes: options.maxResponseBytes }, abort.signal);
    return readAnswer(endpoint, answer, id);
  } catch (error) {
    signal.throwIfAborted();
    if (abort.signal.aborted) throw new EndpointFailure(`no answer within ${options.timeoutMs / 1000} s`);
    if (error instanceof EndpointFailure || error instanceof RpcRejected) throw error;
    throw new EndpointFailure(connectionReason(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function readAnswer(endpoint: Endpoint, { status, headers, text }: HttpAnswer, id: number): unknown {
  const ok = status >= 200 && status < 300;
  const throttled = status === 429 || status === 403;
  const retryAfterMs = retryAfter(headers['retry-after']);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    if (!ok) throw new EndpointFailure(`http ${status}`, { throttled, retryAfterMs });
    throw new EndpointFailure(text.trimStart().startsWith('<') ? 'an HTML page instead of JSON' : 'not JSON or cut short');
  }
  // Some nodes send a JSON-RPC error with status 400 or 500: a revert has to be seen behind it.
  const members = isRecord(answer) ? answer : {};
  if (isRecord(members['error']) && !throttled) throw rpcError(endpoint, members['error']);
  if (!ok) throw new EndpointFailure(`http ${status}`, { throttled, retryAfterMs });
  if (members['id'] !== id) throw new EndpointFailure('an answer to another request');
  if (!('result' in members)) throw new EndpointFailure('neither result nor error');
  return members['result'];
}

function rpcError(endpoint: Endpoint, error: Record<string, unknown>): Error {
  const code = typeof error['code'] === 'number' ? error['code'] : 0;
  const message = redact(endpoint, typeof error['message'] === 'string' ? error['message'] : '');
  if (code === 3 || /revert/i.test(message)) return new RpcRejected(message || 'execution reverted');
  const throttled = code === -32005 || code === 429 || /limit|too many/i.test(message);
  return new EndpointFailure(`rpc error ${code}${message ? ` ${message}` : ''}`, { throttled });
}

function retryAfter(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,5}$/.test(header) ? Number.parseInt(header, 10) * 1000 : undefined;
}

function connectionReason(error: unknown): string {
  // Only the code (ECONNREFUSED, ENOTFOUND, …): the message can repeat the URL.
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}

/** A JSON object, as opposed to null, a list or a scalar. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
