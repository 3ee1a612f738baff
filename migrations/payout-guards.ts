// What the database itself holds of payouts: whoever writes to it past the program breaks none of this.

/**
 * What was signed keeps its terms and its bytes, and its state goes forward but for a replaced block. It is
 * asked for by a payout that is not over, on that payout's terms, and signed while each of its deposits is in
 * a block.
 */
export const GUARD_SENT = `
create function guard_sent_terms() returns trigger language plpgsql as $$
declare
  payout payouts%rowtype;
begin
  if tg_op = 'DELETE' then
    if old.purpose is not null then
      raise exception 'what was asked for or signed is never removed' using errcode = 'integrity_constraint_violation';
    end if;
    return old;
  end if;
  if new.purpose is null then
    return new;
  end if;
  if tg_op = 'INSERT' then
    if new.state not in ('asked', 'signed') then
      raise exception 'a transaction of ours begins asked or signed' using errcode = 'integrity_constraint_violation';
    end if;
    -- Locked: a payout that is being given up in another transaction is over when this one reads it.
    select * into payout from payouts where id = new.payout_id for no key update;
    if payout.state is null or payout.state not in ('planned', 'paying') or payout.simulated then
      raise exception 'transactions are for payouts that are not over' using errcode = 'integrity_constraint_violation';
    end if;
    if new.network <> payout.network or (new.purpose = 'payout' and (
        (new.from_key, new.to_address, new.currency) <> (payout.address_key, payout.destination, payout.currency)
        or new.amount_units > payout.gross_units
        or (payout.currency = 'USDT' and new.amount_units <> payout.gross_units))) then
      raise exception 'a payout is asked for with its own terms' using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.purpose = 'payout' and new.raw is not null and (tg_op = 'INSERT' or old.raw is null) and exists (
      select 1 from deposits where payout_id = new.payout_id
        and (status <> 'completed' or block_hash is null or verified_at is null)) then
    raise exception 'a payout is signed while all its deposits are in a block and read twice'
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger sent_transactions_terms before insert or update or delete on sent_transactions
  for each row execute function guard_sent_terms();
create trigger sent_transactions_no_truncate before truncate on sent_transactions
  for each statement execute function refuse_change();
create or replace function keep_sent_transaction() returns trigger language plpgsql as $$
begin
  if (new.network, new.from_key, new.created_at) is distinct from (old.network, old.from_key, old.created_at)
     or (old.hash is not null and new.hash is distinct from old.hash) then
    raise exception 'a sent transaction keeps what it is' using errcode = 'check_violation';
  end if;
  if (new.purpose, new.payout_id, new.attempt, new.to_key, new.to_address, new.currency, new.amount_units)
     is distinct from
     (old.purpose, old.payout_id, old.attempt, old.to_key, old.to_address, old.currency, old.amount_units)
     and old.purpose is not null then
    raise exception 'what was asked for keeps its terms' using errcode = 'check_violation';
  end if;
  if old.raw is not null and (new.raw, new.nonce, new.expires_at, new.signed_at) is distinct from
     (old.raw, old.nonce, old.expires_at, old.signed_at) then
    raise exception 'what was signed keeps its bytes' using errcode = 'check_violation';
  end if;
  if (old.state = 'foreign') <> (new.state = 'foreign') then
    raise exception 'what we did not sign does not become ours' using errcode = 'check_violation';
  end if;
  if old.state = 'final' and new.state = 'final' and (new.block_number, new.block_hash, new.ok, new.fee_units, new.moves)
     is distinct from (old.block_number, old.block_hash, old.ok, old.fee_units, old.moves) then
    raise exception 'what is final keeps its outcome' using errcode = 'check_violation';
  end if;
  if new.state <> old.state and not (
    (old.state = 'asked' and new.state in ('signed', 'dead'))
    or (old.state in ('signed', 'sent') and new.state in ('sent', 'mined', 'dead'))
    or (old.state = 'mined' and new.state in ('final', 'sent'))
    or (old.state = 'final' and new.state = 'sent' and new.block_hash is null)
    or (old.state = 'dead' and new.state = 'mined' and old.raw is not null)) then
    raise exception 'a sent transaction cannot go from % to %', old.state, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
`;

/** {@link GUARD_SENT} as it was before there were payouts. */
export const GUARD_SENT_BEFORE = `
create or replace function keep_sent_transaction() returns trigger language plpgsql as $$
begin
  if (new.network, new.hash, new.from_key, new.created_at) is distinct from
     (old.network, old.hash, old.from_key, old.created_at) then
    raise exception 'a sent transaction keeps what it is' using errcode = 'check_violation';
  end if;
  if (new.purpose, new.to_key, new.currency, new.amount_units, new.nonce) is distinct from
     (old.purpose, old.to_key, old.currency, old.amount_units, old.nonce) and old.purpose is not null then
    raise exception 'what was signed keeps its terms' using errcode = 'check_violation';
  end if;
  if (old.state = 'foreign') <> (new.state = 'foreign') then
    raise exception 'what we did not sign does not become ours' using errcode = 'check_violation';
  end if;
  if old.state = 'final' and new.state <> 'final' and new.block_hash is not null then
    raise exception 'a final transaction is given up only with its block' using errcode = 'check_violation';
  end if;
  return new;
end $$;
`;

/**
 * The states of a payout, and what each of them needs: signed bytes before it pays, a final transaction that
 * succeeded before it is settled, and none that could still succeed before its deposits are free again.
 */
export const GUARD_PAYOUTS = `
create function guard_payout() returns trigger language plpgsql as $$
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
  if not ((old.state = 'planned' and new.state in ('paying', 'cancelled'))
      or (old.state = 'paying' and new.state in ('settled', 'failed'))) then
    raise exception 'a payout cannot go from % to %', old.state, new.state
      using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'paying' and not exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and raw is not null) then
    raise exception 'a payout pays only what was signed for it' using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'cancelled' and exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and (raw is not null or state <> 'dead')) then
    raise exception 'a payout that is asked for or signed is not cancelled' using errcode = 'integrity_constraint_violation';
  end if;
  if new.state = 'settled' and not exists (select 1 from sent_transactions
      where payout_id = new.id and purpose = 'payout' and state = 'final' and ok and hash = new.transaction_hash
        and currency = new.currency and amount_units = new.net_units) then
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
create trigger payouts_guard before insert or update or delete on payouts for each row execute function guard_payout();
create trigger payouts_no_truncate before truncate on payouts for each statement execute function refuse_change();
`;

/**
 * A deposit joins only a planned payout of its own address and asset, stays in it once it is signed, and is
 * settled with it; at the end of each transaction a payout is exactly the sum of its deposits.
 */
export const GUARD_DEPOSITS = `
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
    if not new.simulated and (payout.state <> 'planned' or new.status <> 'completed' or new.block_hash is null
        or new.verified_at is null) then
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
