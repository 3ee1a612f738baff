import type { Pages } from '../visit.ts';
import { SIMULATE_FORM, SIMULATE_PAGE } from './simulate.ts';

/** The pages with which test mode is tried. */
export const SIMULATE: Pages = { reads: [SIMULATE_PAGE], forms: [SIMULATE_FORM] };
