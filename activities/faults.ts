import {
  ApplicationFailure,
  ApplicationFailureCategory,
  type ApplicationFailureOptions,
} from '@temporalio/common';
import { type Deps, paced } from '../src/services/deps.ts';

const MAX_LENGTH = 200;

/**
 * What an operator may read of our own fault: one short line. Database drivers
 * append the row to their messages, and a failure's message is kept in the history
 * and shown in the Web UI, so everything after the first line stays in our log.
 */
export function shortMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, MAX_LENGTH);
}

/**
 * A failure as operators see it: a message, and no stack. A stack would be kept in every history with
 * the paths of this machine, and it says nothing about a chain or a receiver that has to be waited for.
 */
export function failure(options: ApplicationFailureOptions): ApplicationFailure {
  const error = ApplicationFailure.create(options);
  error.stack = '';
  return error;
}

/** A step that waits says why, and for how long in milliseconds, and is tried again then. */
export function waiting(deps: Pick<Deps, 'settings'>, message: string, delayMs: number): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return failure({ message, type: 'Waiting', nextRetryDelay: paced(deps, delayMs), category });
}

/**
 * Runs an activity's work; our own fault leaves it as a
 * retryable failure with a short message and without a stack.
 */
export async function guarded<T>(work: () => Promise<T>, report: (error: unknown) => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    report(error);
    throw failure({ message: shortMessage(error), type: error instanceof Error ? error.name : 'Fault' });
  }
}
