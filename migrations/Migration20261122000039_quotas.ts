import { Migration } from '@mikro-orm/migrations';

/**
 * What a merchant may have at most in a mode, where an operator
 * says so, and an index by which open links are counted.
 */
export class Migration20261122000039_quotas extends Migration {
  /** The index concurrently: links are made meanwhile. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(QUOTAS);
    this.addSql(`create index concurrently if not exists payment_links_open_owner_index on payment_links (merchant_id, mode)
      where status in ('pending', 'processing', 'partially_paid')`);
    // What it was for is in the wider one.
    this.addSql('drop index concurrently if exists payment_links_open_test_index');
  }

  override down(): void {
    this.addSql(`create index concurrently if not exists payment_links_open_test_index on payment_links (merchant_id)
      where mode = 'test' and status in ('pending', 'processing', 'partially_paid')`);
    this.addSql('drop index concurrently if exists payment_links_open_owner_index');
    this.addSql('drop table quotas');
  }
}

const QUOTAS = `
create table if not exists quotas (
  merchant_id uuid not null constraint quotas_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  quota varchar(20) not null,
  most bigint not null,
  used bigint not null,
  used_on date not null,
  primary key (merchant_id, mode, quota),
  constraint quotas_mode_check check (mode in ('live', 'test')),
  constraint quotas_quota_check check (quota in ('customers', 'endpoints', 'events_per_day', 'open_links')),
  constraint quotas_numbers_check check (most >= 0 and used >= 0)
)`;
