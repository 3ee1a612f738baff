import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Deps } from '../services/deps.ts';
import { answerOnce, IdempotencyConflict, type KeptAnswer, type KeyedWork } from '../services/idempotency.ts';
import { ApiError, toApiError } from './errors.ts';
import { readRawBody } from './requests/body.ts';
import type { Caller, Route } from './route.ts';

/** The request's header, in lower case as Node names it. */
const KEY_HEADER = 'idempotency-key';
/** Set on an answer that was given before. */
export const REPLAYED_HEADER = 'Idempotency-Replayed';
/**
 * One to 255 visible characters; a header that was sent twice is joined with a space, so it does not match.
 */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;
const RETRY_AFTER_S = 1;

/** Whether requests of a route may carry a key: every POST of a known caller may. */
export function takesKey(route: Route): boolean {
  return route.method === 'post' && route.auth === 'merchant';
}

/** The key of a request and what it stands for. */
export type Once = { readonly key: string; readonly requestHash: string };

/**
 * The key of a POST that carries one, with the hash of what else the request says: the body byte by
 * byte, and the query. Throws 400 for a malformed key, and what reading the body throws. Undefined for
 * other requests, for which the header means nothing.
 */
export async function readOnce(route: Route, ctx: Context): Promise<Once | undefined> {
  const key = ctx.req.headers[KEY_HEADER];
  if (key === undefined || !takesKey(route)) return undefined;
  // A route that takes no body is sometimes sent one; whether two requests
  // are the same depends on that as well.
  const bytes = await readRawBody(ctx);
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw new ApiError(
      'VALIDATION_ERROR',
      'Idempotency-Key must have 1 to 255 visible ASCII characters, and be sent once.',
    );
  }
  const query = Buffer.from(ctx.querystring);
  const hash = createHash('sha256').update(`${query.length}:`).update(query).update(bytes);
  return { key, requestHash: hash.digest('hex') };
}

/**
 * The answer of `work`, carried out once for the key: a repeated request gets the stored one, marked as
 * `replayed`; one that holds a secret goes to the same API key or person alone. Throws 409 for a key that was
 * used with another request, or whose request is not over yet.
 */
export async function replyOnce<P>(
  deps: Deps,
  request: { readonly route: Route; readonly caller: Caller; readonly params: unknown; readonly once: Once },
  work: Omit<KeyedWork<P>, 'keptRefusal'>,
): Promise<KeptAnswer & { readonly replayed: boolean }> {
  const { caller, route, once } = request;
  const scope = {
    merchantId: caller.merchantId,
    mode: caller.mode,
    method: route.method.toUpperCase(),
    path: pathOf(route, request.params),
  };
  const who = caller.kind === 'key' ? caller.keyId : caller.userId;
  const callersHash = createHash('sha256').update(`${once.requestHash}:${who}`).digest('hex');
  try {
    return await answerOnce(deps, { ...scope, ...once, callersHash }, { ...work, keptRefusal });
  } catch (error) {
    if (error instanceof IdempotencyConflict) throw conflict(error);
    throw error;
  }
}

/**
 * A conflict is an answer about the data, and the same request must get it again; every
 * other refusal may be put right and tried again.
 */
function keptRefusal(error: unknown): KeptAnswer | undefined {
  const refusal = toApiError(error);
  return refusal.status === 409 ? { status: 409, body: JSON.stringify(refusal.toBody()) } : undefined;
}

function conflict({ reason }: IdempotencyConflict): ApiError {
  if (reason === 'in_flight') {
    const sentence =
      'A request with this Idempotency-Key is still being worked on. Try again in a moment with the same key.';
    return new ApiError('IDEMPOTENCY_CONFLICT', sentence, { headers: { 'Retry-After': `${RETRY_AFTER_S}` } });
  }
  return new ApiError(
    'IDEMPOTENCY_CONFLICT',
    'This Idempotency-Key was used with another request, or by another API key for a secret. Use a new key for a new request.',
  );
}

/** One spelling for one resource, however the request spelled its path. */
function pathOf(route: Route, params: unknown): string {
  const values = new Map(Object.entries(params ?? {}));
  return route.path.replace(/:([a-z_]+)/g, (_all, name: string) => String(values.get(name)));
}
