import { Migration } from '@mikro-orm/migrations';

/**
 * A payment link keeps the sums of its deposits, written by the database
 * with each change of one; links are found by what is open of them.
 */
export class Migration20261121000018_link_sums extends Migration {
  override up(): void {
    for (const sql of [SUMS, FOLLOW, GUARD, INDEXES]) this.addSql(sql);
  }

  override down(): void {
    throw new Error('The sums of payment links are kept for ever. Restore a backup instead.');
  }
}

/** SQL of `toLinkUnits`: units of links have 18 decimals on every network. */
const units = (row = ''): string =>
  `${row}amount_units * case ${row}network when 'bsc' then 1 when 'tron' then 1000000000000 end`;

const SUMS = `
alter table payment_links
  add column assigned_units numeric(78,0) not null default 0,
  add column open_count int not null default 0;
update payment_links l set assigned_units = s.assigned, paid_units = s.paid, open_count = s.open from (
  select payment_link_id, sum(${units()}) as assigned,
    coalesce(sum(${units()}) filter (where status in ('completed', 'settled')), 0) as paid,
    count(*) filter (where status in ('detected', 'confirming')) as open
  from deposits where payment_link_id is not null group by 1
) s where s.payment_link_id = l.id;
alter table payment_links add constraint payment_links_sums_check check (assigned_units >= paid_units and open_count >= 0);
`;

// Once for each statement that inserts, so that a block with
// a thousand payments of one link changes that link once.
const FOLLOW = `
create function sum_new_assignments() returns trigger language plpgsql as $$
begin
  update payment_links l set assigned_units = l.assigned_units + s.assigned, paid_units = l.paid_units + s.paid, open_count = l.open_count + s.open
  from (
    select payment_link_id, sum(${units()}) as assigned,
      coalesce(sum(${units()}) filter (where status in ('completed', 'settled')), 0) as paid,
      count(*) filter (where status in ('detected', 'confirming')) as open
    from added where payment_link_id is not null group by 1
  ) s where s.payment_link_id = l.id;
  return null;
end $$;
create trigger deposits_sum_new after insert on deposits referencing new table as added
  for each statement execute function sum_new_assignments();

create function sum_changed_assignment() returns trigger language plpgsql as $$
declare
  was numeric := ${units('old.')};
  is_now numeric := ${units('new.')};
  was_paid numeric := case when old.status in ('completed', 'settled') then was else 0 end;
  is_paid numeric := case when new.status in ('completed', 'settled') then is_now else 0 end;
  was_open int := case when old.status in ('detected', 'confirming') then 1 else 0 end;
  is_open int := case when new.status in ('detected', 'confirming') then 1 else 0 end;
begin
  if old.payment_link_id is not distinct from new.payment_link_id then
    if is_now <> was or is_paid <> was_paid or is_open <> was_open then
      update payment_links set assigned_units = assigned_units + is_now - was, paid_units = paid_units + is_paid - was_paid,
        open_count = open_count + is_open - was_open where id = new.payment_link_id;
    end if;
    return null;
  end if;
  update payment_links set assigned_units = assigned_units - was, paid_units = paid_units - was_paid, open_count = open_count - was_open
    where id = old.payment_link_id;
  update payment_links set assigned_units = assigned_units + is_now, paid_units = paid_units + is_paid, open_count = open_count + is_open
    where id = new.payment_link_id;
  return null;
end $$;
create trigger deposits_sum_changed after update of payment_link_id, status, amount_units on deposits for each row
  when (old.payment_link_id is not null or new.payment_link_id is not null) execute function sum_changed_assignment();
`;

const GUARD = `
create function guard_link_sums() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.assigned_units <> 0 or new.open_count <> 0 then
      raise exception 'a payment link begins without money' using errcode = 'integrity_constraint_violation';
    end if;
  elsif pg_trigger_depth() < 2 then
    raise exception 'the sums of a payment link change only with its deposits' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger payment_links_sums_insert before insert on payment_links for each row execute function guard_link_sums();
create trigger payment_links_sums_update before update on payment_links for each row
  when (old.paid_units <> new.paid_units or old.assigned_units <> new.assigned_units or old.open_count <> new.open_count)
  execute function guard_link_sums();
`;

// What is open in millionths, rounded up, is what a payer is asked for
// on the network with the fewest decimals: one key for both networks.
const INDEXES = `
create index payment_links_asked_index on payment_links
  (customer_id, div(amount_units - assigned_units + 999999999999, 1000000000000), created_at, id)
  where status in ('pending', 'processing', 'partially_paid') and assigned_units < amount_units;
create index payment_links_wanting_index on payment_links (customer_id, created_at, id)
  where status in ('pending', 'processing', 'partially_paid') and assigned_units < amount_units;
drop index payment_links_open_index;
create index payment_links_open_index on payment_links (customer_id, created_at, id) where status in ('pending', 'processing', 'partially_paid');
create index payment_links_missed_index on payment_links
  (customer_id, div(amount_units - assigned_units + 999999999999, 1000000000000), created_at, id)
  where status <> 'completed' and assigned_units < amount_units;
create index payment_links_short_index on payment_links (customer_id, (least_units - assigned_units), created_at, id)
  where status <> 'completed' and assigned_units < amount_units;
drop index deposits_payment_link_index;
create index deposits_payment_link_index on deposits (payment_link_id, created_at, id) where payment_link_id is not null;
create index deposits_payment_completed_index on deposits (payment_link_id, completed_at) where payment_link_id is not null and completed_at is not null;
`;
