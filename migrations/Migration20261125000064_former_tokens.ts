import { Migration } from '@mikro-orm/migrations';

/** A session that got another token is found by the former one too, for some seconds: see `renewSession`. */
export class Migration20261125000064_former_tokens extends Migration {
  override up(): void {
    this.addSql(`
alter table sessions
  add column former_token_hash varchar(64) null,
  add column former_until timestamptz null,
  add constraint sessions_former_token_check check ((former_token_hash is null) = (former_until is null)),
  add constraint sessions_former_token_hash_unique unique (former_token_hash)`);
  }

  override down(): void {
    this.addSql('alter table sessions drop column former_token_hash, drop column former_until');
  }
}
