import { Migration } from '@mikro-orm/migrations';

/** What a key may do, and when and from which network it was used last. */
export class Migration20261122000034_key_scopes extends Migration {
  override up(): void {
    this.addSql(KEY_SCOPES);
  }

  override down(): void {
    throw new Error(
      'Without its scopes a key that may only read could change everything. Restore a backup instead.',
    );
  }
}

// Keys that exist were made to do everything. Space on the page lets
// a note of use stay beside its row, without an entry in any index.
const KEY_SCOPES = `
alter table api_keys add column scopes text[] not null default '{all}',
  add column last_used_at timestamptz null,
  add column last_used_site varchar(64) null,
  add constraint api_keys_scopes_check check (scopes <@ array['read', 'payments', 'webhooks', 'all'] and cardinality(scopes) > 0);
alter table api_keys alter column scopes drop default;
alter table api_keys set (fillfactor = 80);
`;
