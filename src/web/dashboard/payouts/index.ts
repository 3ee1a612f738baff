import type { Pages } from '../visit.ts';
import { BALANCES_PAGE } from './balances.ts';
import { PAYOUTS_PAGE } from './list.ts';
import { PAYOUT_PAGE } from './one.ts';

/** The pages of payouts and of what is still to be paid out. */
export const PAYOUTS: Pages = { reads: [PAYOUTS_PAGE, BALANCES_PAGE, PAYOUT_PAGE] };
