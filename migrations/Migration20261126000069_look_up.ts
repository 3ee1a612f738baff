import { Migration } from '@mikro-orm/migrations';

/**
 * What operators look up without knowing whose it is: an email in any case, an external id, a payout by its
 * transaction or by where it went, and whose withdraw address one is. Concurrently, because deposits go on.
 */
export class Migration20261126000069_look_up extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
  }

  override down(): void {
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
  }
}

const INDEXES = [
  'customers_any_email_index on customers (lower(email)) where email is not null',
  'customers_any_external_id_index on customers (external_id) where external_id is not null',
  'payment_links_any_external_id_index on payment_links (external_id) where external_id is not null',
  'payouts_transaction_hash_index on payouts (transaction_hash) where transaction_hash is not null',
  'payouts_destination_index on payouts (network, destination, created_at)',
  'withdraw_addresses_address_index on withdraw_addresses (network, address)',
];
