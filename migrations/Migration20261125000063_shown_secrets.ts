import { Migration } from '@mikro-orm/migrations';

/** What a page shows once, between the form that made it and the page that shows it. */
export class Migration20261125000063_shown_secrets extends Migration {
  override up(): void {
    this.addSql(SHOWN_SECRETS);
  }

  override down(): void {
    this.addSql('drop table shown_secrets');
  }
}

// Whoever is signed out may not see it any more: it goes with its session.
const SHOWN_SECRETS = `
create table shown_secrets (
  id uuid not null primary key,
  session_id uuid not null constraint shown_secrets_session_id_foreign references sessions (id) on delete cascade,
  sealed bytea not null,
  expires_at timestamptz not null
);
create index shown_secrets_session_id_index on shown_secrets (session_id);
create index shown_secrets_expires_at_index on shown_secrets (expires_at);
`;
