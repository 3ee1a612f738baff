import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Heights, read from the database when the metrics are asked for, and
 * what the watchers of this process found.
 */
export function chainMetrics(registers: Registry[]) {
  return {
    scanHeight: new Gauge({
      name: 'gateway_scan_height',
      help: 'Last block whose deposits are recorded',
      labelNames: ['network'] as const,
      registers,
    }),
    headHeight: new Gauge({
      name: 'gateway_head_height',
      help: 'Newest block of the chain',
      labelNames: ['network'] as const,
      registers,
    }),
    scanLagBlocks: new Gauge({
      name: 'gateway_scan_lag_blocks',
      help: 'Blocks between the head and the scan',
      labelNames: ['network'] as const,
      registers,
    }),
    chainRequests: new Gauge({
      name: 'gateway_chain_requests_today',
      help: 'Requests to the endpoints of a chain since midnight (UTC), of all processes; 0 where nobody counts them',
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
