// Part of the migration that makes the partitions: never edited after a release.

/** Takes the tables without partitions, and the names of their indexes, out of the way. */
export const RETIRE = `
do $$
declare
  old text;
  index text;
begin
  foreach old in array array['events', 'webhook_deliveries', 'webhook_attempts', 'deposit_transitions', 'ledger_transactions', 'ledger_entries'] loop
    for index in select indexname from pg_indexes where schemaname = current_schema() and tablename = old loop
      execute format('alter index %I rename to %I', index, 'old_' || index);
    end loop;
    execute format('alter table %I rename to %I', old, 'old_' || old);
  end loop;
end $$;
`;

/**
 * Moves the rows with the ids that they have from now on. Starts of actors
 * that name a delivery are left to the repair, which names it anew.
 */
export const COPY = `
create temporary table new_events on commit drop as
select id as old_id, id_of_event(occurred_at, type, subject_id, sequence) as id, sequence from (
  select *, case when dedup_key like 'deposit:%' then split_part(dedup_key, ':', 3)::int
    when type = 'webhook.test' then ('x' || left(md5(dedup_key), 7))::bit(28)::int else 1 end as sequence from old_events) e;
insert into events select n.id, merchant_id, mode, type, subject_id, n.sequence, body, occurred_at, created_at
from old_events e join new_events n on n.old_id = e.id;

create temporary table new_deliveries on commit drop as
select d.id as old_id, id_of_delivery(n.id, d.endpoint_id) as id, n.id as event_id from old_webhook_deliveries d join new_events n on n.old_id = d.event_id;
insert into webhook_deliveries select n.id, n.event_id, endpoint_id, event_type, status, round, next_attempt_at, created_at, finished_at
from old_webhook_deliveries d join new_deliveries n on n.old_id = d.id;
insert into webhook_attempts select n.id, round, number, started_at, finished_at, status_code, error, response_body, duration_ms
from old_webhook_attempts a join new_deliveries n on n.old_id = a.delivery_id;

insert into deposit_transitions select * from old_deposit_transitions;

create temporary table new_postings on commit drop as
select t.id as old_id, id_of_posting(d.created_at, d.id, t.number) as id, t.number,
  coalesce((select max(s.sequence) from old_deposit_transitions s where s.deposit_id = d.id and s.at <= t.created_at), 1) as sequence
from (select *, (row_number() over (partition by deposit_id order by created_at, dedup_key))::int as number from old_ledger_transactions) t
join deposits d on d.id = t.deposit_id;
insert into ledger_transactions select n.id, deposit_id, n.number, kind, n.sequence, created_at
from old_ledger_transactions t join new_postings n on n.old_id = t.id;
insert into ledger_entries select n.id, line, merchant_id, mode, network, currency, account, amount_units
from old_ledger_entries e join new_postings n on n.old_id = e.transaction_id;
update balance_changes b set transaction_id = n.id from new_postings n where n.old_id = b.transaction_id;

drop table old_webhook_attempts, old_webhook_deliveries, old_events, old_deposit_transitions, old_ledger_entries, old_ledger_transactions;
`;

/**
 * What the database held before, and what makes the derived ids proof: the
 * times in them never change, and an audit row is the state of its deposit.
 */
export const GUARDS = `
create trigger events_append_only before update or delete on events for each row execute function refuse_change();
create trigger events_no_truncate before truncate on events for each statement execute function refuse_change();
create trigger deposit_transitions_append_only before update or delete on deposit_transitions for each row execute function refuse_change();
create trigger deposit_transitions_no_truncate before truncate on deposit_transitions for each statement execute function refuse_change();
create trigger ledger_transactions_append_only before update or delete on ledger_transactions for each row execute function refuse_change();
create trigger ledger_entries_append_only before update or delete on ledger_entries for each row execute function refuse_change();
create trigger ledger_transactions_no_truncate before truncate on ledger_transactions for each statement execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries for each statement execute function refuse_change();
create constraint trigger ledger_entries_balanced after insert on ledger_entries deferrable initially deferred for each row execute function guard_ledger();
create trigger ledger_entries_counted after insert on ledger_entries
  referencing new table as added_entries for each statement execute function count_ledger_entries();

create function guard_deposit_times() returns trigger language plpgsql as $$
begin
  raise exception 'created_at of a deposit never changes, and state_since only with its state' using errcode = 'integrity_constraint_violation';
end $$;
create trigger deposits_times_guard before update on deposits for each row
  when (new.created_at <> old.created_at or (new.sequence = old.sequence and new.state_since <> old.state_since)) execute function guard_deposit_times();

create function guard_transitions() returns trigger language plpgsql as $$
begin
  if exists (select 1 from added a join deposits d on d.id = a.deposit_id
             where d.sequence <> a.sequence or d.state_since <> a.at or d.status <> a.to_state) then
    raise exception 'an audit row tells of the state that its deposit is in' using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create trigger deposit_transitions_guard after insert on deposit_transitions
  referencing new table as added for each statement execute function guard_transitions();

create function guard_posting_ids() returns trigger language plpgsql as $$
begin
  if exists (select 1 from added a join deposits d on d.id = a.deposit_id where a.id <> id_of_posting(d.created_at, d.id, a.number)) then
    raise exception 'the id of a ledger transaction is made of its deposit and its number' using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create trigger ledger_transactions_guard after insert on ledger_transactions
  referencing new table as added for each statement execute function guard_posting_ids();
`;
