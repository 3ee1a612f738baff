import { Migration } from '@mikro-orm/migrations';

/**
 * A payout may be concluded by what the chain shows: one that failed and was paid after all, one that moved
 * less than was signed, and one that the database has forgotten, by the row of a transaction that it calls
 * somebody else's. One transaction settles one payout.
 */
export class Migration20261128000094_concluded_payouts extends Migration {
  override up(): void {
    this.addSql(PAYOUTS);
    this.addSql(DEPOSITS);
    this.addSql(`
      alter table payouts drop constraint payouts_parts_check;
      alter table payouts add constraint payouts_parts_check check (net_units is null
        or gross_units = net_units + case when currency = 'USDT' then 0 else fee_units end
        or (currency = 'USDT' and gross_units > net_units));
      create unique index payouts_paid_unique on payouts (network, transaction_hash)
        where state = 'settled' and not simulated;
      alter table sent_transactions add constraint sent_transactions_concluded_check
        check (purpose is not null or payout_id is null
          or (decided_at is not null and to_address is not null and amount_units is not null));`);
  }

  override down(): void {
    throw new Error('What was concluded is kept for ever. Restore a backup instead.');
  }
}

/** What a transaction `s` brought to the destination of the payout `new`. */
const ARRIVED = `(select coalesce(sum((m->>'units')::numeric), 0) from jsonb_array_elements(s.moves) m
  where m->>'currency' = new.currency and lower(m->>'to') = lower(new.destination))`;

const PAYOUTS = `
create or replace function guard_payout() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'a payout is never removed' using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'planned' and not (new.simulated and new.state = 'settled') then
      raise exception 'a payout begins planned' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if (new.id, new.merchant_id, new.mode, new.simulated, new.network, new.currency, new.contract_address, new.address,
      new.address_key, new.destination, new.created_at) is distinct from
     (old.id, old.merchant_id, old.mode, old.simulated, old.network, old.currency, old.contract_address, old.address,
      old.address_key, old.destination, old.created_at) then
    raise exception 'the identity of a payout never changes' using errcode = 'integrity_constraint_violation';
  end if;
  if new.gross_units <> old.gross_units and not (old.state = 'planned' and new.state = 'planned'
      and not exists (select 1 from sent_transactions where payout_id = new.id and purpose = 'payout'
        and (raw is not null or state <> 'dead'))) then
    raise exception 'the amount of a payout changes only before its transaction is asked for'
      using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = old.state then
    if (new.net_units, new.fee_units, new.transaction_hash, new.settled_at) is distinct from
       (old.net_units, old.fee_units, old.transaction_hash, old.settled_at) then
      raise exception 'the outcome of a payout never changes' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if not ((old.state = 'planned' and new.state in ('paying', 'cancelled', 'settled'))
      or (old.state = 'paying' and new.state in ('settled', 'failed'))
      or (old.state = 'failed' and new.state = 'settled')) then
    raise exception 'a payout cannot go from % to %', old.state, new.state
      using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'paying' and not exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and raw is not null) then
    raise exception 'a payout pays only what was signed for it' using errcode = 'integrity_constraint_violation';
  end if;
  if new.state in ('cancelled', 'settled') and old.state = 'planned' and exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and (raw is not null or state <> 'dead')) then
    raise exception 'a payout that is asked for or signed is not cancelled' using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'settled' and not exists (select 1 from sent_transactions s
      where s.payout_id = new.id and s.network = new.network and s.from_key = new.address_key
        and s.hash = new.transaction_hash and s.ok and s.verified_at is not null
        and case when old.state = 'planned' then s.state = 'foreign' else s.purpose = 'payout' and s.state = 'final' end
        and ((s.purpose = 'payout' and s.currency = new.currency and s.amount_units = new.net_units)
          or least(${ARRIVED}, new.gross_units) = new.net_units)) then
    raise exception 'a payout is settled by a final transaction that succeeded'
      using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'failed' and exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and state <> 'dead' and not (state = 'final' and not ok)) then
    raise exception 'a payout fails only when none of its transactions can succeed any more'
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
`;

const DEPOSITS = `
create or replace function guard_deposit_payout() returns trigger language plpgsql as $$
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
`;
