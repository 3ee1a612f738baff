import type { Middleware } from 'koa';
import type { Refusal } from '../api/http-hardening.ts';
import { MODES, type Network } from '../domain/assets.ts';
import type { Outcome } from '../domain/webhook.ts';
import { QUOTAS, QuotaReached } from '../services/merchants/quotas.ts';
import type { ChainReport } from '../services/watcher/report.ts';
import type { WebhookTransport } from '../services/webhooks/http/transport.ts';
import type { DeliveryReport } from '../services/webhooks/report.ts';
import type { Metrics } from './metrics.ts';

const NO_ROUTE = '(none)';
/**
 * The methods that routes use, and CONNECT, which is refused by name. The parser accepts others
 * too; those are the caller's choice and count as one.
 */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
]);
const CLASSES = [
  '2xx',
  '3xx',
  '4xx',
  '429',
  '5xx',
  'timeout',
  'connection',
  'refused_target',
  'other',
] as const;

/**
 * Makes the series of rare events, with the value zero. A series that only appeared with its first event
 * would never have risen for Prometheus, and no alarm on it would sound.
 */
export function beginAtZero(metrics: Metrics, networks: readonly Network[]): void {
  for (const network of networks) metrics.foundLate.inc({ network }, 0);
  for (const name of CLASSES) metrics.webhookAttempts.inc({ class: name }, 0);
  for (const mode of MODES) {
    for (const quota of QUOTAS) metrics.quotaRefusals.inc({ quota, mode }, 0);
    for (const result of ['succeeded', 'failed'] as const) metrics.webhookDeliveries.inc({ mode, result }, 0);
    for (const step of ['first_attempt', 'success'] as const) metrics.webhookLateness.zero({ mode, step });
  }
}

/**
 * Times every request by its route pattern, so that ids in paths do not become series. The status is the
 * one that was sent, `aborted` where the caller left before any was sent: it is read when the answer
 * leaves, because until then outer middleware may set another.
 */
export function observeHttp(metrics: Metrics): Middleware {
  return async (context, next) => {
    const startedAt = performance.now();
    const { method, res } = context;
    let isCounted = false;
    const count = (): void => {
      if (isCounted) return;
      isCounted = true;
      const route = String(context['_matchedRoute'] ?? NO_ROUTE);
      const status = res.headersSent ? String(res.statusCode) : 'aborted';
      metrics.httpSeconds.observe(
        { method: methodOf(method), route, status },
        (performance.now() - startedAt) / 1_000,
      );
    };
    res.once('finish', count).once('close', count);
    try {
      await next();
    } finally {
      // The answer to a request that waits behind another one is never told that its connection is gone.
      if (context.req.socket.destroyed) count();
    }
  };
}

/** Counts the requests that a quota refused. */
export function observeQuotas(metrics: Metrics): Middleware {
  return async (_context, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof QuotaReached) metrics.quotaRefusals.inc({ quota: error.quota, mode: error.mode });
      throw error;
    }
  };
}

/** Counts what is refused before any route sees it. */
export function observeRefusal(metrics: Metrics): (refusal: Refusal) => void {
  return ({ method, status }) =>
    metrics.httpSeconds.observe({ method: methodOf(method), route: NO_ROUTE, status: String(status) }, 0);
}

function methodOf(method: string | undefined): string {
  if (method === undefined) return '(none)';
  return METHODS.has(method) ? method : 'other';
}

/** The same transport; it counts what passes through it. */
export function observeTransport(transport: WebhookTransport, metrics: Metrics): WebhookTransport {
  return {
    post: async (input) => {
      const outcome = await transport.post(input);
      metrics.webhookAttempts.inc({ class: classOf(outcome) });
      metrics.webhookSeconds.observe(outcome.durationMs / 1_000);
      return outcome;
    },
  };
}

/** What the deliveries of this process report, as metrics. */
export function observeDeliveries(metrics: Metrics): DeliveryReport {
  // A clock that went back makes nothing early.
  const late = (mode: string, step: string, lateMs: number): void =>
    metrics.webhookLateness.observe({ mode, step }, Math.max(0, lateMs) / 1_000);
  return {
    begun: ({ mode, lateMs }) => late(mode, 'first_attempt', lateMs),
    ended: ({ mode, result, lateMs }) => {
      metrics.webhookDeliveries.inc({ mode, result });
      if (result === 'succeeded' && lateMs !== undefined) late(mode, 'success', lateMs);
    },
  };
}

/**
 * What a watcher of this process reports, as metrics. Heights are read from the
 * database instead, where every process sees them.
 */
export function observeChain(metrics: Metrics): ChainReport {
  return {
    foundLate: ({ network, deposits }) => metrics.foundLate.inc({ network }, deposits),
    differences: ({ network, count }) => metrics.balanceDifferences.set({ network }, count),
  };
}

function classOf(outcome: Outcome): (typeof CLASSES)[number] {
  if (outcome.kind === 'error') {
    if (outcome.code === 'TARGET_REFUSED') return 'refused_target';
    return outcome.code === 'TIMEOUT' ? 'timeout' : 'connection';
  }
  const { status } = outcome;
  if (status === 429) return '429';
  const name = `${Math.floor(status / 100)}xx`;
  return CLASSES.find((known) => known === name) ?? 'other';
}
