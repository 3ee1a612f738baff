import { Migration } from '@mikro-orm/migrations';

/** Links by which people set a password that nobody else knows. */
export class Migration20261122000035_password_links extends Migration {
  override up(): void {
    this.addSql(PASSWORD_LINKS);
  }

  override down(): void {
    this.addSql('drop table password_links');
  }
}

// A user has one link that is not used, whoever asks for how many at
// the same moment. Without the user there is nothing left to open.
const PASSWORD_LINKS = `
create table password_links (
  id uuid primary key,
  user_id uuid not null constraint password_links_user_id_foreign references users (id) on delete cascade,
  token_hash varchar(64) not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz null,
  constraint password_links_token_hash_unique unique (token_hash)
);
create unique index password_links_open_unique on password_links (user_id) where used_at is null;
create index password_links_expires_at_index on password_links (expires_at);
`;
