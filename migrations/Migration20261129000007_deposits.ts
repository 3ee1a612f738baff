import { Migration } from '@mikro-orm/migrations';
import { neverChanged, neverEmptied } from './statements.ts';

/** Deposits, their audit rows, and what was decided about them or attributed to them. */
export class Migration20261129000007_deposits extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- payment_link_id is one column and not a table: a deposit has one place for a link, so it can never be
-- counted for two. posting_count: each deposit counts its own ledger transactions, and the number is their
-- key. proven_units: what a read or trace that shows everything has its transaction carry; only kept where
-- something was attributed.
create table deposits (
  id uuid primary key,
  merchant_id uuid not null constraint deposits_merchant_id_foreign references merchants (id),
  customer_id uuid not null constraint deposits_customer_id_foreign references customers (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  network varchar(8) not null,
  currency varchar(8) not null,
  contract_address varchar(64) null,
  address varchar(64) not null,
  address_key varchar(40) not null,
  from_address varchar(64) null,
  transaction_hash varchar(66) not null,
  block_number bigint not null,
  block_hash varchar(66) null,
  amount_units numeric(78,0) not null,
  amount_usd_cents numeric(78,0) null,
  rate_units numeric(78,0) null,
  rate_source varchar(60) null,
  rate_at timestamptz null,
  status varchar(10) not null check (status in ('detected', 'confirming', 'completed', 'settled', 'failed')),
  state_since timestamptz not null,
  failure_code varchar(24) null
    check (failure_code in ('MONTHLY_LIMIT', 'REORGED', 'BELOW_MINIMUM', 'REJECTED_BY_OPERATOR')),
  failure_reason varchar(500) null,
  generation int not null,
  sequence int not null,
  simulated boolean not null,
  required_confirmations int not null,
  verified_at timestamptz null,
  alarmed_at timestamptz null,
  wake_at timestamptz null,
  detected_at timestamptz not null,
  completed_at timestamptz null,
  settled_at timestamptz null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  payment_link_id uuid null constraint deposits_payment_link_id_foreign references payment_links (id),
  mined_at timestamptz null,
  posting_count int not null check (posting_count >= 0),
  proven_units numeric(78,0) null,
  payout_id uuid null constraint deposits_payout_id_foreign references payouts (id),
  settled_units numeric(78, 0) null,
  settlement_fee_units numeric(78, 0) null,
  constraint deposits_identity_unique unique (mode, network, transaction_hash, address_key, currency),
  constraint deposits_amount_check check (amount_units > 0),
  constraint deposits_failure_check check ((status = 'failed') = (failure_code is not null)),
  constraint deposits_priced_check check (
    status in ('detected', 'confirming', 'failed') or amount_usd_cents is not null),
  constraint deposits_payment_check check (payment_link_id is null or currency = 'USDT'),
  constraint deposits_payout_check check (payout_id is null or status in ('completed', 'settled')),
  constraint deposits_settled_units_check check (settled_units >= 0 and settled_units <= amount_units),
  constraint deposits_settlement_fee_check check (settlement_fee_units >= 0),
  constraint deposits_settlement_check check ((settled_units is null) = (settlement_fee_units is null)
    and (settled_units is null or (status = 'settled' and payout_id is not null)))
);

create index deposits_list_index on deposits (merchant_id, mode, created_at, id);
create index deposits_status_index on deposits (merchant_id, mode, status, created_at, id);
create index deposits_coin_index on deposits (merchant_id, mode, network, currency, created_at, id);
create index deposits_customer_index on deposits (customer_id, created_at, id);
create index deposits_to_address_index on deposits (network, address_key, created_at, id);
create index deposits_transaction_hash_index on deposits (transaction_hash);
create index deposits_payment_link_index on deposits (payment_link_id, created_at, id)
  where payment_link_id is not null;
create index deposits_payout_index on deposits (payout_id) where payout_id is not null;
create index deposits_payable_index on deposits (network, address_key)
  where status = 'completed' and payout_id is null and not simulated;
create index deposits_standing_index on deposits (state_since, id)
  where status in ('detected', 'confirming') and not simulated;
create index deposits_block_index on deposits (network, block_number) where block_hash is not null;
create index deposits_orphaned_index on deposits (network) where block_hash is null;
create index deposits_sleeping_index on deposits (network, block_number) where wake_at is not null;
create index deposits_proven_index on deposits (network)
  where proven_units is not null and proven_units <> amount_units;
create index deposits_unproven_index on deposits (network, block_number)
  where verified_at is null and block_hash is not null and currency <> 'USDT' and status in ('detected', 'confirming');

-- The transition table of src/domain/deposit.ts once more: a defect in the program cannot move money's state
-- against it. The times in derived ids never change.
create function guard_deposit() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'deposits are never removed' using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.status <> 'detected' or new.sequence <> 1 or new.generation <> 1 then
      raise exception 'a deposit begins as detected, not as %', new.status using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if new.id <> old.id or new.mode <> old.mode or new.network <> old.network or new.transaction_hash <> old.transaction_hash
     or new.address_key <> old.address_key or new.currency <> old.currency or new.customer_id <> old.customer_id
     or new.merchant_id <> old.merchant_id or new.simulated <> old.simulated then
    raise exception 'the identity of a deposit never changes' using errcode = 'integrity_constraint_violation';
  end if;
  if new.amount_units <> old.amount_units and old.status not in ('detected', 'confirming')
     and not (old.status = 'failed' and old.failure_code = 'REORGED' and new.status = 'detected')
     and not (old.status = 'failed' and new.status = 'failed' and old.block_hash is null and new.block_hash is not null) then
    raise exception 'the amount of a deposit that was credited or is held never changes' using errcode = 'integrity_constraint_violation';
  end if;
  if new.status = old.status then
    if new.sequence <> old.sequence or new.generation <> old.generation or new.failure_code is distinct from old.failure_code then
      raise exception 'sequence, generation and failure change only with the state' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if not (
    (old.status = 'detected' and new.status in ('confirming', 'failed'))
    or (old.status = 'confirming' and new.status in ('completed', 'failed'))
    or (old.status = 'completed' and new.status in ('settled', 'failed'))
    or (old.status = 'failed' and new.status = 'detected' and old.failure_code = 'REORGED')
    or (old.status = 'failed' and new.status = 'completed' and old.failure_code in ('MONTHLY_LIMIT', 'BELOW_MINIMUM', 'REJECTED_BY_OPERATOR'))
  ) then
    raise exception 'a deposit cannot go from % to %', old.status, new.status using errcode = 'integrity_constraint_violation';
  end if;
  if new.sequence <> old.sequence + 1 or new.generation <> old.generation + (case when old.status = 'failed' then 1 else 0 end) then
    raise exception 'a transition raises the sequence by one' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger deposits_guard before insert or update or delete on deposits
  for each row execute function guard_deposit();
${neverEmptied('deposits')}
create function guard_deposit_times() returns trigger language plpgsql as $$
begin
  raise exception 'created_at of a deposit never changes, and state_since only with its state' using errcode = 'integrity_constraint_violation';
end $$;
create trigger deposits_times_guard before update on deposits for each row
  when (new.created_at <> old.created_at or (new.sequence = old.sequence and new.state_since <> old.state_since))
  execute function guard_deposit_times();
create function guard_posting_count() returns trigger language plpgsql as $$
begin
  raise exception 'the count of a deposit''s ledger transactions never falls' using errcode = 'integrity_constraint_violation';
end $$;
create trigger deposits_posting_count_guard before update of posting_count on deposits for each row
  when (new.posting_count < old.posting_count) execute function guard_posting_count();

create trigger deposits_counted after insert on deposits
  referencing new table as added_rows for each statement execute function count_added_rows();

-- An audit row is the state of its deposit.
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
${neverChanged('deposit_transitions')}
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

-- Written by the command line before anybody carries it out. A deposit that failed because a person said so
-- has the row of that person's decision: a text that somebody typed into Temporal has none.
create table deposit_decisions (
  id uuid primary key,
  deposit_id uuid not null constraint deposit_decisions_deposit_id_foreign references deposits (id),
  generation int not null,
  by_name varchar(120) not null,
  reason varchar(500) not null,
  at timestamptz not null
);
create index deposit_decisions_deposit_index on deposit_decisions (deposit_id, generation);
${neverChanged('deposit_decisions')}
create function guard_decided() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from deposit_decisions d where d.deposit_id = new.deposit_id and d.generation = new.generation
                 and d.by_name = new.by_name and d.reason = new.reason) then
    raise exception 'deposit % is failed by a decision that was not recorded', new.deposit_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger deposit_transitions_decided before insert on deposit_transitions
  for each row when (new.to_state = 'failed' and new.by_name is not null) execute function guard_decided();

-- What was attributed to a transaction that no read showed to carry it. arrived_units: all that the chain
-- says had come to the address by found_number, less what lay there before it was one of ours. What is
-- credited of it, with whatever is shown later, can never be more. carried_units is the whole deposit after
-- the decision.
create table deposit_attributions (
  deposit_id uuid not null constraint deposit_attributions_deposit_id_foreign references deposits (id),
  number int not null,
  network varchar(8) not null,
  address_key varchar(40) not null,
  currency varchar(8) not null,
  basis varchar(10) not null check (basis in ('trace', 'balance', 'candidate', 'operator')),
  before_units numeric(78,0) not null,
  carried_units numeric(78,0) not null,
  found_number bigint null,
  arrived_units numeric(78,0) null,
  by_name varchar(120) null,
  reason varchar(500) null,
  at timestamptz not null,
  primary key (deposit_id, number),
  constraint deposit_attributions_operator_check check (
    basis <> 'operator' or (by_name is not null and reason is not null)),
  constraint deposit_attributions_evidence_check check (
    basis = 'trace' or (found_number is not null and arrived_units is not null))
);
create index deposit_attributions_address_index on deposit_attributions (network, address_key);
${neverChanged('deposit_attributions')}
`;
