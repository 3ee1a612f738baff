import type { Pages } from '../visit.ts';
import { DEPOSITS_PAGE } from './list.ts';
import { DEPOSIT_PAGE } from './one.ts';

/** The pages of deposits. */
export const DEPOSITS: Pages = { reads: [DEPOSITS_PAGE, DEPOSIT_PAGE] };
