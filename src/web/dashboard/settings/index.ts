import type { Pages } from '../visit.ts';
import { ALLOWLIST_FORM, ALLOWLIST_PAGE, NOT_ALLOWED_FORM, NOT_ALLOWED_PAGE } from './allowlist.ts';
import { AUDIT_PAGE } from './audit.ts';
import { INVITE_FORM, INVITE_PAGE } from './invite.ts';
import { REVOKE_FORMS, REVOKE_PAGE, ROTATE_FORMS, ROTATE_PAGE } from './key-ends.ts';
import { KEYS_PAGE } from './keys.ts';
import { NAME_FORM, NAME_PAGE } from './name.ts';
import { NEW_KEY_FORMS, NEW_KEY_PAGE } from './new-key.ts';
import { SETTINGS_PAGE } from './overview.ts';
import { REMOVE_FORM, REMOVE_PAGE, TEAM_PAGE } from './team.ts';
import { CANCEL_FORM, CANCEL_PAGE, WITHDRAW_PAGE } from './withdraw.ts';
import {
  TAKE_AWAY_FORM,
  TAKE_AWAY_PAGE,
  WITHDRAW_CHANGE_FORM,
  WITHDRAW_CHANGE_PAGE,
} from './withdraw-change.ts';

/** The pages of what belongs to a merchant as a whole: money's way out, keys, people. */
export const SETTINGS: Pages = {
  reads: [
    SETTINGS_PAGE,
    NAME_PAGE,
    KEYS_PAGE,
    NEW_KEY_PAGE,
    REVOKE_PAGE,
    ROTATE_PAGE,
    WITHDRAW_PAGE,
    WITHDRAW_CHANGE_PAGE,
    TAKE_AWAY_PAGE,
    CANCEL_PAGE,
    ALLOWLIST_PAGE,
    NOT_ALLOWED_PAGE,
    TEAM_PAGE,
    INVITE_PAGE,
    REMOVE_PAGE,
    AUDIT_PAGE,
  ],
  forms: [
    NAME_FORM,
    ...NEW_KEY_FORMS,
    ...REVOKE_FORMS,
    ...ROTATE_FORMS,
    WITHDRAW_CHANGE_FORM,
    TAKE_AWAY_FORM,
    CANCEL_FORM,
    ALLOWLIST_FORM,
    NOT_ALLOWED_FORM,
    INVITE_FORM,
    REMOVE_FORM,
  ],
};
