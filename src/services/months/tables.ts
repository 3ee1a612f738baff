import type { Month } from '../../domain/months.ts';

type PartitionedTable = {
  readonly name: string;
  /** Whether the table may leave the database when its month is over. The ledger never does. */
  readonly archived: boolean;
};

/**
 * The tables that are partitioned by month. Those that name a row of
 * another come before it, so that they can be taken away in this order.
 */
export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  { name: 'webhook_attempts', archived: true },
  { name: 'webhook_deliveries', archived: true },
  { name: 'events', archived: true },
  { name: 'deposit_transitions', archived: true },
  { name: 'ledger_entries', archived: false },
  { name: 'ledger_transactions', archived: false },
];

/** The partition of a table that begins with a month. */
export function partitionOf(table: string, month: Month): string {
  return `${table}_${month.replace('-', '_')}`;
}
