import type { Outcomes } from '../spending.ts';
import type { EachResponse } from './types.ts';

/** What one endpoint says of a transaction; `unknown`: it has not read far enough to say so. */
export type Outcome = 'failed' | 'succeeded' | 'absent' | 'unknown';

/** What all of them say, by host. */
export function outcomesOf(answers: readonly EachResponse<Outcome>[]): Outcomes {
  const hosts = (some: typeof answers): string[] => some.map(({ host }) => host);
  const saying = (what: Outcome): string[] => hosts(answers.filter(({ value }) => value === what));
  return {
    failed: saying('failed'),
    succeeded: saying('succeeded'),
    absent: saying('absent'),
    asked: hosts(answers),
  };
}
