import { Migration20261129000001_merchants } from './Migration20261129000001_merchants.ts';
import { Migration20261129000002_customers } from './Migration20261129000002_customers.ts';
import { Migration20261129000003_payment_links } from './Migration20261129000003_payment_links.ts';
import { Migration20261129000004_payouts } from './Migration20261129000004_payouts.ts';
import { Migration20261129000005_sent_transactions } from './Migration20261129000005_sent_transactions.ts';
import { Migration20261129000006_months } from './Migration20261129000006_months.ts';
import { Migration20261129000007_deposits } from './Migration20261129000007_deposits.ts';
import { Migration20261129000008_assignments } from './Migration20261129000008_assignments.ts';
import { Migration20261129000009_ledger } from './Migration20261129000009_ledger.ts';
import { Migration20261129000010_webhooks } from './Migration20261129000010_webhooks.ts';
import { Migration20261129000011_chains } from './Migration20261129000011_chains.ts';
import { Migration20261129000012_process } from './Migration20261129000012_process.ts';

/**
 * Every migration in order. A released one is never edited, nor taken back, because records of money are in
 * what it made: a change is a new class at the end.
 */
export const MIGRATIONS = [
  Migration20261129000001_merchants,
  Migration20261129000002_customers,
  Migration20261129000003_payment_links,
  Migration20261129000004_payouts,
  Migration20261129000005_sent_transactions,
  Migration20261129000006_months,
  Migration20261129000007_deposits,
  Migration20261129000008_assignments,
  Migration20261129000009_ledger,
  Migration20261129000010_webhooks,
  Migration20261129000011_chains,
  Migration20261129000012_process,
].map((migration) => ({ name: migration.name, class: migration }));
