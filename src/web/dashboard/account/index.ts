import type { Pages } from '../visit.ts';
import { ACCOUNT_PAGE } from './overview.ts';
import { PASSWORD_FORM, PASSWORD_PAGE } from './password.ts';
import { END_OTHERS_FORM, END_SESSION_FORM } from './sessions.ts';
import { BEGIN_TOTP_FORM, CONFIRM_TOTP_FORM, END_TOTP_FORM, END_TOTP_PAGE, TOTP_PAGE } from './totp.ts';

/** The pages of a person's own sign-in. They stay open while the merchant's subscription has lapsed. */
export const ACCOUNT: Pages = {
  reads: [ACCOUNT_PAGE, PASSWORD_PAGE, TOTP_PAGE, END_TOTP_PAGE],
  forms: [
    PASSWORD_FORM,
    BEGIN_TOTP_FORM,
    CONFIRM_TOTP_FORM,
    END_TOTP_FORM,
    END_OTHERS_FORM,
    END_SESSION_FORM,
  ],
};
