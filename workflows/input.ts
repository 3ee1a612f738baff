import { ApplicationFailure } from '@temporalio/workflow';

/**
 * The failure of an actor that was started by hand with something other
 * than its arguments. A row's own actor takes its place at the next repair.
 */
export function refuseInput(member: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `this actor was started without a valid "${member}"; the gateway starts its actors itself`,
    'BadInput',
  );
}
