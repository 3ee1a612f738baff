import type { Middleware } from 'koa';
import { sharedResult } from '../base/async/shared-result.ts';
import type { Gateway } from './compose.ts';
import { refreshMetrics } from './figures.ts';
import type { Readiness } from './health.ts';

/** `/health/live` alone: it says that this process answers, costs nothing and reveals nothing. */
export function liveRoute(): Middleware {
  return async (context, next) => {
    const asked = context.path === '/health/live' && (context.method === 'GET' || context.method === 'HEAD');
    if (!asked) return await next();
    context.body = { live: true };
  };
}

/**
 * What operators' tools ask: `/health/live`, `/health/ready` and `/metrics`, at the server's root and
 * without a key. Because anybody may ask, and as often as they like, callers that ask at the same time
 * share one answer, which is at most about a second old.
 */
export function healthRoutes(gateway: Gateway, ready: () => Promise<Readiness>): Middleware {
  const readiness = sharedResult(ready);
  const figures = sharedResult(async () => {
    await refreshMetrics(gateway);
    return await gateway.metrics.registry.metrics();
  });
  return async (context, next) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return await next();
    if (context.path === '/health/live') {
      context.body = { live: true };
    } else if (context.path === '/health/ready') {
      const state = await readiness();
      context.status = state.ready ? 200 : 503;
      context.body = { ready: state.ready, reasons: state.reasons, notes: state.notes };
    } else if (context.path === '/metrics') {
      context.type = gateway.metrics.registry.contentType;
      context.body = await figures();
    } else {
      await next();
    }
  };
}
