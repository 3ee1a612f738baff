import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Name, help and labels of a metric. */
type Described = readonly [name: string, help: string, ...labels: string[]];
type LabelOf<T> = T extends readonly [string, string, ...infer L extends string[]] ? L[number] : never;

const COUNTERS = {
  quotaRefusals: [
    'gateway_quota_refusals_total',
    'Requests that were refused because a quota of their merchant was reached',
    'quota',
    'mode',
  ],
  /** `class`: 2xx, 3xx, 4xx, 429, 5xx, timeout, connection, refused_target, other. */
  webhookAttempts: ['gateway_webhook_attempts_total', 'Webhook attempts by class of answer', 'class'],
  /** Deliveries that reached their end, once each; one that is resent ends again. */
  webhookDeliveries: [
    'gateway_webhook_deliveries_total',
    'Webhooks that were delivered or given up',
    'mode',
    'result',
  ],
  /** Anything but 0 means that the first scan missed a transfer: alarm on it. */
  foundLate: [
    'gateway_found_late_total',
    'Transfers that only the second reading of a final block or the reconciliation found',
    'network',
  ],
  /** Rises while a part of these figures is old, because its source did not answer. */
  metricsUnread: [
    'gateway_metrics_unread_total',
    'Reads of figures from the database or Temporal that failed, by part',
    'part',
  ],
} as const satisfies Record<string, Described>;

const HISTOGRAMS = {
  /** `step`: `first_attempt` or `success`. Resends are left out, because they are late by intention. */
  webhookLateness: [
    'gateway_webhook_lateness_seconds',
    'Time from the making of a webhook to the start of its first attempt, and to its success',
    'mode',
    'step',
  ],
  webhookSeconds: ['gateway_webhook_attempt_seconds', 'Duration of webhook attempts'],
  httpSeconds: [
    'gateway_http_request_seconds',
    'Duration of HTTP requests by route pattern',
    'method',
    'route',
    'status',
  ],
} as const satisfies Record<string, Described>;
const BUCKETS: Readonly<Record<keyof typeof HISTOGRAMS, number[]>> = {
  webhookLateness: [0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 120, 300, 900, 3600],
  webhookSeconds: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  httpSeconds: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
};

/** From rows and from Temporal, the same in every process; at the end, what a process knows of itself. */
const GAUGES = {
  scanHeight: ['gateway_scan_height', 'Last block whose deposits are recorded', 'network'],
  headHeight: ['gateway_head_height', 'Newest block of the chain', 'network'],
  scanLagBlocks: ['gateway_scan_lag_blocks', 'Blocks between the head and the scan', 'network'],
  chainRequests: [
    'gateway_chain_requests_today',
    'Requests to the endpoints of a chain since midnight (UTC), of all processes; 0 where nobody counts them',
    'network',
  ],
  finalizedHeight: ['gateway_finalized_height', 'Finalized or solidified height', 'network'],
  verifiedHeight: [
    'gateway_verified_height',
    'Last block that is final and was read twice: deposits above it wait',
    'network',
  ],
  /** 0 while there is nothing to verify, so that any larger number says that deposits wait. */
  verifiedAge: [
    'gateway_verified_age_seconds',
    'How long the verified height has stood although blocks above it are final',
    'network',
  ],
  /** Addresses whose balance does not agree with the ledger and is not explained. */
  balanceDifferences: ['gateway_balance_differences', 'Balances that differ from the ledger', 'network'],
  /**
   * Live alone, in whole units of the asset (1.5 is 1.5 USDT), as near as a floating-point number comes: for
   * an overview, never as the ledger. `state`: detected and confirming from the open deposits; completed,
   * settled and held from the ledger.
   */
  money: [
    'gateway_money',
    'Live money that came in, in whole units of the asset, by where its deposits stand; held is money of failed deposits',
    'network',
    'asset',
    'state',
  ],
  openDeposits: [
    'gateway_open_deposits',
    'Live deposits that wait for the chain, by state',
    'network',
    'state',
  ],
  /** 0 while no deposit waits. */
  depositOldest: [
    'gateway_deposit_waiting_oldest_seconds',
    'How long the live deposit that has been in a waiting state longest has been in it',
    'network',
    'state',
  ],
  payoutsWaiting: [
    'gateway_payouts_waiting',
    'Addresses at which completed deposits wait to be paid out, by reason, counted up to 10000',
    'network',
    'code',
  ],
  /** Whole coins, as near as a floating-point number comes. Absent until a worker has looked. */
  gasBalance: [
    'gateway_gas_wallet_balance',
    'What the wallet that pays for gas held when a worker looked last, in whole coins',
    'network',
  ],
  /** Absent before the first payout of a token, and on chains where no merchant is paid out. */
  gasPayoutsLeft: [
    'gateway_gas_wallet_payouts_left',
    'For how many payouts of tokens the gas wallet is enough, at what the last ones took',
    'network',
  ],
  /** Absent where nothing was settled in the last day, or the coin has no price. */
  settledCost: [
    'gateway_settled_deposit_cost_usd',
    'What a settled deposit cost on average in US dollars, over the newest payouts of the last day',
    'network',
  ],
  signerSeen: ['gateway_signer_seen_timestamp_seconds', 'When a signer last looked for work, as Unix time'],
  signerSigned: ['gateway_signer_signed_timestamp_seconds', 'When a signer last signed, as Unix time'],
  signerSealed: [
    'gateway_signer_sealed',
    '1 while the signer signs nothing for a reason of its own, which "doctor" tells',
  ],
  webhooksDue: ['gateway_webhooks_due', 'Webhooks whose next attempt is due, counted up to 10000', 'mode'],
  webhooksDueOldest: [
    'gateway_webhooks_due_oldest_seconds',
    'How long the webhook that is due longest has been due',
    'mode',
  ],
  /** `state`: failing (its last attempt failed) or disabled (by the gateway, after days of failures). */
  webhookEndpoints: [
    'gateway_webhook_endpoints_unwell',
    'Registered webhook endpoints that fail or were disabled by the gateway, counted up to 10000',
    'mode',
    'state',
  ],
  endpointFailures: [
    'gateway_webhook_endpoint_failures_max',
    'The longest row of failed attempts at one registered endpoint that is enabled',
    'mode',
  ],
  needsOperator: [
    'gateway_needs_operator',
    'Everything that does not go on by itself, of all kinds together',
  ],
  alarms: ['gateway_alarms', 'What does not go on by itself, by kind', 'kind'],
  outboxOldest: [
    'gateway_outbox_oldest_seconds',
    'Age of the oldest message to an actor that is not in quarantine',
  ],
  outboxQuarantined: ['gateway_outbox_quarantined', 'Messages to actors that Temporal refuses for good'],
  /** Covers all workers together: the row of a loop says when any of them last ran it well. */
  loopAge: ['gateway_loop_age_seconds', 'Time since a background loop last ran well', 'loop'],
  backlog: [
    'gateway_temporal_backlog',
    'Tasks that wait for a worker, as Temporal estimates them',
    'queue',
    'kind',
    'mode',
  ],
  backlogAge: [
    'gateway_temporal_backlog_age_seconds',
    'Age of the oldest task that waits for a worker, as Temporal estimates it',
    'queue',
    'kind',
    'mode',
  ],
  pollers: [
    'gateway_temporal_pollers',
    'Workers that asked for tasks of a queue within the last minutes',
    'queue',
    'kind',
  ],
  // What a process knows of itself: these alone may be summed over processes.
  poolConnections: ['gateway_pool_connections', 'Connections to PostgreSQL of this process', 'pool', 'state'],
  poolWaiting: [
    'gateway_pool_waiting',
    'Work of this process that waits for a connection to PostgreSQL',
    'pool',
  ],
  poolSize: ['gateway_pool_size', 'Connections that a pool of this process may have', 'pool'],
  rpcEndpoints: [
    'gateway_rpc_endpoints',
    'RPC endpoints as this process found them when it asked them last',
    'network',
    'state',
  ],
  /** 0 means never since this process began. */
  metricsRead: [
    'gateway_metrics_read_timestamp_seconds',
    'When this process last read a part of these figures well, as Unix time',
    'part',
  ],
} as const satisfies Record<string, Described>;

export type Metrics = { readonly registry: Registry } & {
  readonly [K in keyof typeof COUNTERS]: Counter<LabelOf<(typeof COUNTERS)[K]>>;
} & {
  readonly [K in keyof typeof HISTOGRAMS]: Histogram<LabelOf<(typeof HISTOGRAMS)[K]>>;
} & {
  readonly [K in keyof typeof GAUGES]: Gauge<LabelOf<(typeof GAUGES)[K]>>;
};

/**
 * One registry with every metric of the product. Label values are only names from our own code (network,
 * state, route pattern): never an id, an address or a URL, so that the number of series stays small.
 */
export function createMetrics(options: { readonly defaults?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.defaults !== false) collectDefaultMetrics({ register: registry });
  const made: Record<string, unknown> = { registry };
  for (const [key, [name, help, ...labelNames]] of described(COUNTERS))
    made[key] = new Counter({ name, help, labelNames, registers });
  for (const [key, [name, help, ...labelNames]] of described(HISTOGRAMS))
    made[key] = new Histogram({ name, help, labelNames, registers, buckets: BUCKETS[key] });
  for (const [key, [name, help, ...labelNames]] of described(GAUGES)) {
    const gauge = new Gauge({ name, help, labelNames, registers });
    // A gauge without labels would begin at zero, which nobody has read yet:
    // until it is read, there is no figure.
    if (labelNames.length === 0) gauge.remove();
    made[key] = gauge;
  }
  return made as Metrics;
}

const described = <K extends string>(table: Readonly<Record<K, Described>>) =>
  Object.entries(table) as [K, Described][];
