import { Migration } from '@mikro-orm/migrations';

/**
 * Payment links count the events that tell of them, and know which part of their money was told. Each step
 * holds the table for a moment only, because deposits go on, and can be done again after a killed run.
 */
export class Migration20261126000065_link_events extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const step of [COLUMNS, CHECK, PROOF, TOLD, GUARD, TRIGGER]) this.addSql(step);
    this.addSql(erasedEvent("type like 'payment.%'"));
  }

  override down(): void {
    this.addSql(erasedEvent("type = 'payment.completed'"));
    this.addSql('drop trigger if exists payment_links_events on payment_links');
    this.addSql('drop function if exists guard_link_events()');
    this.addSql(
      'alter table payment_links drop column if exists event_sequence, drop column if exists partial_units',
    );
  }
}

const COLUMNS = `alter table payment_links
  add column if not exists event_sequence int not null default 0,
  add column if not exists partial_units numeric(78,0) not null default 0`;
// Held for what changes from here on, and proven without keeping anybody from the table.
const CHECK = `alter table payment_links drop constraint if exists payment_links_events_check,
  add constraint payment_links_events_check check (event_sequence >= 0 and partial_units >= 0) not valid`;
const PROOF = 'alter table payment_links validate constraint payment_links_events_check';
const TOLD = `update payment_links set partial_units = paid_units
  where status in ('processing', 'partially_paid') and paid_units > 0 and partial_units <> paid_units`;
// An event's id is made of this number, so one that came back would be an event that is not written.
// The one event of a link that was paid before has the number 1.
const GUARD = `create or replace function guard_link_events() returns trigger language plpgsql as $$
begin
  raise exception 'the number of a payment link''s events never falls' using errcode = 'integrity_constraint_violation';
end $$`;
const TRIGGER = `create or replace trigger payment_links_events before update on payment_links for each row
  when (new.event_sequence < old.event_sequence) execute function guard_link_events()`;

// The external id of a payment link is that of the order, and goes with its customer's names.
const erasedEvent = (ofLink: string): string => `
create or replace function erased_event(body bytea, type text, customer uuid) returns jsonb language sql immutable
return (select jsonb_set(b.body, array['data'], b.body->'data' || coalesce((
    select jsonb_object_agg(m.name, m.value) from (values
      ('email', jsonb 'null'), ('name', jsonb 'null'), ('metadata', jsonb '{}'), ('description', jsonb 'null'),
      ('external_id', case when ${ofLink} then jsonb 'null' else to_jsonb('erased-' || customer) end)
    ) as m (name, value) where jsonb_exists(b.body->'data', m.name)), '{}'))
  from (select convert_from(body, 'UTF8')::jsonb as body) b);
`;
