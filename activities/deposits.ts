import { advanceDeposit as advance } from '../src/services/deposits/advance.ts';
import { DecisionRefused } from '../src/services/deposits/decisions.ts';
import { failDeposit as fail } from '../src/services/deposits/operator.ts';
import type { Deps } from '../src/services/deps.ts';
import { namesOfDeliveries } from '../src/services/webhooks/open-deliveries.ts';
import { failure, guarded, waiting } from './faults.ts';

/** Where the row stands, and what is to be sent. */
type CurrentStep = {
  state: string;
  sequence: number;
  generation: number;
  since: string;
  deliveries: string[];
  /** What each of them is called in the Web UI. */
  names: Readonly<Record<string, string>>;
};

/** The steps of the deposit actor. */
export function depositActivities(deps: Deps) {
  // A name is only shown: no step may fail for one.
  const namesOf = (ids: readonly string[]) =>
    namesOfDeliveries(deps.orm.em.fork(), ids).catch(() => ({}) as Record<string, string>);
  return {
    /**
     * One step of the deposit. While the chain does not permit it, it fails benignly with what an operator
     * wants to read, and says when to look again. After `STUCK_AFTER` it fails once with the type
     * NeedsOperator, which is not retried. When the row is not where the actor believes it to be (the result
     * of an earlier try was lost), it returns where the row is, with every delivery that is not finished.
     */
    async advanceDeposit(input: {
      depositId: string;
      generation: number;
      sequence: number;
      alarmed: boolean;
    }): Promise<CurrentStep & { note: string; foreseen: boolean; explorer: string | null }> {
      const { depositId, alarmed, generation, sequence } = input;
      const result = await guarded(
        () => advance(deps, { depositId, alarmed, known: { generation, sequence } }),
        (error) => deps.log.warn({ err: error, depositId }, 'a step of a deposit met a fault of our own'),
      );
      if (result.kind === 'at') {
        const { kind: _, since, ...at } = result;
        return { ...at, since: since.toISOString(), names: await namesOf(at.deliveries) };
      }
      const details = [{ action: result.action, explorer: result.explorer }];
      if (result.stuck)
        throw failure({ message: result.reason, type: 'NeedsOperator', nonRetryable: true, details });
      throw waiting(deps, result.reason, result.delayMs);
    },

    /**
     * Carries out an operator's decision to fail this generation of the deposit. It is
     * refused when the decision is not recorded in the database: anybody may have typed
     * its words into Temporal. A repetition after a crash or by a reset finds it done.
     */
    async failDeposit(input: {
      depositId: string;
      generation: number;
      by: string;
      reason: string;
    }): Promise<CurrentStep> {
      return await guarded(
        async () => {
          try {
            const { deposit, deliveries } = await fail(deps, input);
            const { status: state, sequence, generation } = deposit;
            const since = deposit.stateSince.toISOString();
            return { state, sequence, generation, since, deliveries, names: await namesOf(deliveries) };
          } catch (error) {
            if (!(error instanceof DecisionRefused)) throw error;
            throw failure({ message: error.message, type: 'DecisionRefused', nonRetryable: true });
          }
        },
        (error) =>
          deps.log.warn(
            { err: error, depositId: input.depositId },
            'failing a deposit met a fault of our own',
          ),
      );
    },
  };
}
