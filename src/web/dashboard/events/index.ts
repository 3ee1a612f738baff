import type { Pages } from '../visit.ts';
import { EVENTS_PAGE } from './list.ts';
import { EVENT_BODY, EVENT_PAGE } from './one.ts';

/** The pages of events. */
export const EVENTS: Pages = { reads: [EVENTS_PAGE, EVENT_PAGE], downloads: [EVENT_BODY] };
