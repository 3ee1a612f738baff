import type { Pages } from '../visit.ts';
import { CHANGE_ENDPOINT_FORMS, CHANGE_ENDPOINT_PAGE } from './change.ts';
import { DELETE_ENDPOINT_FORMS, DELETE_ENDPOINT_PAGE } from './delete.ts';
import { ENDPOINT_DELIVERIES_PAGE } from './deliveries.ts';
import { ENDPOINTS_PAGE } from './list.ts';
import { NEW_ENDPOINT_FORMS, NEW_ENDPOINT_PAGE } from './new.ts';
import { ENDPOINT_PAGE } from './one.ts';
import { RESEND_FAILED_FORM, RESEND_FORM } from './resend.ts';
import { ROTATE_SECRET_FORMS, ROTATE_SECRET_PAGE } from './rotate.ts';
import { DISABLE_ENDPOINT_FORMS, ENABLE_ENDPOINT_FORMS } from './switch.ts';
import { TEST_ENDPOINT_FORM } from './test.ts';

/** The pages of webhook endpoints and of what is sent to them. */
export const ENDPOINTS: Pages = {
  reads: [
    ENDPOINTS_PAGE,
    NEW_ENDPOINT_PAGE,
    ENDPOINT_PAGE,
    CHANGE_ENDPOINT_PAGE,
    ROTATE_SECRET_PAGE,
    DELETE_ENDPOINT_PAGE,
    ENDPOINT_DELIVERIES_PAGE,
  ],
  forms: [
    ...NEW_ENDPOINT_FORMS,
    ...CHANGE_ENDPOINT_FORMS,
    ...ENABLE_ENDPOINT_FORMS,
    ...DISABLE_ENDPOINT_FORMS,
    ...ROTATE_SECRET_FORMS,
    ...DELETE_ENDPOINT_FORMS,
    TEST_ENDPOINT_FORM,
    RESEND_FORM,
    RESEND_FAILED_FORM,
  ],
};
