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
  return { registry, ...trafficMetrics(registers), ...chainMetrics(registers), ...alarmMetrics(registers) };
}

function trafficMetrics(registers: Registry[]) {
  return {
    quotaRefusals: new Counter({
      name: 'gateway_quota_refusals_total',
      help: 'Requests that were refused because a quota of their merchant was reached',
      labelNames: ['quota', 'mode'] as const,
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
    httpSeconds: new Histogram({
      name: 'gateway_http_request_seconds',
      help: 'Duration of HTTP requests by route pattern',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
  };
}

/** Heights and deposits, read from the database when the metrics are asked for. */
function chainMetrics(registers: Registry[]) {
  return {
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
    verifiedHeight: new Gauge({
      name: 'gateway_verified_height',
      help: 'Last block that is final and was read twice: deposits above it wait',
      labelNames: ['network'] as const,
      registers,
    }),
    /** 0 while there is nothing to verify, so that any larger number says that deposits wait. */
    verifiedAge: new Gauge({
      name: 'gateway_verified_age_seconds',
      help: 'How long the verified height has stood although blocks above it are final',
      labelNames: ['network'] as const,
      registers,
    }),
    /** Deposits that are not at their end, counted in the database when the metrics are asked for. */
    openDeposits: new Gauge({
      name: 'gateway_open_deposits',
      help: 'Deposits that wait for the chain, by state',
      labelNames: ['network', 'state'] as const,
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
  };
}

/** What does not go on by itself, from rows that no actor and no worker has to write first. */
function alarmMetrics(registers: Registry[]) {
  return {
    needsOperator: new Gauge({
      name: 'gateway_needs_operator',
      help: 'Everything that does not go on by itself, of all kinds together',
      registers,
    }),
    alarms: new Gauge({
      name: 'gateway_alarms',
      help: 'What does not go on by itself, by kind',
      labelNames: ['kind'] as const,
      registers,
    }),
    outboxOldest: new Gauge({
      name: 'gateway_outbox_oldest_seconds',
      help: 'Age of the oldest message to an actor that is not in quarantine',
      registers,
    }),
    outboxQuarantined: new Gauge({
      name: 'gateway_outbox_quarantined',
      help: 'Messages to actors that Temporal refuses for good',
      registers,
    }),
    /** Of all workers together: the row of a loop says when any of them last ran it well. */
    loopAge: new Gauge({
      name: 'gateway_loop_age_seconds',
      help: 'Time since a background loop last ran well',
      labelNames: ['loop'] as const,
      registers,
    }),
    /** Rises while a part of these figures is old, because the database did not answer for it. */
    metricsUnread: new Counter({
      name: 'gateway_metrics_unread_total',
      help: 'Reads of figures from the database that failed, by part',
      labelNames: ['part'] as const,
      registers,
    }),
  };
}
