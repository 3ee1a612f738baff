import type { Middleware } from 'koa';
import type { Gateway } from './compose.ts';
import type { Readiness } from './health.ts';
import { refreshMetrics } from './observe.ts';

/** What operators' tools ask: `/health/live`, `/health/ready` and `/metrics`, at the server's root and without a key. */
export function healthRoutes(gateway: Gateway, ready: () => Promise<Readiness>): Middleware {
  return async (context, next) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return await next();
    if (context.path === '/health/live') {
      context.body = { live: true };
    } else if (context.path === '/health/ready') {
      const state = await ready();
      context.status = state.ready ? 200 : 503;
      context.body = { ready: state.ready, reasons: state.reasons, notes: state.notes };
    } else if (context.path === '/metrics') {
      await refreshMetrics(gateway);
      context.type = gateway.metrics.registry.contentType;
      context.body = await gateway.metrics.registry.metrics();
    } else {
      await next();
    }
  };
}
