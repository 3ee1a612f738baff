import type { Outcomes } from '../spending.ts';
import type { EachResponse } from './types.ts';

/** What one endpoint says of a transaction; `held`: it does not know how it ended; `unknown`: nothing. */
export type Outcome = 'failed' | 'succeeded' | 'held' | 'absent' | 'unknown';

/** What all of them say, by host. */
export function outcomesOf(answers: readonly EachResponse<Outcome>[]): Outcomes {
  const hosts = (some: typeof answers): string[] => some.map(({ host }) => host);
  const saying = (...what: (Outcome | undefined)[]): string[] =>
    hosts(answers.filter(({ value }) => what.includes(value ?? 'unknown')));
  return {
    failed: saying('failed'),
    succeeded: saying('succeeded'),
    held: saying('failed', 'succeeded', 'held'),
    absent: saying('absent'),
    asked: hosts(answers),
  };
}
