import type { Middleware } from 'koa';
import type { Gateway } from './compose.ts';
import type { Outcome } from './domain/webhook.ts';
import type { Metrics } from './metrics.ts';
import type { ChainReport } from './services/chain/report.ts';
import type { WebhookTransport } from './services/webhooks/transport.ts';

/** Times every request by its route pattern, so that ids in paths do not become series. */
export function observeHttp(metrics: Metrics): Middleware {
  return async (context, next) => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const route = String(context['_matchedRoute'] ?? '(none)');
      metrics.httpSeconds.observe(
        { method: context.method, route, status: String(context.status) },
        (performance.now() - startedAt) / 1_000,
      );
    }
  };
}

/** The same transport, counted. */
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

/** What a watcher of this process reports, as metrics. Heights are read from the database instead, where every process sees them. */
export function observeChain(metrics: Metrics): ChainReport {
  return {
    foundLate: ({ network, deposits }) => metrics.foundLate.inc({ network }, deposits),
    differences: ({ network, count }) => metrics.balanceDifferences.set({ network }, count),
  };
}

function classOf(outcome: Outcome): string {
  if (outcome.kind === 'error') {
    if (outcome.code === 'TARGET_REFUSED') return 'refused_target';
    return outcome.code === 'TIMEOUT' ? 'timeout' : 'connection';
  }
  return outcome.status === 429 ? '429' : `${Math.floor(outcome.status / 100)}xx`;
}

/** Reads what the database knows better than any process: heights, open deposits, and those that wait for a person. */
export async function refreshMetrics({ deps, metrics }: Gateway): Promise<void> {
  const em = deps.orm.em.fork();
  const [cursors, open] = await Promise.all([
    em.execute<{ network: string; scanned_number: string; head_number: string; finalized_number: string }[]>(
      'select network, scanned_number, head_number, finalized_number from chain_cursors',
    ),
    em.execute<{ network: string; status: string; count: string; alarmed: string }[]>(
      `select network, status, count(*) as count, count(alarmed_at) as alarmed from deposits where status in ('detected', 'confirming') group by 1, 2`,
    ),
  ]);
  metrics.openDeposits.reset();
  for (const row of open) metrics.openDeposits.set({ network: row.network, state: row.status }, Number(row.count));
  metrics.needsOperator.set(open.reduce((sum, row) => sum + Number(row.alarmed), 0));
  for (const cursor of cursors) {
    const [scanned, head] = [Number(cursor.scanned_number), Number(cursor.head_number)];
    metrics.scanHeight.set({ network: cursor.network }, scanned);
    metrics.headHeight.set({ network: cursor.network }, head);
    metrics.finalizedHeight.set({ network: cursor.network }, Number(cursor.finalized_number));
    metrics.scanLagBlocks.set({ network: cursor.network }, Math.max(0, head - scanned));
  }
}
