import * as chains from './chains.ts';
import * as customers from './customers.ts';
import * as deposits from './deposits.ts';
import * as ledger from './ledger.ts';
import * as merchants from './merchants.ts';
import * as paymentLinks from './payment-links.ts';
import * as payouts from './payouts.ts';
import * as processes from './process.ts';
import * as sentTransactions from './sent-transactions.ts';
import * as webhooks from './webhooks.ts';

export * from './chains.ts';
export * from './customers.ts';
export * from './deposits.ts';
export * from './ledger.ts';
export * from './merchants.ts';
export * from './payment-links.ts';
export * from './payouts.ts';
export * from './process.ts';
export * from './sent-transactions.ts';
export * from './webhooks.ts';

/** Every entity, in one list for the ORM's set-up: the files export nothing else that is a value. */
export const ENTITIES = [
  ...Object.values(chains),
  ...Object.values(customers),
  ...Object.values(deposits),
  ...Object.values(ledger),
  ...Object.values(merchants),
  ...Object.values(paymentLinks),
  ...Object.values(payouts),
  ...Object.values(processes),
  ...Object.values(sentTransactions),
  ...Object.values(webhooks),
];
