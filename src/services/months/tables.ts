import { lowestId } from '../../domain/ids.ts';
import type { Month } from '../../domain/months.ts';

type PartitionedTable = {
  readonly name: string;
  /** The column by which its rows are laid into months. */
  readonly key: string;
  /** The first value of that column in a month, as SQL; the month as its first day. */
  readonly bound: (day: string) => string;
  /** May leave the database when its month is over. The ledger never does. */
  readonly archived: boolean;
};

const byId = (day: string): string => `'${lowestId(new Date(`${day}T00:00:00Z`))}'::uuid`;
const byTime = (day: string): string => `'${day} 00:00:00+00'::timestamptz`;

/** The tables that are partitioned by month. Those that name a row of another come before it, so that they can be taken away in this order. */
export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  { name: 'webhook_attempts', key: 'delivery_id', bound: byId, archived: true },
  { name: 'webhook_deliveries', key: 'id', bound: byId, archived: true },
  { name: 'events', key: 'id', bound: byId, archived: true },
  { name: 'deposit_transitions', key: 'at', bound: byTime, archived: true },
  { name: 'ledger_entries', key: 'transaction_id', bound: byId, archived: false },
  { name: 'ledger_transactions', key: 'id', bound: byId, archived: false },
];

/** The partition of a table that begins with a month. */
export function partitionOf(table: string, month: Month): string {
  return `${table}_${month.replace('-', '_')}`;
}
