import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { chainMetrics } from './metrics-of-chains.ts';
import { payoutMetrics } from './metrics-of-payouts.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * One registry with every metric of the product. Label values are only names from our own code (network,
 * state, route pattern): never an id, an address or a URL, so that the number of series stays small.
 */
export function createMetrics(options: { readonly defaults?: boolean } = {}) {
  const registry = new Registry();
  const registers = [registry];
  if (options.defaults !== false) collectDefaultMetrics({ register: registry });
  const ofRows = {
    ...chainMetrics(registers),
    ...moneyMetrics(registers),
    ...payoutMetrics(registers),
    ...deliveryMetrics(registers),
    ...alarmMetrics(registers),
  };
  const metrics = {
    registry,
    ...trafficMetrics(registers),
    ...ofRows,
    ...processMetrics(registers),
    ...readMetrics(registers),
  };
  // A gauge without labels would begin at zero, which nobody has read yet:
  // until it is read, there is no figure.
  for (const gauge of [
    metrics.needsOperator,
    metrics.outboxOldest,
    metrics.outboxQuarantined,
    metrics.signerSeen,
    metrics.signerSigned,
    metrics.signerSealed,
  ])
    gauge.remove();
  return metrics;
}

function trafficMetrics(registers: Registry[]) {
  return {
    quotaRefusals: new Counter({
      name: 'gateway_quota_refusals_total',
      help: 'Requests that were refused because a quota of their merchant was reached',
      labelNames: ['quota', 'mode'] as const,
      registers,
    }),
    /** `class`: 2xx, 3xx, 4xx, 429, 5xx, timeout, connection, refused_target, other. */
    webhookAttempts: new Counter({
      name: 'gateway_webhook_attempts_total',
      help: 'Webhook attempts by class of answer',
      labelNames: ['class'] as const,
      registers,
    }),
    /** Deliveries that reached their end, once each; one that is resent ends again. */
    webhookDeliveries: new Counter({
      name: 'gateway_webhook_deliveries_total',
      help: 'Webhooks that were delivered or given up',
      labelNames: ['mode', 'result'] as const,
      registers,
    }),
    /** `step`: `first_attempt` or `success`. Resends are left out, because they are late by intention. */
    webhookLateness: new Histogram({
      name: 'gateway_webhook_lateness_seconds',
      help: 'Time from the making of a webhook to the start of its first attempt, and to its success',
      labelNames: ['mode', 'step'] as const,
      buckets: [0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 120, 300, 900, 3600],
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
    /** Covers all workers together: the row of a loop says when any of them last ran it well. */
    loopAge: new Gauge({
      name: 'gateway_loop_age_seconds',
      help: 'Time since a background loop last ran well',
      labelNames: ['loop'] as const,
      registers,
    }),
  };
}

/** Live money and live deposits, from rows. Test mode is in none of them. */
function moneyMetrics(registers: Registry[]) {
  return {
    /**
     * Whole units of the asset (1.5 is 1.5 USDT), as near as a floating-point number comes: for
     * an overview, never as the ledger. `state`: detected and confirming from the open
     * deposits; completed, settled and held from the ledger.
     */
    money: new Gauge({
      name: 'gateway_money',
      help: 'Live money that came in, in whole units of the asset, by where its deposits stand; held is money of failed deposits',
      labelNames: ['network', 'asset', 'state'] as const,
      registers,
    }),
    openDeposits: new Gauge({
      name: 'gateway_open_deposits',
      help: 'Live deposits that wait for the chain, by state',
      labelNames: ['network', 'state'] as const,
      registers,
    }),
    /** 0 while no deposit waits. */
    depositOldest: new Gauge({
      name: 'gateway_deposit_waiting_oldest_seconds',
      help: 'How long the live deposit that has been in a waiting state longest has been in it',
      labelNames: ['network', 'state'] as const,
      registers,
    }),
  };
}

/** Webhooks and their receivers, from rows. */
function deliveryMetrics(registers: Registry[]) {
  return {
    webhooksDue: new Gauge({
      name: 'gateway_webhooks_due',
      help: 'Webhooks whose next attempt is due, counted up to 10000',
      labelNames: ['mode'] as const,
      registers,
    }),
    webhooksDueOldest: new Gauge({
      name: 'gateway_webhooks_due_oldest_seconds',
      help: 'How long the webhook that is due longest has been due',
      labelNames: ['mode'] as const,
      registers,
    }),
    /** `state`: failing (its last attempt failed) or disabled (by the gateway, after days of failures). */
    webhookEndpoints: new Gauge({
      name: 'gateway_webhook_endpoints_unwell',
      help: 'Registered webhook endpoints that fail or were disabled by the gateway, counted up to 10000',
      labelNames: ['mode', 'state'] as const,
      registers,
    }),
    endpointFailures: new Gauge({
      name: 'gateway_webhook_endpoint_failures_max',
      help: 'The longest row of failed attempts at one registered endpoint that is enabled',
      labelNames: ['mode'] as const,
      registers,
    }),
  };
}

/** What a process knows of itself: these alone may be summed over processes. */
function processMetrics(registers: Registry[]) {
  return {
    poolConnections: new Gauge({
      name: 'gateway_pool_connections',
      help: 'Connections to PostgreSQL of this process',
      labelNames: ['pool', 'state'] as const,
      registers,
    }),
    poolWaiting: new Gauge({
      name: 'gateway_pool_waiting',
      help: 'Work of this process that waits for a connection to PostgreSQL',
      labelNames: ['pool'] as const,
      registers,
    }),
    poolSize: new Gauge({
      name: 'gateway_pool_size',
      help: 'Connections that a pool of this process may have',
      labelNames: ['pool'] as const,
      registers,
    }),
    rpcEndpoints: new Gauge({
      name: 'gateway_rpc_endpoints',
      help: 'RPC endpoints as this process found them when it asked them last',
      labelNames: ['network', 'state'] as const,
      registers,
    }),
  };
}

/** What Temporal tells of its task queues, and how old each part of all these figures is. */
function readMetrics(registers: Registry[]) {
  return {
    backlog: new Gauge({
      name: 'gateway_temporal_backlog',
      help: 'Tasks that wait for a worker, as Temporal estimates them',
      labelNames: ['queue', 'kind', 'mode'] as const,
      registers,
    }),
    backlogAge: new Gauge({
      name: 'gateway_temporal_backlog_age_seconds',
      help: 'Age of the oldest task that waits for a worker, as Temporal estimates it',
      labelNames: ['queue', 'kind', 'mode'] as const,
      registers,
    }),
    pollers: new Gauge({
      name: 'gateway_temporal_pollers',
      help: 'Workers that asked for tasks of a queue within the last minutes',
      labelNames: ['queue', 'kind'] as const,
      registers,
    }),
    /** Rises while a part of these figures is old, because its source did not answer. */
    metricsUnread: new Counter({
      name: 'gateway_metrics_unread_total',
      help: 'Reads of figures from the database or Temporal that failed, by part',
      labelNames: ['part'] as const,
      registers,
    }),
    /** 0 means never since this process began. */
    metricsRead: new Gauge({
      name: 'gateway_metrics_read_timestamp_seconds',
      help: 'When this process last read a part of these figures well, as Unix time',
      labelNames: ['part'] as const,
      registers,
    }),
  };
}
