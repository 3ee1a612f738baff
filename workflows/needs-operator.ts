import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { textIn } from './results.ts';
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

/** What a step that needs a person says beside its reason: what to do, and where to look. */
export function adviceOf(error: unknown): { readonly action: string; readonly explorer: string } {
  const failure = error instanceof ActivityFailure ? error.cause : undefined;
  const [advice] = (failure instanceof ApplicationFailure ? failure.details : undefined) ?? [];
  return { action: textIn(advice, 'action'), explorer: textIn(advice, 'explorer') };
}
