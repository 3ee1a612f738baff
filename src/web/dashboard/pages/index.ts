import type { DashboardPage } from '../visit.ts';
import { ACCOUNT_PAGES } from './account.ts';
import { AUDIT_PAGES } from './audit.ts';
import { CUSTOMER_PAGES } from './customers.ts';
import { DEPOSIT_PAGES } from './deposits.ts';
import { ENDPOINT_PAGES } from './endpoints.ts';
import { EVENT_PAGES } from './events.ts';
import { KEY_PAGES } from './keys.ts';
import { LINK_PAGES } from './links.ts';
import { NEW_LINK } from './new-link.ts';
import { OVERVIEW } from './overview.ts';
import { PAYOUT_PAGES } from './payouts.ts';
import { SETTING_PAGES } from './settings.ts';
import { SIMULATE } from './simulate.ts';
import { TOTP_PAGES } from './totp.ts';
import { WITHDRAW_PAGES } from './withdraw.ts';

const ALL: readonly DashboardPage[] = [
  OVERVIEW,
  ...CUSTOMER_PAGES,
  ...DEPOSIT_PAGES,
  ...LINK_PAGES,
  NEW_LINK,
  ...PAYOUT_PAGES,
  ...ENDPOINT_PAGES,
  ...EVENT_PAGES,
  SIMULATE,
  ...SETTING_PAGES,
  ...KEY_PAGES,
  ...WITHDRAW_PAGES,
  ...AUDIT_PAGES,
  ...ACCOUNT_PAGES,
  ...TOTP_PAGES,
];

/**
 * Every page, form and file of the dashboard, once: the router adds the modes. The first path that fits
 * counts, so a word stands before the id that it could be taken for.
 */
export const PAGES: readonly DashboardPage[] = ALL.toSorted(
  (one, other) => Number(one.path.includes(':')) - Number(other.path.includes(':')),
);
