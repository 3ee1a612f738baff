import type { Pages } from '../visit.ts';
import { CUSTOMERS_PAGE } from './list.ts';
import { NEW_CUSTOMER_FORM, NEW_CUSTOMER_PAGE } from './new.ts';
import { REPLACE_PAGE_FORM, REPLACE_PAGE_PAGE } from './new-page.ts';
import { CUSTOMER_PAGE } from './one.ts';

/** The pages of customers. */
export const CUSTOMERS: Pages = {
  reads: [CUSTOMERS_PAGE, NEW_CUSTOMER_PAGE, CUSTOMER_PAGE, REPLACE_PAGE_PAGE],
  forms: [NEW_CUSTOMER_FORM, REPLACE_PAGE_FORM],
};
