import { logFailure } from '../../base/errors.ts';
import type { Deps } from '../../services/deps.ts';

/** Says once that the state cannot be read, and once that it can be again. */
export type Outage = { began(error: unknown): void; ended(): void };

/** While it lasts streams stay open and show what they showed. */
export function createOutage({ log }: Pick<Deps, 'log'>, what: string): Outage {
  let away = false;
  return {
    began: (error) => {
      if (!away) logFailure(log, { err: error }, `watched ${what}s cannot be read: their streams wait`);
      away = true;
    },
    ended: () => {
      if (away) log.info({}, `watched ${what}s are read again`);
      away = false;
    },
  };
}
