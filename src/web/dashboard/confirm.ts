import { Refusal } from '../../services/refusal.ts';
import type { Problem } from './door.ts';
import { type Confirm, NotSignedIn } from './enter.ts';

/** As much as a login takes. */
const MAX_PASSWORD = 1_024;
const MAX_CODE = 20;

/** Steps a sign-in up by what stands in the fields of `guardFields`. */
export const confirm: Confirm = async (visit, values) => {
  const { door, ctx, owner, standing } = visit;
  const { confirm_password: password = '', confirm_code: totp } = values;
  if (password === '') return { problem: asked('This needs your password again.') };
  if (password.length > MAX_PASSWORD || (totp ?? '').length > MAX_CODE) return { problem: wrong(standing) };
  const site = door.networkOf(ctx);
  const result = await door.stepUp(owner, { password, totp, site }).catch((error: unknown) => {
    // Only a session that ended between the two is told so here.
    throw error instanceof Refusal && error.code === 'STEP_UP_REQUIRED' ? new NotSignedIn() : error;
  });
  if (result.kind === 'throttled')
    return { problem: door.problemOf(door.tooOften(result.retryAfterSeconds)) };
  if (result.kind === 'refused') return { problem: wrong(standing) };
  door.handOver(ctx, result.token);
  const confirmed = { ...standing, steppedUpUntil: result.until };
  return { visit: { ...visit, owner: result.owner, standing: confirmed } };
};

/** One answer for everything that can be wrong, so that a code cannot be tried without the password. */
function wrong({ usesTotp }: { readonly usesTotp: boolean }): Problem {
  return asked(
    usesTotp
      ? 'The password or the code is not right. A code works once: wait for the next one after it was used.'
      : 'The password is not right.',
  );
}

function asked(message: string): Problem {
  const details = [{ path: 'confirm_password', message }];
  return { status: 403, code: 'STEP_UP_REQUIRED', message, headers: {}, details };
}
