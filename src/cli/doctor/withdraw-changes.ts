import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { readWaitingChanges } from '../../services/merchants/withdraw-notices.ts';
import { hasTable } from './tables.ts';

/** How many withdraw addresses wait that users changed, and whether one is due and does not count. */
export async function checkWithdrawChanges(em: Em, now: Date): Promise<Finding[]> {
  if (!(await hasTable(em, 'withdraw_changes'))) return [];
  const { waiting, late, next } = await readWaitingChanges(em, now);
  const name = 'withdraw_changes';
  if (late > 0)
    return [
      bad(
        name,
        `${late} changed withdraw addresses are due and do not count`,
        'See that a worker runs and what its loop "withdraw changes" says, and "merchant changes", which lists them',
      ),
    ];
  if (waiting === 0 || next === null) return [good(name, 'none waits')];
  return [
    good(
      name,
      `${waiting} changed withdraw ${waiting === 1 ? 'address waits' : 'addresses wait'}, the next one until ${next.toISOString().slice(0, 19)}Z: "merchant changes" lists them`,
    ),
  ];
}
