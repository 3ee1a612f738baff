import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Next } from 'koa';
import { logFailure } from '../base/errors.ts';
import type { Logger } from '../services/deps.ts';
import { toApiError } from './errors.ts';
import type { Caller } from './route.ts';

const SHORT_TOKEN = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * The status of refusals that tell of guessing, of a stolen key or of a flood: an operator looks for them.
 */
const TOLD: ReadonlySet<number> = new Set([401, 403, 429, 503]);

/**
 * Gives every request an id, turns whatever is thrown into the error answer, and writes one line
 * about the request: who asked, from which network, and what came of it. Never a credential.
 */
export function frame(
  log: Logger,
  networkOf: (request: IncomingMessage) => string,
): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const startedAt = performance.now();
    // Read now: when the caller leaves, the connection's address is gone too.
    const network = networkOf(ctx.req);
    let code: string | undefined;
    const requestId = requestIdOf(ctx);
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    // Answers hold personal data and, now and then, a secret.
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      code = renderError(ctx, log, requestId, error);
    }
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const route = String(ctx['_matchedRoute'] ?? '(none)');
    const { method, status } = ctx;
    // A refusal that was shown as a page, and the account of a refused login.
    code ??= ctx.state['code'];
    const { account } = ctx.state;
    const aborted = ctx.res.headersSent || !ctx.res.destroyed ? undefined : true;
    const fields = {
      requestId,
      method,
      route,
      status,
      code,
      durationMs,
      network,
      account,
      ...whoOf(ctx.state['caller']),
      aborted,
    };
    if (TOLD.has(status)) log.warn(fields, 'request');
    else log.info(fields, 'request');
  };
}

function whoOf(caller: Caller | undefined): Record<string, string> {
  if (!caller) return {};
  const { merchantId, mode } = caller;
  return caller.kind === 'key'
    ? { keyId: caller.keyId, merchantId, mode }
    : { userId: caller.userId, merchantId, mode };
}

function renderError(ctx: Context, log: Logger, requestId: string, thrown: unknown): string {
  const error = toApiError(thrown);
  if (error.status >= 500)
    logFailure(log, { requestId, code: error.code, err: error.cause ?? error }, 'a request failed');
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.type = 'application/json';
  ctx.body = JSON.stringify(error.toBody());
  return error.code;
}

function requestIdOf(ctx: Context): string {
  const given = ctx.req.headers['x-request-id'];
  return typeof given === 'string' && SHORT_TOKEN.test(given) ? given : randomUUID();
}
