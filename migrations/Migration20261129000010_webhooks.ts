import { Migration } from '@mikro-orm/migrations';
import { neverEmptied } from './statements.ts';

/** Endpoints, the events that they are told of, and each attempt to tell them. */
export class Migration20261129000010_webhooks extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- earlier_secrets: every secret of the last 24 hours. A link's own webhook URL is an endpoint that nobody
-- sees in a list: so every rule of deliveries holds for it too. Its id is the link's. Endpoints that fail are
-- counted at each scrape: payment links bring one each, and nobody looks through those.
--
-- Slots are the connections to receivers, counted for the whole installation: ten rows at most for each owner
-- (an endpoint), made once and then updated in place: no index changes, so an update costs no index entry.
create table webhook_endpoints (
  id uuid primary key,
  merchant_id uuid not null constraint webhook_endpoints_merchant_id_foreign references merchants (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  url varchar(2048) not null,
  description varchar(500) null,
  events text[] not null,
  enabled boolean not null,
  secret_sealed bytea not null,
  secret_hint varchar(16) not null,
  last_delivery_at timestamptz null,
  last_status_code int null,
  consecutive_failures int not null,
  failing_since timestamptz null,
  gone_since timestamptz null,
  gone_count int not null,
  disabled_reason varchar(200) null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz null,
  payment_link_id uuid null constraint webhook_endpoints_payment_link_id_foreign references payment_links (id),
  earlier_secrets jsonb not null
);
create unique index webhook_endpoints_payment_link_unique on webhook_endpoints (payment_link_id)
  where payment_link_id is not null;
create index webhook_endpoints_list_index on webhook_endpoints (merchant_id, mode, created_at, id)
  where payment_link_id is null;
create index webhook_endpoints_unwell_index on webhook_endpoints (mode)
  where payment_link_id is null and deleted_at is null and (failing_since is not null or disabled_reason is not null);
create table webhook_slots (
  owner_id uuid not null,
  slot smallint not null,
  held_until timestamptz not null,
  primary key (owner_id, slot)
) with (fillfactor = 50);

create table events (
  id uuid primary key,
  merchant_id uuid not null constraint events_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  type varchar(40) not null,
  subject_id uuid not null,
  sequence int not null,
  body bytea not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  constraint events_id_check check (id = id_of_event(occurred_at, type, subject_id, sequence))
) partition by range (id);
create index events_subject_id_index on events (subject_id);
create index events_list_index on events (merchant_id, mode, type, created_at, id);

-- Events stay as they are, but for the names of a customer who was erased: the database permits exactly that
-- change of a body. The external id of a payment link is that of the order, and goes too.
create function erased_event(body bytea, type text, customer uuid) returns jsonb language sql immutable
return (select jsonb_set(b.body, array['data'], b.body->'data' || coalesce((
    select jsonb_object_agg(m.name, m.value) from (values
      ('email', jsonb 'null'), ('name', jsonb 'null'), ('metadata', jsonb '{}'), ('description', jsonb 'null'),
      ('external_id', case when type like 'payment.%' then jsonb 'null' else to_jsonb('erased-' || customer) end)
    ) as m (name, value) where jsonb_exists(b.body->'data', m.name)), '{}'))
  from (select convert_from(body, 'UTF8')::jsonb as body) b);
create function guard_event() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  if tg_op = 'UPDATE' and (new.id, new.merchant_id, new.mode, new.type, new.subject_id, new.sequence, new.occurred_at, new.created_at)
      is not distinct from (old.id, old.merchant_id, old.mode, old.type, old.subject_id, old.sequence, old.occurred_at, old.created_at) then
    customer := coalesce(convert_from(old.body, 'UTF8')::jsonb->'data'->>'customer_id', old.subject_id::text)::uuid;
    if exists (select 1 from customers c where c.id = customer and c.external_id = 'erased-' || c.id and c.email is null)
        and convert_from(new.body, 'UTF8')::jsonb = erased_event(old.body, old.type, customer) then
      return new;
    end if;
  end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger events_append_only before update or delete on events for each row execute function guard_event();
${neverEmptied('events')}

create table webhook_deliveries (
  id uuid primary key,
  event_id uuid not null,
  endpoint_id uuid not null constraint webhook_deliveries_endpoint_id_foreign references webhook_endpoints (id),
  event_type varchar(40) not null,
  status varchar(10) not null check (status in ('pending', 'succeeded', 'failed')),
  round int not null check (round >= 1 and round <= 1000000),
  next_attempt_at timestamptz null,
  created_at timestamptz not null,
  finished_at timestamptz null,
  test_merchant_id uuid null,
  constraint webhook_deliveries_id_check check (id = id_of_delivery(event_id, endpoint_id))
) partition by range (id);
create index webhook_deliveries_event_index on webhook_deliveries (event_id);
create index webhook_deliveries_list_index on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_pending_index on webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_due_index on webhook_deliveries (next_attempt_at, id) where status = 'pending';
create index webhook_deliveries_failed_index on webhook_deliveries (endpoint_id, finished_at) where status = 'failed';
create index webhook_deliveries_test_index on webhook_deliveries (test_merchant_id)
  where status = 'pending' and test_merchant_id is not null;
create table webhook_attempts (
  delivery_id uuid not null,
  round int not null,
  number int not null check (number >= 1 and number <= 6),
  started_at timestamptz not null,
  finished_at timestamptz null,
  status_code int null,
  error varchar(300) null,
  response_body varchar(4096) null,
  duration_ms int null,
  primary key (delivery_id, round, number)
) partition by range (delivery_id);

-- All tables that are laid into months are there now.
select make_months(date_trunc('month', now() at time zone 'UTC')::date, (date_trunc('month', now() at time zone 'UTC') + interval '3 months')::date);
`;
