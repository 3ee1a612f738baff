import { Migration } from '@mikro-orm/migrations';

/**
 * What customers and payment links are searched by, as one text for each row, in an index
 * of its groups of three letters. Concurrently, so that both go on while grown tables are
 * indexed. The owner of the database may make the extension, which is trusted.
 */
export class Migration20261121000029_search extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('create extension if not exists pg_trgm');
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
  }

  override down(): void {
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
  }
}

/** The services ask with exactly these expressions. */
const INDEXES = [
  `customers_search_index on customers using gin
     (lower(coalesce(external_id, '') || chr(10) || coalesce(email, '') || chr(10) || coalesce(name, '')) gin_trgm_ops)`,
  `payment_links_search_index on payment_links using gin
     (lower(coalesce(description, '') || chr(10) || coalesce(external_id, '') || chr(10) || token) gin_trgm_ops)`,
];
