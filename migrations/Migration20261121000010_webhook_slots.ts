import { Migration } from '@mikro-orm/migrations';

/** Connections to receivers counted for the whole installation, and every secret of the last 24 hours. */
export class Migration20261121000010_webhook_slots extends Migration {
  override up(): void {
    this.addSql(SLOTS);
    this.addSql(SECRETS);
  }

  override down(): void {
    throw new Error('The secrets of running rotations would be lost. Restore a backup instead.');
  }
}

// Ten rows at most for each owner (an endpoint), made once and then
// updated in place: no index changes, so an update costs no index entry.
const SLOTS = `
create table webhook_slots (
  owner_id uuid not null,
  slot smallint not null,
  held_until timestamptz not null,
  primary key (owner_id, slot)
) with (fillfactor = 50);
`;

const SECRETS = `
alter table webhook_endpoints add column earlier_secrets jsonb not null default '[]';
update webhook_endpoints set earlier_secrets = jsonb_build_array(jsonb_build_object(
  'sealed', translate(encode(previous_secret_sealed, 'base64'), E'\\n', ''),
  'until', to_char(previous_secret_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
  where previous_secret_sealed is not null and previous_secret_until is not null;
alter table webhook_endpoints alter column earlier_secrets drop default, drop column previous_secret_sealed, drop column previous_secret_until;
`;
