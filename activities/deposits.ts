import { ApplicationFailureCategory } from '@temporalio/common';
import { advanceDeposit as advance } from '../src/services/deposits/advance.ts';
import { DecisionRefused, failDeposit as fail } from '../src/services/deposits/operator.ts';
import type { Deps } from '../src/services/deps.ts';
import { failure, guarded } from './faults.ts';

/** The steps of the deposit actor. */
export function depositActivities(deps: Deps) {
  return {
    /**
     * One step of the deposit. While the chain does not permit it, it fails benignly with what an operator wants to read, and says when
     * to look again; after `STUCK_AFTER` once with the type NeedsOperator, which is not retried.
     */
    async advanceDeposit(input: {
      depositId: string;
      alarmed: boolean;
    }): Promise<{ state: string; since: string; deliveries: string[]; note: string }> {
      const result = await guarded(
        () => advance(deps, input),
        (error) => deps.log.warn({ err: error, depositId: input.depositId }, 'a step of a deposit met a fault of our own'),
      );
      if (result.kind === 'at') {
        return { state: result.state, since: result.since.toISOString(), deliveries: [...result.deliveries], note: result.note };
      }
      if (result.stuck) throw failure({ message: result.reason, type: 'NeedsOperator', nonRetryable: true });
      throw failure({
        message: result.reason,
        type: 'Waiting',
        nextRetryDelay: result.delayMs,
        category: ApplicationFailureCategory.BENIGN,
      });
    },

    /** An operator's decision to fail the deposit. Repeating it after a crash finds it done. */
    async failDeposit(input: {
      depositId: string;
      by: string;
      reason: string;
    }): Promise<{ state: string; since: string; deliveries: string[] }> {
      return await guarded(
        async () => {
          try {
            const { deposit, deliveries } = await fail(deps, input);
            return { state: deposit.status, since: deposit.stateSince.toISOString(), deliveries };
          } catch (error) {
            if (!(error instanceof DecisionRefused)) throw error;
            throw failure({ message: error.message, type: 'DecisionRefused', nonRetryable: true });
          }
        },
        (error) => deps.log.warn({ err: error, depositId: input.depositId }, 'failing a deposit met a fault of our own'),
      );
    },
  };
}
