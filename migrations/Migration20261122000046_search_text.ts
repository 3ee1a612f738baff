import { Migration } from '@mikro-orm/migrations';

/**
 * What customers are searched by stands in each row, in small letters. Made of the columns
 * at every look it cost more than all the rest of a search. The table is written anew, so
 * customers wait meanwhile: some seconds for each million of them. The statistics are
 * finer than usual, because by them a search decides whether it asks the index.
 */
export class Migration20261122000046_search_text extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists customers_search_index');
    this.addSql(
      `alter table customers add column if not exists search_text text generated always as (${TEXTS}) stored`,
    );
    this.addSql('alter table customers alter column search_text set statistics 500');
    this.addSql(
      'create index concurrently if not exists customers_search_index on customers using gin (search_text gin_trgm_ops)',
    );
    this.addSql('analyze customers');
  }

  override down(): void {
    this.addSql('drop index concurrently if exists customers_search_index');
    this.addSql('alter table customers drop column search_text');
    this.addSql(
      `create index concurrently if not exists customers_search_index on customers using gin ((${TEXTS}) gin_trgm_ops)`,
    );
  }
}

const TEXTS = `lower(coalesce(external_id, '') || chr(10) || coalesce(email, '') || chr(10) || coalesce(name, ''))`;
