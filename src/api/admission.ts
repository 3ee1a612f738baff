import { ApiError } from './errors.ts';
import type { Caller, Route } from './route.ts';

/** Every reason to answer 403 to a caller who is known, in the order of the contract. */
export function admit(route: Route, caller: Caller): void {
  if (route.only === 'test' && caller.mode !== 'test') {
    throw new ApiError('TEST_MODE_ONLY', 'This works in test mode only: use a key that starts with sk_test_.');
  }
  if (!caller.subscribed) throw new ApiError('SUBSCRIPTION_REQUIRED', 'An active subscription is required.');
}
