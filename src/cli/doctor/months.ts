import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { monthAfter, monthOf } from '../../domain/months.ts';
import { newestMonth } from '../../services/months/make.ts';

/** Whether the partitions of the next month are there; none before the schema is. Without them nothing is lost, but a month becomes too large to leave. */
export async function checkMonths(em: Em, now: Date): Promise<Finding[]> {
  const [table] = await em.execute<{ there: boolean }[]>(`select to_regclass('partition_months') is not null as there`);
  const newest = table?.there ? await newestMonth(em) : undefined;
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
