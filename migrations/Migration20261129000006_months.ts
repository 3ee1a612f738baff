import { Migration } from '@mikro-orm/migrations';

/**
 * What grows with every deposit lies in one partition for each month, and its unique keys hold across all of
 * them. Here is how ids and months are made; the tables themselves are made with their subjects.
 */
export class Migration20261129000006_months extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const TABLES =
  "'events', 'webhook_deliveries', 'webhook_attempts', 'deposit_transitions', 'ledger_transactions', 'ledger_entries'";
const PARTITION = `parent || to_char(month, '_YYYY_MM')`;
const KNOWN = `
  if parent not in (${TABLES})
     or not exists (select 1 from partition_months where first_month = month) then
    raise exception 'there is no such month of such a table';
  end if;`;

/**
 * The partitions of the months ahead are made while the service runs, whose role may change
 * rows and nothing else: these steps run as the owner of the tables. Each takes months
 * only, looks after the names itself, and does nothing that the others could not do anyway.
 */
const AS_OWNER = 'language plpgsql security definer set search_path = public, pg_temp';

const SQL = `
-- A partitioned table has unique keys only with the partition key in them, so the id carries
-- both: its first 48 bits are a time in milliseconds, by which the rows are laid into months,
-- and the rest is a hash of the fact. The same fact has the same id, and the primary key refuses
-- it. The bodies are one expression each, so that the planner puts them in place of the call.
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

-- One row for each partition of every table: it reaches from its month to the next row's, the
-- newest without an end and the first without a beginning. So there is a place for every row,
-- also when nobody made a partition for a long time; it is larger then, and that is all.
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

-- Between two partitioned tables there is no foreign key, or no month could be detached. A row lies in
-- the month of the one that it names, so each month's tables have the foreign key among themselves.
create function make_months(first date, last date) returns void ${AS_OWNER} as $$
declare
  parents constant text[] := array[${TABLES}];
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

-- A check that says where a partition ends: written down under
-- a short lock, then proven under one that keeps nobody out.
create function claim_month_end(parent text, month date, ends date) returns void ${AS_OWNER} as $$
declare
  key constant text := case parent when 'webhook_attempts' then 'delivery_id' when 'deposit_transitions' then 'at'
    when 'ledger_entries' then 'transaction_id' else 'id' end;
  kind constant text := case parent when 'deposit_transitions' then 'timestamptz' else 'uuid' end;
  above text := '';
begin ${KNOWN}
  if month > (select min(first_month) from partition_months) then
    above := format('%I >= %s::%s and ', key, partition_bound(parent, month), kind);
  end if;
  execute format('alter table %I drop constraint if exists months_end', ${PARTITION});
  execute format('alter table %I add constraint months_end check (%s%I < %s::%s) not valid', ${PARTITION}, above, key,
    partition_bound(parent, ends), kind);
end $$;
create function prove_month_end(parent text, month date) returns void ${AS_OWNER} as $$
begin ${KNOWN}
  execute format('alter table %I validate constraint months_end', ${PARTITION});
end $$;

create function forget_month_ends(month date) returns void ${AS_OWNER} as $$
declare
  parent text;
begin
  foreach parent in array array[${TABLES}] loop
    ${KNOWN}
    execute format('alter table %I drop constraint if exists months_end', ${PARTITION});
  end loop;
end $$;

-- Not everybody who may read: those who may write months down by themselves, whatever their roles are called.
do $$
declare
  step text;
  writer text;
begin
  foreach step in array array['make_months(date, date)', 'claim_month_end(text, date, date)', 'prove_month_end(text, date)', 'forget_month_ends(date)'] loop
    execute format('revoke execute on function %s from public', step);
    for writer in select r.rolname from pg_roles r where has_table_privilege(r.oid, 'partition_months', 'insert') and not r.rolsuper
                    and r.rolname not like 'pg\\_%' and r.rolname <> current_user loop
      execute format('grant execute on function %s to %I', step, writer);
    end loop;
  end loop;
end $$;
`;
