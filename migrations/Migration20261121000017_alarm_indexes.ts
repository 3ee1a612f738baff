import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes of what is looked for again and again among many rows:
 * what waits, what lost its block, what should have ended.
 */
export class Migration20261121000017_alarm_indexes extends Migration {
  /**
   * Concurrently, so that deposits go on while a grown table is
   * indexed; PostgreSQL does that outside a transaction only.
   */
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
  `deposits_standing_index on deposits (state_since, id) where status in ('detected', 'confirming') and not simulated`,
  `deposits_blockless_index on deposits (state_since, id) where status in ('completed', 'settled') and block_hash is null`,
  `payment_links_ending_index on payment_links (expires_at, id) where status in ('pending', 'processing', 'partially_paid')`,
];
