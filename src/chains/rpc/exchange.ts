// One POST to one endpoint, whatever protocol it speaks: its limits, and what a failed connection is called.
import type { Endpoint } from './endpoint-url.ts';
import { BudgetSpent, EndpointFailure } from './errors.ts';
import type { HttpHeaders, HttpPost, HttpQuestion, HttpResponse } from './http-post.ts';

export type CallOptions = {
  readonly post: HttpPost;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Waited for before a request is sent a second time; throws BudgetSpent where it must not be. */
  readonly again?: HttpQuestion['again'];
};

/**
 * Posts the body and returns the whole response, whatever its status. Throws the signal's reason when the
 * caller aborts, EndpointFailure where no whole response came in time.
 */
export async function exchange(
  { url, headers }: Pick<Endpoint, 'url' | 'headers'>,
  body: string,
  { post, timeoutMs, maxResponseBytes: maxBytes, again }: CallOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  signal.throwIfAborted();
  const abort = new AbortController();
  const stop = () => abort.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await post({ url, headers, body, maxBytes, again }, abort.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (abort.signal.aborted) throw new EndpointFailure(`no answer within ${timeoutMs / 1000} s`);
    if (error instanceof EndpointFailure || error instanceof BudgetSpent) throw error;
    throw new EndpointFailure(connectionReason(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** What a body that should be JSON and is none is called. */
export function notJson(text: string): string {
  return text.trimStart().startsWith('<') ? 'an HTML page instead of JSON' : 'not JSON or cut short';
}

/** Retry-After in milliseconds, as seconds or as a date; a date is measured by the endpoint's own clock. */
export function retryAfter(headers: HttpHeaders): number | undefined {
  const text = headers['retry-after'];
  if (typeof text !== 'string') return undefined;
  if (/^\d{1,5}$/.test(text)) return Number.parseInt(text, 10) * 1_000;
  const waitMs = Date.parse(text) - Date.parse(String(headers['date']));
  return waitMs > 0 ? waitMs : undefined;
}

function connectionReason(error: unknown): string {
  // Only the code (ECONNREFUSED, ENOTFOUND, …): the message can repeat the URL.
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}
