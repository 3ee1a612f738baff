import { Refusal } from '../../services/refusal.ts';
import type { Problem } from './door.ts';
import { NotSignedIn } from './enter.ts';
import type { Values, Visit } from './visit.ts';

/** As much as a login takes. */
const MAX_PASSWORD = 1_024;
const MAX_CODE = 20;

/**
 * Looks at the password, and the code, that a form carries: this sign-in has then proven who it is for ten
 * minutes and goes on under another token, which the answer carries; or says what is wrong. Throws
 * {@link NotSignedIn} for a session that ended meanwhile, and what the door throws where it is full.
 */
export async function confirm(visit: Visit, values: Values): Promise<Confirmed> {
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
}

type Confirmed = { readonly visit: Visit } | { readonly problem: Problem };

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
