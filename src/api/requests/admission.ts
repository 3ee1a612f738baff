import { opens, type RouteScope } from '../../domain/key-scope.ts';
import { isAllowedFrom } from '../../services/access/allowlist.ts';
import { forgedRequest } from '../access/csrf.ts';
import { ApiError } from '../errors.ts';
import type { Caller, Route } from '../route.ts';

/**
 * Every reason to answer 403 to a caller who is known, in the order of the contract.
 * `addressOf` is asked only where it matters: for a live key whose merchant has an allowlist;
 * `isOwnPage` only for a session, whose cookie a browser adds to whatever page sends a request.
 */
export function admit(route: Route, caller: Caller, addressOf: () => string, isOwnPage: () => boolean): void {
  if (route.only === 'test' && caller.mode !== 'test') {
    throw new ApiError(
      'TEST_MODE_ONLY',
      'This works in test mode only: use a key that starts with sk_test_.',
    );
  }
  if (
    caller.kind === 'key' &&
    caller.allowedNetworks.length > 0 &&
    !isAllowedFrom(caller.allowedNetworks, addressOf())
  ) {
    throw new ApiError('IP_NOT_ALLOWED', 'Live keys of this merchant may not be used from this address.');
  }
  if (!caller.subscribed) throw new ApiError('SUBSCRIPTION_REQUIRED', 'An active subscription is required.');
  if (route.only === 'session' && caller.kind !== 'session') {
    throw new ApiError(
      'SESSION_REQUIRED',
      'This is for people who are signed in; an API key does not open it.',
    );
  }
  const scopes = caller.kind === 'key' ? caller.scopes : undefined;
  const lacked = scopes && scopesOf(route).find((needed) => !opens(scopes, needed));
  if (lacked) {
    const sentence = `This needs a key with the scope "${lacked}"; this key has ${scopes.join(', ')}.`;
    throw new ApiError('SCOPE_REQUIRED', sentence);
  }
  if (caller.kind === 'session' && !isOwnPage()) throw forgedRequest();
}

/** What an API key must be allowed to do for a route, all of it. */
export function scopesOf({ scope, alsoScope }: Pick<Route, 'scope' | 'alsoScope'>): readonly RouteScope[] {
  return [...(scope === 'none' ? [] : [scope]), ...(alsoScope ? [alsoScope] : [])];
}
