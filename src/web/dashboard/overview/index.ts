import type { Pages } from '../visit.ts';
import { OVERVIEW_PAGE } from './page.ts';

/** The page on which a merchant begins. */
export const OVERVIEW: Pages = { reads: [OVERVIEW_PAGE] };
