import { monthAfter, monthOf } from '../../../domain/months.ts';
import { newestMonth } from '../../months/make.ts';
import type { ConditionKind } from './condition.ts';

/** Without the partitions of the next month nothing is lost, but a month becomes too large to be removed. */
export const months: ConditionKind = {
  name: 'months',
  read: async (deps) => {
    const newest = await newestMonth(deps.orm.em.fork());
    if (newest === undefined) return { found: [] };
    if (newest > monthAfter(monthOf(deps.now()), 1))
      return { found: [], well: { partitions: `made up to ${newest}` } };
    const reason = `the newest partitions begin with ${newest}; every row after that goes into them`;
    const action =
      'start a worker ("gateway start --role worker"): it makes three months ahead. Where one runs, see why its loop "months" fails in its log';
    return { found: [{ key: 'months', severity: 'warning', check: 'partitions', reason, action }] };
  },
};
