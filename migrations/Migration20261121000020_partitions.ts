import { Migration } from '@mikro-orm/migrations';
import { COPY, GUARDS, RETIRE } from './partitions-copy.ts';

/**
 * What grows with every deposit lies in one partition for
 * each month, and its unique keys hold across all of them.
 */
export class Migration20261121000020_partitions extends Migration {
  override up(): void {
    for (const sql of [RETIRE, IDS, EVENTS, DELIVERIES, TRANSITIONS, LEDGER, MONTHS, FIRST, COPY, GUARDS])
      this.addSql(sql);
  }

  override down(): void {
    throw new Error('Records of money are not copied back into one table. Restore a backup instead.');
  }
}

// A partitioned table has unique keys only with the partition key in them, so the id carries
// both: its first 48 bits are a time in milliseconds, by which the rows are laid into months,
// and the rest is a hash of the fact. The same fact has the same id, and the primary key refuses
// it. The bodies are one expression each, so that the planner puts them in place of the call.
const IDS = `
create function lowest_id(at timestamptz) returns uuid language sql immutable parallel safe
return (lpad(to_hex(floor(extract(epoch from at at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create function id_from(time_part text, fact text) returns uuid language sql immutable parallel safe
return overlay(overlay(time_part || left(encode(sha256(convert_to(fact, 'UTF8')), 'hex'), 20) placing '8' from 13) placing '8' from 17)::uuid;

create function id_of_event(at timestamptz, type varchar, subject_id uuid, sequence int) returns uuid language sql immutable parallel safe
return id_from(left(lowest_id(at)::text, 8) || substr(lowest_id(at)::text, 10, 4), split_part(type, '.', 1) || ' ' || subject_id || ' ' || sequence);

create function id_of_delivery(event_id uuid, endpoint_id uuid) returns uuid language sql immutable parallel safe
return id_from(left(event_id::text, 8) || substr(event_id::text, 10, 4), event_id || ' ' || endpoint_id);

create function id_of_posting(deposit_created_at timestamptz, deposit_id uuid, number int) returns uuid language sql immutable parallel safe
return id_from(left(lowest_id(deposit_created_at)::text, 8) || substr(lowest_id(deposit_created_at)::text, 10, 4), deposit_id || ' ' || number);
`;

const EVENTS = `
create table events (
  id uuid not null,
  merchant_id uuid not null constraint events_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  type varchar(40) not null,
  subject_id uuid not null,
  sequence int not null,
  body bytea not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (id),
  constraint events_id_check check (id = id_of_event(occurred_at, type, subject_id, sequence))
) partition by range (id);
create index events_subject_id_index on events (subject_id);
`;

// Between two partitioned tables there is no foreign key, or no month could be detached. A row lies in
// the month of the one that it names, so each month's tables have the foreign key among themselves.
const DELIVERIES = `
create table webhook_deliveries (
  id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null constraint webhook_deliveries_endpoint_id_foreign references webhook_endpoints (id),
  event_type varchar(40) not null,
  status varchar(10) not null,
  round int not null,
  next_attempt_at timestamptz null,
  created_at timestamptz not null,
  finished_at timestamptz null,
  primary key (id),
  constraint webhook_deliveries_id_check check (id = id_of_delivery(event_id, endpoint_id)),
  constraint webhook_deliveries_status_check check (status in ('pending', 'succeeded', 'failed')),
  constraint webhook_deliveries_round_check check (round >= 1 and round <= 1000000)
) partition by range (id);
create index webhook_deliveries_event_index on webhook_deliveries (event_id);
create index webhook_deliveries_list_index on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_pending_index on webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_failed_index on webhook_deliveries (endpoint_id, finished_at) where status = 'failed';
create table webhook_attempts (
  delivery_id uuid not null,
  round int not null,
  number int not null,
  started_at timestamptz not null,
  finished_at timestamptz null,
  status_code int null,
  error varchar(300) null,
  response_body varchar(4096) null,
  duration_ms int null,
  primary key (delivery_id, round, number),
  constraint webhook_attempts_number_check check (number >= 1 and number <= 6)
) partition by range (delivery_id);
`;

const TRANSITIONS = `
create table deposit_transitions (
  deposit_id uuid not null constraint deposit_transitions_deposit_id_foreign references deposits (id),
  sequence int not null,
  from_state varchar(10) null,
  to_state varchar(10) not null,
  generation int not null,
  failure_code varchar(24) null,
  reason varchar(500) null,
  by_name varchar(120) null,
  at timestamptz not null,
  primary key (deposit_id, sequence, at)
) partition by range (at);
`;

// By the time of the deposit and not of the posting: that never changes, so a number of a
// deposit is one id for ever, and everything that was ever posted for a deposit lies in one
// place. \`sequence\` is the deposit's at that moment: it pairs a credit with its completion.
const LEDGER = `
create table ledger_transactions (
  id uuid not null,
  deposit_id uuid not null constraint ledger_transactions_deposit_id_foreign references deposits (id),
  number int not null,
  kind varchar(40) not null,
  sequence int not null,
  created_at timestamptz not null,
  primary key (id)
) partition by range (id);
create index ledger_transactions_deposit_id_index on ledger_transactions (deposit_id);
create table ledger_entries (
  transaction_id uuid not null,
  line int not null,
  merchant_id uuid not null constraint ledger_entries_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  network varchar(8) not null,
  currency varchar(8) not null,
  account varchar(12) not null,
  amount_units numeric(78,0) not null,
  primary key (transaction_id, line),
  constraint ledger_entries_account_check check (account in ('chain', 'pending', 'available', 'settled', 'held')),
  constraint ledger_entries_amount_check check (amount_units <> 0)
) partition by range (transaction_id);
create index ledger_entries_balance_index on ledger_entries (merchant_id, mode, network, currency, account);
`;

// One row for each partition of every table: it reaches from its month to the next row's, the
// newest without an end and the first without a beginning. So there is a place for every row,
// also when nobody made a partition for a long time; it is larger then, and that is all.
const MONTHS = `
create table partition_months (
  first_month date primary key,
  made_at timestamptz not null,
  detached_at timestamptz null,
  detached_by varchar(120) null,
  detached_reason varchar(500) null,
  constraint partition_months_first_check check (extract(day from first_month) = 1)
);

create function partition_bound(parent text, month date) returns text language sql immutable
return case
  when month is null then 'maxvalue'
  when parent = 'deposit_transitions' then quote_literal(to_char(month, 'YYYY-MM-DD') || ' 00:00:00+00')
  else quote_literal(lowest_id(month::timestamp at time zone 'UTC'))
end;

create function make_months(first date, last date) returns void language plpgsql as $$
declare
  parents constant text[] := array['events', 'webhook_deliveries', 'webhook_attempts', 'deposit_transitions', 'ledger_transactions', 'ledger_entries'];
  oldest date := (select min(first_month) from partition_months);
  newest date := (select max(first_month) from partition_months);
  parent text;
  child text;
  lower text;
  month date;
begin
  if first <= newest then
    raise exception 'the months up to % are there already', newest;
  end if;
  foreach parent in array parents loop
    if newest is not null then
      child := parent || to_char(newest, '_YYYY_MM');
      lower := case when newest = oldest then 'minvalue' else partition_bound(parent, newest) end;
      execute format('alter table %I detach partition %I', parent, child);
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, child, lower, partition_bound(parent, first));
    end if;
    for month in select m::date from generate_series(first::timestamp, last::timestamp, interval '1 month') m loop
      child := parent || to_char(month, '_YYYY_MM');
      lower := case when newest is null and month = first then 'minvalue' else partition_bound(parent, month) end;
      execute format('create table %I (like %I including all)', child, parent);
      execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, child, lower,
        partition_bound(parent, case when month < last then (month + interval '1 month')::date end));
      if parent in ('events', 'deposit_transitions', 'ledger_transactions', 'ledger_entries') then
        execute format('create trigger no_truncate before truncate on %I for each statement execute function refuse_change()', child);
      end if;
      if parent = 'webhook_deliveries' then
        execute format('alter table %I add foreign key (event_id) references %I', child, 'events' || to_char(month, '_YYYY_MM'));
      elsif parent = 'webhook_attempts' then
        execute format('alter table %I add foreign key (delivery_id) references %I', child, 'webhook_deliveries' || to_char(month, '_YYYY_MM'));
      elsif parent = 'ledger_entries' then
        execute format('alter table %I add foreign key (transaction_id) references %I', child, 'ledger_transactions' || to_char(month, '_YYYY_MM'));
      end if;
    end loop;
  end loop;
  insert into partition_months (first_month, made_at)
  select m::date, now() from generate_series(first::timestamp, last::timestamp, interval '1 month') m;
end $$;
`;

const FIRST = `
select make_months(date_trunc('month', now() at time zone 'UTC')::date, (date_trunc('month', now() at time zone 'UTC') + interval '3 months')::date);
`;
