import type { Route } from '../route.ts';
import { BALANCE_ROUTES } from './balances.ts';
import { CUSTOMER_ROUTES } from './customers.ts';
import { DEPOSIT_ROUTES } from './deposits.ts';
import { ENDPOINT_ROUTES } from './endpoints.ts';
import { EVENT_ROUTES } from './events.ts';
import { PAYMENT_ROUTES } from './payments.ts';

/** Every route of the API. A path with a fixed word comes before one with a parameter in the same place. */
export const ROUTES: readonly Route[] = [
  ...CUSTOMER_ROUTES,
  ...ENDPOINT_ROUTES,
  ...EVENT_ROUTES,
  ...DEPOSIT_ROUTES,
  ...PAYMENT_ROUTES,
  ...BALANCE_ROUTES,
];
