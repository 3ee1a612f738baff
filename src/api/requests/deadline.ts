import { type Wait, withinTime } from '../../services/time-limit.ts';
import { unavailable } from '../errors.ts';

/**
 * An answer leaves within 2 s when the database is unreachable; this limit leaves
 * the rest of it to everything around the wait.
 */
export const BUDGET_MS = 1_800;

/**
 * The result of `work`, or a 503 when it takes longer than the wait. The work then does nothing more in the
 * database; what was committed before stays, which is what a 503 on a write means.
 */
export function withinBudget<T>(wait: Wait, work: () => Promise<T>): Promise<T> {
  return withinTime(wait, work, unavailable);
}
