import { Migration } from '@mikro-orm/migrations';
import { neverEmptied } from './statements.ts';

/** For which payment link a deposit came, and with which payout it is paid out. */
export class Migration20261129000008_assignments extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

/** SQL of `toLinkUnits`: units of links have 18 decimals on every network. */
const units = (row = ''): string =>
  `${row}amount_units * case ${row}network when 'bsc' then 1 when 'tron' then 1000000000000 end`;
/** New deposits never begin as failed ones, so what sums those does without. */
const unlessFailed = (row: string): string =>
  `case when ${row}status = 'failed' then 0 else ${units(row)} end`;

const SQL = `
-- A deposit that failed keeps the link that it was sent for, so that payer and merchant are told of it; it
-- counts for nothing there. Only when it comes back may it get another link.
create function guard_assignment() returns trigger language plpgsql as $$
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
create trigger deposits_assignment_guard before insert or update of payment_link_id, status on deposits
  for each row execute function guard_assignment();

-- A link keeps the sums of its deposits, written with each change of one: once for each statement that
-- inserts, so that a block with a thousand payments of one link changes that link once.
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
  was numeric := ${unlessFailed('old.')};
  is_now numeric := ${unlessFailed('new.')};
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

-- Which money came for a link after its end, so that its payer sees the transaction. What one payer sent is
-- never shown to another one.
create table late_payments (
  deposit_id uuid primary key constraint late_payments_deposit_id_foreign references deposits (id),
  payment_link_id uuid not null constraint late_payments_payment_link_id_foreign references payment_links (id),
  at timestamptz not null
);
create index late_payments_link_index on late_payments (payment_link_id, at, deposit_id);
create function guard_late_payment() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from deposits d join payment_links l on l.customer_id = d.customer_id and l.mode = d.mode
    where d.id = new.deposit_id and l.id = new.payment_link_id and d.currency = 'USDT'
  ) then
    raise exception 'a deposit comes late only for a link of its own customer' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger late_payments_guard before insert or update on late_payments
  for each row execute function guard_late_payment();
create trigger late_payments_no_delete before delete on late_payments for each row execute function refuse_change();
${neverEmptied('late_payments')}

-- A deposit joins only a planned payout of its own address and asset, or one that failed and was paid after
-- all; it stays in it once it is signed, and is settled with it.
create function guard_deposit_payout() returns trigger language plpgsql as $$
declare
  payout payouts%rowtype;
begin
  if new.payout_id is distinct from old.payout_id and old.payout_id is not null then
    -- Locked: its transaction cannot be asked for meanwhile.
    select * into payout from payouts where id = old.payout_id for share;
    if payout.state in ('paying', 'settled') or (payout.state = 'planned' and exists (select 1 from sent_transactions
        where payout_id = old.payout_id and purpose = 'payout' and (raw is not null or state <> 'dead'))) then
      raise exception 'a payout that is asked for or signed keeps its deposits' using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.payout_id is null then
    if new.status = 'settled' and old.status <> 'settled' then
      raise exception 'a deposit is settled by a payout' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  select * into payout from payouts where id = new.payout_id;
  if new.payout_id is distinct from old.payout_id then
    if (payout.merchant_id, payout.mode, payout.simulated, payout.network, payout.currency, payout.address_key)
       is distinct from (new.merchant_id, new.mode, new.simulated, new.network, new.currency, new.address_key) then
      raise exception 'a payout takes deposits of its own address and asset alone'
        using errcode = 'integrity_constraint_violation';
    end if;
    if not new.simulated and (new.status <> 'completed' or new.block_hash is null or new.verified_at is null
        or not (payout.state = 'planned' or (payout.state = 'failed' and exists (select 1 from sent_transactions
          where payout_id = payout.id and purpose = 'payout' and state = 'final' and ok)))) then
      raise exception 'a planned payout takes completed deposits that were read twice'
        using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.status = 'settled' and old.status <> 'settled'
     and (payout.state <> 'settled' or new.settled_units is null) then
    raise exception 'a deposit is settled with its payout' using errcode = 'integrity_constraint_violation';
  end if;
  if old.settled_units is not null and (new.settled_units, new.settlement_fee_units) is distinct from
     (old.settled_units, old.settlement_fee_units) then
    raise exception 'what was paid out for a deposit never changes' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger deposits_payout_guard before update on deposits for each row
  when (new.payout_id is distinct from old.payout_id or new.status <> old.status
    or new.settled_units is distinct from old.settled_units
    or new.settlement_fee_units is distinct from old.settlement_fee_units)
  execute function guard_deposit_payout();

-- At the end of each transaction a payout is exactly the sum of its deposits.
create function guard_payout_sums() returns trigger language plpgsql as $$
declare
  wrong uuid;
  touched uuid[];
begin
  if tg_table_name = 'payouts' then
    touched := array[new.id];
  else
    touched := array[old.payout_id, new.payout_id];
  end if;
  select p.id into wrong from payouts p
  cross join lateral (select coalesce(sum(d.amount_units), 0) as gross, coalesce(sum(d.settled_units), 0) as net,
      coalesce(sum(d.settlement_fee_units), 0) as fee, count(*) filter (where d.status <> 'settled') as open
    from deposits d where d.payout_id = p.id) parts
  where p.id = any(touched) and case p.state
      when 'settled' then (parts.gross, parts.net, parts.fee, parts.open) <> (p.gross_units, p.net_units, p.fee_units, 0)
      when 'cancelled' then parts.gross <> 0
      when 'failed' then parts.gross <> 0
      else parts.gross <> p.gross_units end
  limit 1;
  if wrong is not null then
    raise exception 'payout % is not the sum of its deposits', wrong using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger payouts_sums after insert or update on payouts deferrable initially deferred
  for each row execute function guard_payout_sums();
create constraint trigger deposits_payout_sums after update on deposits deferrable initially deferred
  for each row when (new.payout_id is distinct from old.payout_id) execute function guard_payout_sums();
`;
