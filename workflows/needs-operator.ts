import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { NEEDS_OPERATOR } from './timeouts.ts';

/** Whether a step ended because a person is needed: what it waits for does not come by itself. */
export function needsOperatorSays(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === NEEDS_OPERATOR
  );
}

/** What the step said when it ended, in its own words. */
export function reasonOf(error: unknown): string {
  return error instanceof ActivityFailure && error.cause ? error.cause.message : String(error);
}
