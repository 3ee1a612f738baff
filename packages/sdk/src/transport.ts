import { GatewayError, type GatewayErrorDetail } from './errors.ts';

export type ClientOptions = {
  /** Ends in `/api/v1`. */
  readonly baseUrl: string;
  /** `sk_live_…` or `sk_test_…`; its prefix decides the mode. */
  readonly apiKey: string;
  /** Replaces the platform's own `fetch`, for a proxy or a test. */
  readonly fetch?: typeof fetch | undefined;
  /** The limit for one attempt, from the first byte sent to the last one read; unset means 15 s. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first; unset means 3, and 0 means none. */
  readonly maxRetries?: number | undefined;
};

/** The options of one call. */
export type CallOptions = {
  /**
   * For a POST: the same key and the same request take effect once, also from another process and
   * a day later. Unset means that a new one is made.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ends the call, its retries and its waits; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base URL, encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: object | undefined;
};

/** Carries out one request, with whatever retries are safe. Rejects with a {@link GatewayError}. */
export type Send = <T>(request: Request, options?: CallOptions) => Promise<T>;

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_RETRIES = 3;
const MAX_RETRIES = 10;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** Whether to wait longer is left to the caller. */
const MAX_RETRY_AFTER_S = 30;
/** No answer of the API comes near this length. */
const MAX_TEXT_PREVIEW = 200;
const MAX_WARNINGS = 20;
/** Answers of what is between us and the API: the request may have arrived. */
const AWAY = new Set([502, 503, 504]);

/**
 * Makes what sends every request. A request is sent again, with the same Idempotency-Key, after a broken
 * connection, no answer in time, 429, 502, 503, 504 and the conflict with a request that is still being
 * worked on; after nothing else, and at most `maxRetries` times. GET, PUT and DELETE have the same effect
 * when they are sent twice. Throws a TypeError for options that cannot work.
 */
export function createSend(options: ClientOptions): Send {
  const base = baseOf(options.baseUrl);
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_RETRIES } = options;
  if (!/^sk_(live|test)_[!-~]+$/.test(apiKey))
    throw new TypeError('apiKey must be a key of the gateway: sk_live_… or sk_test_…');
  // A page has a document, and everybody who opens it has what stands in it.
  if (apiKey.startsWith('sk_live_') && 'document' in globalThis)
    throw new TypeError('a live key must never reach a browser: call the gateway from your server');
  if (!Number.isInteger(maxRetries) || maxRetries < 0 || maxRetries > MAX_RETRIES)
    throw new TypeError(`maxRetries must be a whole number from 0 to ${MAX_RETRIES}`);
  if (!(timeoutMs > 0) || !Number.isFinite(timeoutMs)) throw new TypeError('timeoutMs must be more than 0');
  const ask = options.fetch ?? fetch;
  const warned = new Set<string>();

  return async <T>(request: Request, call: CallOptions = {}): Promise<T> => {
    const idempotencyKey = request.method === 'POST' ? (call.idempotencyKey ?? newKey()) : undefined;
    const url = `${base}${request.path}${queryOf(request.query)}`;
    const init: RequestInit = {
      method: request.method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${apiKey}`,
        ...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      // The key must not follow a redirect, and a POST would become a GET.
      redirect: 'manual',
    };
    for (let attempt = 1; ; attempt += 1) {
      const sent: Sent = { request, idempotencyKey, attempts: attempt };
      const outcome = await attemptOnce(ask, url, init, { sent, timeoutMs, signal: call.signal, warned });
      if (!(outcome instanceof GatewayError)) return outcome as T;
      const pauseMs = attempt > maxRetries ? undefined : pauseAfter(outcome, attempt);
      if (pauseMs === undefined) throw outcome;
      await pause(pauseMs, call.signal);
    }
  };
}

type Sent = {
  readonly request: Request;
  readonly idempotencyKey: string | undefined;
  readonly attempts: number;
};
type Limits = {
  readonly sent: Sent;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly warned: Set<string>;
};

async function attemptOnce(
  ask: typeof fetch,
  url: string,
  init: RequestInit,
  { sent, timeoutMs, signal, warned }: Limits,
): Promise<unknown> {
  signal?.throwIfAborted();
  // Not AbortSignal.any: Node 18 has none.
  const ending = new AbortController();
  const end = (): void => ending.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    ending.abort();
  }, timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await ask(url, { ...init, signal: ending.signal });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const { method, path } = sent.request;
    const what = late ? `no answer within ${timeoutMs} ms` : `the connection broke${reasonOf(cause)}`;
    return new GatewayError(`${method} ${path}: ${what}`, {
      ...told(sent),
      status: 0,
      code: late ? 'TIMEOUT' : 'NO_ANSWER',
      cause,
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
  warn(`${sent.request.path}: the gateway ignored`, response.headers.get('x-ignored-parameters'), warned);
  const body = parse(text);
  if (response.ok && body) return body;
  return errorOf(response, body, text, sent);
}

/** A misspelt filter lets everything through: what the gateway did not know is said, once. */
function warn(what: string, ignored: string | null, warned: Set<string>): void {
  if (!ignored || warned.size >= MAX_WARNINGS || warned.has(ignored)) return;
  warned.add(ignored);
  console.warn(`@deposit-gateway/sdk: ${what} ${ignored}`);
}

/** The platform's own word, such as ENOTFOUND, which lies below what `fetch` throws. */
function reasonOf(error: unknown): string {
  const { code } = (error as { cause?: { code?: unknown } } | undefined)?.cause ?? {};
  return typeof code === 'string' ? ` (${code})` : '';
}

function errorOf(
  response: Response,
  body: Record<string, unknown> | undefined,
  text: string,
  sent: Sent,
): GatewayError {
  const { status, headers } = response;
  const { method, path } = sent.request;
  const [sentence, code] = [body?.['error'], body?.['code']];
  const known = {
    ...told(sent),
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(headers.get('retry-after')),
  };
  if (typeof sentence !== 'string' || typeof code !== 'string') {
    const preview = text.slice(0, MAX_TEXT_PREVIEW);
    return new GatewayError(`${method} ${path}: ${status} is no answer of the gateway: ${preview}`, {
      ...known,
      code: 'INVALID_ANSWER',
    });
  }
  const { details, field, minimum } = body as {
    details?: GatewayErrorDetail[];
    field?: string;
    minimum?: number;
  };
  return new GatewayError(`${method} ${path}: ${status} ${code}: ${sentence}`, {
    ...known,
    code,
    details,
    field,
    minimum,
  });
}

function told({ idempotencyKey, attempts }: Sent) {
  return { idempotencyKey, attempts };
}

/** Milliseconds until the request may be sent again; undefined when it must not be. */
function pauseAfter(error: GatewayError, attempt: number): number | undefined {
  const inFlight = error.code === 'IDEMPOTENCY_CONFLICT' && error.retryAfter !== undefined;
  if (error.status !== 0 && error.status !== 429 && !AWAY.has(error.status) && !inFlight) return undefined;
  if (error.retryAfter !== undefined && error.retryAfter > MAX_RETRY_AFTER_S) return undefined;
  const backoffMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  // Clients that failed together must not come back together.
  const ownMs = backoffMs * (0.5 + Math.random() / 2);
  return error.retryAfter === undefined ? ownMs : error.retryAfter * 1_000 + Math.random() * FIRST_PAUSE_MS;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

function baseOf(baseUrl: string): string {
  const url = urlOf(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new TypeError('baseUrl must be an http or https URL that ends in /api/v1');
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Not URL.canParse: the first versions of Node 18 have none. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A key that no other request has. It is no secret, so without `crypto` (Node 18) other numbers do. */
function newKey(): string {
  const part = (): string => Math.random().toString(36).slice(2);
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now().toString(36)}-${part()}${part()}${part()}`;
}

function queryOf(query: Readonly<Record<string, unknown>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    search.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** The header's seconds; the gateway never sends its other form, a date. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
