/**
 * Deposits, their audit rows, and the guard that holds the transition
 * table. Part of the first schema: never edited after a release.
 */
export const DEPOSITS = `
create table deposits (
  id uuid primary key,
  merchant_id uuid not null constraint deposits_merchant_id_foreign references merchants (id),
  customer_id uuid not null constraint deposits_customer_id_foreign references customers (id),
  mode varchar(4) not null,
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
  status varchar(10) not null,
  state_since timestamptz not null,
  failure_code varchar(24) null,
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
  constraint deposits_identity_unique unique (mode, network, transaction_hash, address_key, currency),
  constraint deposits_mode_check check (mode in ('live', 'test')),
  constraint deposits_amount_check check (amount_units > 0),
  constraint deposits_status_check check (status in ('detected', 'confirming', 'completed', 'settled', 'failed')),
  constraint deposits_failure_check check ((status = 'failed') = (failure_code is not null)),
  constraint deposits_failure_code_check check (failure_code in ('MONTHLY_LIMIT', 'REORGED', 'BELOW_MINIMUM', 'REJECTED_BY_OPERATOR')),
  constraint deposits_priced_check check (status in ('detected', 'confirming', 'failed') or amount_usd_cents is not null)
);
create index deposits_list_index on deposits (merchant_id, mode, created_at, id);
create index deposits_customer_index on deposits (customer_id, created_at, id);
create index deposits_transaction_hash_index on deposits (transaction_hash);
create index deposits_waiting_index on deposits (network, block_number) where status in ('detected', 'confirming');
create index deposits_block_index on deposits (network, block_number) where block_hash is not null;
create index deposits_orphaned_index on deposits (network) where block_hash is null;
create index deposits_sleeping_index on deposits (network, block_number) where wake_at is not null;
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
  primary key (deposit_id, sequence)
);
create trigger deposit_transitions_append_only before update or delete on deposit_transitions for each row execute function refuse_change();
create trigger deposit_transitions_no_truncate before truncate on deposit_transitions for each statement execute function refuse_change();

-- The transition table of src/domain/deposit.ts once more: a defect in the program cannot move money's state against it.
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
create trigger deposits_guard before insert or update or delete on deposits for each row execute function guard_deposit();
create trigger deposits_no_truncate before truncate on deposits for each statement execute function refuse_change();
`;

/**
 * The double-entry ledger and the guard that holds its balance.
 * Part of the first schema: never edited after a release.
 */
export const LEDGER = `
create table ledger_transactions (
  id uuid primary key,
  dedup_key varchar(120) not null,
  kind varchar(40) not null,
  deposit_id uuid not null constraint ledger_transactions_deposit_id_foreign references deposits (id),
  created_at timestamptz not null,
  constraint ledger_transactions_dedup_key_unique unique (dedup_key)
);
create index ledger_transactions_deposit_id_index on ledger_transactions (deposit_id);
create table ledger_entries (
  transaction_id uuid not null constraint ledger_entries_transaction_id_foreign references ledger_transactions (id),
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
);
create index ledger_entries_balance_index on ledger_entries (merchant_id, mode, network, currency, account);
create trigger ledger_transactions_append_only before update or delete on ledger_transactions for each row execute function refuse_change();
create trigger ledger_entries_append_only before update or delete on ledger_entries for each row execute function refuse_change();
create trigger ledger_transactions_no_truncate before truncate on ledger_transactions for each statement execute function refuse_change();
create trigger ledger_entries_no_truncate before truncate on ledger_entries for each statement execute function refuse_change();
-- Double entry: every transaction sums to zero for each asset, checked when it commits.
create function guard_ledger() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from ledger_entries where transaction_id = new.transaction_id
    group by merchant_id, mode, network, currency having sum(amount_units) <> 0
  ) then
    raise exception 'ledger transaction % does not sum to zero', new.transaction_id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_entries_balanced after insert on ledger_entries deferrable initially deferred for each row execute function guard_ledger();
`;
