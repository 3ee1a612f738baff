import type { Pages } from '../visit.ts';
import { CANCEL_LINK_FORM, CANCEL_LINK_PAGE } from './cancel.ts';
import { LINK_DELIVERIES_PAGE } from './deliveries.ts';
import { LINKS_PAGE } from './list.ts';
import { NEW_LINK_FORM, NEW_LINK_PAGE } from './new.ts';
import { LINK_PAGE } from './one.ts';

/** The pages of payment links. */
export const LINKS: Pages = {
  reads: [LINKS_PAGE, NEW_LINK_PAGE, LINK_PAGE, CANCEL_LINK_PAGE, LINK_DELIVERIES_PAGE],
  forms: [NEW_LINK_FORM, CANCEL_LINK_FORM],
};
