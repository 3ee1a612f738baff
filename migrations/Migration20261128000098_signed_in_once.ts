import { Migration } from '@mikro-orm/migrations';

/** A secret is kept for no page, and the token that a session had before opens nothing. */
export class Migration20261128000098_signed_in_once extends Migration {
  override up(): void {
    this.addSql('drop table shown_secrets');
    this.addSql('alter table sessions drop column former_token_hash, drop column former_until');
  }

  override down(): void {
    throw new Error('What was kept for pages is gone. Restore a backup instead.');
  }
}
