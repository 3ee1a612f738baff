import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * One registry with every metric of the product. Label values are only names from our own code (network, state, route
 * pattern): never an id, an address or a URL, so that the number of series stays small.
 */
export function createMetrics(options: { readonly defaults?: boolean } = {}) {
  const registry = new Registry();
  const registers = [registry];
  if (options.defaults !== false) collectDefaultMetrics({ register: registry });
  return {
    registry,
    /** Deposits that are not at their end, counted in the database when the metrics are asked for. */
    openDeposits: new Gauge({
      name: 'gateway_open_deposits',
      help: 'Deposits that wait for the chain, by state',
      labelNames: ['network', 'state'] as const,
      registers,
    }),
    /** `class`: 2xx, 3xx, 4xx, 429, 5xx, timeout, connection, refused_target. */
    webhookAttempts: new Counter({
      name: 'gateway_webhook_attempts_total',
      help: 'Webhook attempts by class of answer',
      labelNames: ['class'] as const,
      registers,
    }),
    webhookSeconds: new Histogram({
      name: 'gateway_webhook_attempt_seconds',
      help: 'Duration of webhook attempts',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    scanHeight: new Gauge({
      name: 'gateway_scan_height',
      help: 'Last block whose deposits are recorded',
      labelNames: ['network'] as const,
      registers,
    }),
    headHeight: new Gauge({ name: 'gateway_head_height', help: 'Newest block of the chain', labelNames: ['network'] as const, registers }),
    scanLagBlocks: new Gauge({
      name: 'gateway_scan_lag_blocks',
      help: 'Blocks between the head and the scan',
      labelNames: ['network'] as const,
      registers,
    }),
    finalizedHeight: new Gauge({
      name: 'gateway_finalized_height',
      help: 'Finalized or solidified height',
      labelNames: ['network'] as const,
      registers,
    }),
    /** Anything but 0 means that the first scan missed a transfer: alarm on it. */
    foundLate: new Counter({
      name: 'gateway_found_late_total',
      help: 'Transfers that only the second reading of a final block or the reconciliation found',
      labelNames: ['network'] as const,
      registers,
    }),
    /** Addresses whose balance does not agree with the ledger and is not explained. */
    balanceDifferences: new Gauge({
      name: 'gateway_balance_differences',
      help: 'Balances that differ from the ledger',
      labelNames: ['network'] as const,
      registers,
    }),
    httpSeconds: new Histogram({
      name: 'gateway_http_request_seconds',
      help: 'Duration of HTTP requests by route pattern',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    needsOperator: new Gauge({ name: 'gateway_needs_operator', help: 'Deposits and payouts that wait for an operator', registers }),
  };
}
