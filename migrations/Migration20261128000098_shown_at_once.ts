import { Migration } from '@mikro-orm/migrations';

/** A secret stands in the answer to the form that made it, and is kept for no page. */
export class Migration20261128000098_shown_at_once extends Migration {
  override up(): void {
    this.addSql('drop table shown_secrets');
  }

  override down(): void {
    throw new Error('What was kept for pages is gone. Restore a backup instead.');
  }
}
