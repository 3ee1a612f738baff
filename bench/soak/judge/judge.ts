// The judge: pure, from records. What is true is what the chains and the receivers say.
import {
  judgeBooks,
  judgeDeposits,
  judgeDestinations,
  judgeItself,
  judgePayouts,
  judgeSetAside,
} from './money.ts';
import type { Difference, Records, Say } from './records.ts';
import { judgeCustomers, judgeDeliveries, judgeEvents, judgeReceived, judgeSimulations } from './told.ts';

/** The API serves what is sound, whatever is down, and never fails by itself. */
function judgeApi({ problems, internalErrors }: Records, say: Say): void {
  for (const problem of problems) say('the API serves whatever is sound', 'API', problem);
  if (internalErrors > 0) say('the API never answers 500', 'API', `${internalErrors} times`);
}

const RULES = [
  judgeApi,
  judgeEvents,
  judgeDeposits,
  judgeSimulations,
  judgeCustomers,
  judgeReceived,
  judgeBooks,
  judgePayouts,
  judgeDestinations,
  judgeDeliveries,
  judgeSetAside,
  judgeItself,
];

/** Everything that is not as it must be; empty where all is well. */
export function judge(records: Records): Difference[] {
  const differences: Difference[] = [...records.found];
  for (const rule of RULES)
    rule(records, (name, subject, detail) => void differences.push({ rule: name, subject, detail }));
  return differences;
}
