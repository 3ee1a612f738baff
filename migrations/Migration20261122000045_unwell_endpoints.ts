import { Migration } from '@mikro-orm/migrations';

/**
 * Endpoints that fail are counted at each scrape: payment
 * links bring one each, and nobody looks through those.
 */
export class Migration20261122000045_unwell_endpoints extends Migration {
  /** Concurrently, so that webhooks go on meanwhile; PostgreSQL does that outside a transaction only. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`create index concurrently if not exists webhook_endpoints_unwell_index on webhook_endpoints (mode)
      where payment_link_id is null and deleted_at is null and (failing_since is not null or disabled_reason is not null)`);
  }

  override down(): void {
    this.addSql('drop index concurrently if exists webhook_endpoints_unwell_index');
  }
}
