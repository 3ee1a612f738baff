import { Secret, TOTP } from 'otpauth';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const DIGITS = 6;
/** How many steps before and after the present one have their codes accepted: clocks differ. */
const WINDOW = 1;
const ISSUER = 'Deposit Gateway';

/** What an authenticator app is set up with: the URI (mostly as a QR code), or the secret typed in base32. */
export type NewTotp = { readonly uri: string; readonly secret: string };

/** A new secret of 160 random bits (RFC 4226, section 4) for this account. */
export function newTotp(email: string): NewTotp {
  return shownTotp(new Secret({ size: SECRET_BYTES }).base32, email);
}

/** A secret as it is shown to the person of this account. */
export function shownTotp(secret: string, email: string): NewTotp {
  return { uri: generator(Secret.fromBase32(secret), email).toString(), secret };
}

/**
 * The step that this code belongs to, if it is the step of `now` or one beside
 * it; undefined for any other text. Spaces, as apps show them, are fine.
 */
export function stepOfCode(secret: string, code: string, now: Date): number | undefined {
  const digits = code.replace(/\s/g, '');
  if (!/^[0-9]{6}$/.test(digits)) return undefined;
  const timestamp = now.getTime();
  const delta = generator(Secret.fromBase32(secret), '').validate({
    token: digits,
    timestamp,
    window: WINDOW,
  });
  return delta === null ? undefined : Math.floor(timestamp / 1_000 / STEP_SECONDS) + delta;
}

function generator(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, algorithm: 'SHA1', digits: DIGITS, period: STEP_SECONDS, secret });
}
