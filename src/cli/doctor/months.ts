import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { monthAfter, monthOf } from '../../domain/months.ts';
import { newestMonth } from '../../services/months/make.ts';
import { hasTable } from './tables.ts';

/**
 * Whether the partitions of the next month exist; no check before the schema exists. Without them nothing
 * is lost, but a month becomes too large to be removed.
 */
export async function checkMonths(em: Em, now: Date): Promise<Finding[]> {
  const newest = (await hasTable(em, 'partition_months')) ? await newestMonth(em) : undefined;
  if (newest === undefined) return [];
  if (newest > monthAfter(monthOf(now), 1)) return [good('partitions', `made up to ${newest}`)];
  return [
    bad(
      'partitions',
      `the newest ones begin with ${newest}; every row after that goes into them`,
      'Start a worker: it makes three months ahead. Where one runs, see why its loop "months" fails in its log',
    ),
  ];
}
