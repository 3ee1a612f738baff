import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';
import type { Log } from '../services/deps.ts';
import { toApiError } from './errors.ts';

const SHORT_TOKEN = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives every request an id, turns whatever is thrown into the error answer, and writes one line about the request. */
export function frame(log: Log): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(ctx);
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    // Answers hold personal data and, now and then, a secret.
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      renderError(ctx, log, requestId, error);
    }
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
    const route = String(ctx['_matchedRoute'] ?? '(none)');
    const merchantId = ctx.state['caller']?.merchantId;
    log.info({ requestId, method: ctx.method, route, status: ctx.status, durationMs, merchantId }, 'request');
  };
}

function renderError(ctx: Context, log: Log, requestId: string, thrown: unknown): void {
  const error = toApiError(thrown);
  if (error.status >= 500) log.error({ requestId, code: error.code, err: error.cause ?? error }, 'a request failed');
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.type = 'application/json';
  ctx.body = JSON.stringify(error.toBody());
}

function requestIdOf(ctx: Context): string {
  const given = ctx.req.headers['x-request-id'];
  return typeof given === 'string' && SHORT_TOKEN.test(given) ? given : randomUUID();
}
