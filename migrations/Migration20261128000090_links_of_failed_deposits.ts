import { Migration } from '@mikro-orm/migrations';

/**
 * A deposit that failed keeps the link that it was sent for, so that payer and merchant are told of it; it
 * counts for nothing there. Only when it comes back may it get another link.
 */
export class Migration20261128000090_links_of_failed_deposits extends Migration {
  override up(): void {
    this.addSql(GUARD);
    this.addSql(SUMS);
  }

  override down(): void {
    throw new Error('What failed deposits were sent for is kept for ever. Restore a backup instead.');
  }
}

const GUARD = `
alter table deposits drop constraint deposits_payment_check;
alter table deposits add constraint deposits_payment_check check (payment_link_id is null or currency = 'USDT');
create or replace function guard_assignment() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.payment_link_id is not distinct from old.payment_link_id then
    return new;
  end if;
  if tg_op = 'UPDATE' and old.payment_link_id is not null and (old.status <> 'failed' or new.status = 'failed') then
    raise exception 'a deposit is assigned once, until it comes back after a failure' using errcode = 'integrity_constraint_violation';
  end if;
  if new.payment_link_id is not null and new.status = 'failed' then
    raise exception 'a failed deposit gets no link' using errcode = 'integrity_constraint_violation';
  end if;
  if new.payment_link_id is not null and not exists (
    select 1 from payment_links where id = new.payment_link_id and customer_id = new.customer_id and mode = new.mode
  ) then
    raise exception 'a deposit pays only a link of its own customer' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
`;

/** Units of links have 18 decimals on every network; a failed deposit counts for nothing. */
const units = (row: string): string =>
  `case when ${row}.status = 'failed' then 0 else ${row}.amount_units * case ${row}.network when 'bsc' then 1 when 'tron' then 1000000000000 end end`;

// New deposits never begin as failed ones, so what sums those stays as it is.
const SUMS = `
create or replace function sum_changed_assignment() returns trigger language plpgsql as $$
declare
  was numeric := ${units('old')};
  is_now numeric := ${units('new')};
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
`;
