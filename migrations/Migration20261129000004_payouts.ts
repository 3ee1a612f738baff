import { Migration } from '@mikro-orm/migrations';
import { neverChanged, neverEmptied } from './statements.ts';

/** Where credited money goes: the addresses of merchants, payouts, what they wait for and who paused them. */
export class Migration20261129000004_payouts extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- A row for each network. What directs money is sealed and never removed: an address that was taken away is a
-- sealed row without one.
create table withdraw_addresses (
  merchant_id uuid not null constraint withdraw_addresses_merchant_id_foreign references merchants (id),
  network varchar(8) not null,
  address varchar(64) null,
  seal bytea null,
  primary key (merchant_id, network),
  constraint withdraw_addresses_none_check check (address is not null or seal is not null)
);
create index withdraw_addresses_address_index on withdraw_addresses (network, address);
create trigger withdraw_addresses_no_delete before delete on withdraw_addresses
  for each row execute function refuse_change();
${neverEmptied('withdraw_addresses')}

-- An address that a signed-in user changes counts later: until then it is a row of the asked change. It
-- begins open, keeps what was asked for, ends once and stays. Its seal is renewed with the key.
create table withdraw_changes (
  id uuid primary key,
  merchant_id uuid not null constraint withdraw_changes_merchant_id_foreign references merchants (id),
  network varchar(8) not null,
  address varchar(64) null,
  contract_allowed boolean not null,
  asked_by uuid not null constraint withdraw_changes_asked_by_foreign references users (id),
  asked_from varchar(255) not null,
  asked_at timestamptz not null,
  counts_at timestamptz not null,
  seal bytea not null,
  ended_at timestamptz null,
  outcome varchar(9) null check (outcome in ('counted', 'cancelled', 'replaced', 'refused')),
  reason varchar(300) null,
  constraint withdraw_changes_wait_check check (counts_at >= asked_at),
  constraint withdraw_changes_ended_check check ((ended_at is null) = (outcome is null)),
  constraint withdraw_changes_early_check check (outcome <> 'counted' or ended_at >= counts_at),
  constraint withdraw_changes_reason_check check ((reason is null) = (outcome is distinct from 'refused'))
);
create unique index withdraw_changes_open_unique on withdraw_changes (merchant_id, network) where ended_at is null;
create index withdraw_changes_due_index on withdraw_changes (counts_at, id) where ended_at is null;
create index withdraw_changes_merchant_index on withdraw_changes (merchant_id, network, asked_at);
create function keep_withdraw_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'what was asked for is never removed' using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.ended_at is not null then
      raise exception 'a change that is asked for has not ended' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if (new.id, new.merchant_id, new.network, new.address, new.contract_allowed, new.asked_by, new.asked_from,
      new.asked_at, new.counts_at)
     is distinct from
     (old.id, old.merchant_id, old.network, old.address, old.contract_allowed, old.asked_by, old.asked_from,
      old.asked_at, old.counts_at) then
    raise exception 'what was asked for keeps its terms' using errcode = 'check_violation';
  end if;
  if old.ended_at is not null and (new.ended_at, new.outcome, new.reason)
     is distinct from (old.ended_at, old.outcome, old.reason) then
    raise exception 'a change ends once' using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger withdraw_changes_kept before insert or update or delete on withdraw_changes
  for each row execute function keep_withdraw_change();
${neverEmptied('withdraw_changes')}

-- One transaction settles one payout, and of an address one payout lives at a time.
create table payouts (
  id uuid primary key,
  merchant_id uuid not null constraint payouts_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  simulated boolean not null,
  network varchar(8) not null,
  currency varchar(8) not null,
  contract_address varchar(64) null,
  address varchar(64) not null,
  address_key varchar(40) not null,
  destination varchar(64) not null,
  gross_units numeric(78, 0) not null constraint payouts_gross_check check (gross_units > 0),
  state varchar(9) not null check (state in ('planned', 'paying', 'settled', 'cancelled', 'failed')),
  state_since timestamptz not null,
  reason varchar(500) null,
  net_units numeric(78, 0) null constraint payouts_net_check check (net_units > 0),
  fee_units numeric(78, 0) null constraint payouts_fee_check check (fee_units >= 0),
  transaction_hash varchar(66) null,
  settled_at timestamptz null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint payouts_mode_check check ((mode = 'test') = simulated),
  constraint payouts_reason_check check (reason is not null or state in ('planned', 'paying', 'settled')),
  constraint payouts_settled_check check ((state = 'settled') = (net_units is not null)
    and (net_units is null) = (fee_units is null) and (net_units is null) = (transaction_hash is null)
    and (net_units is null) = (settled_at is null)),
  constraint payouts_parts_check check (net_units is null
    or gross_units = net_units + case when currency = 'USDT' then 0 else fee_units end
    or (currency = 'USDT' and gross_units > net_units))
);
create unique index payouts_living_unique on payouts (network, address_key) where state in ('planned', 'paying');
create unique index payouts_paid_unique on payouts (network, transaction_hash)
  where state = 'settled' and not simulated;
create index payouts_list_index on payouts (merchant_id, mode, created_at, id);
create index payouts_filter_index on payouts (merchant_id, mode, network, state, created_at, id);
create index payouts_created_index on payouts (created_at, id);
create index payouts_address_index on payouts (network, address_key);
create index payouts_destination_index on payouts (network, destination, created_at);
create index payouts_transaction_hash_index on payouts (transaction_hash) where transaction_hash is not null;
create index payouts_settled_index on payouts (network, settled_at) where state = 'settled' and not simulated;

-- The states of a payout, and what each of them needs: signed bytes before it pays, a final transaction that
-- succeeded before it is settled, and none that could still succeed before its deposits are free again. It may
-- be concluded by what the chain shows: one that failed and was paid after all, one that moved less than was
-- signed, and one that the database has forgotten, by the row of a transaction that it calls somebody else's.
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
          or least((select coalesce(sum((m->>'units')::numeric), 0) from jsonb_array_elements(s.moves) m
  where m->>'currency' = new.currency and lower(m->>'to') = lower(new.destination)), new.gross_units) = new.net_units)) then
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
${neverEmptied('payouts')}

-- Why nothing is paid out of an address at present.
create table settlement_waits (
  network varchar(8) not null,
  address_key varchar(40) not null,
  merchant_id uuid not null constraint settlement_waits_merchant_id_foreign references merchants (id),
  payout_id uuid null constraint settlement_waits_payout_id_foreign references payouts (id),
  address varchar(64) not null,
  currency varchar(8) not null,
  code varchar(16) not null,
  reason varchar(500) not null,
  needs_units numeric(78, 0) null constraint settlement_waits_needs_check check (needs_units > 0),
  needs_address varchar(64) null,
  since timestamptz not null,
  updated_at timestamptz not null,
  alarmed_at timestamptz null,
  primary key (network, address_key),
  constraint settlement_waits_whole_check check ((needs_units is null) = (needs_address is null))
);
create index settlement_waits_payout_index on settlement_waits (payout_id);
create index settlement_waits_alarmed_index on settlement_waits (alarmed_at) where alarmed_at is not null;
create index settlement_waits_code_index on settlement_waits (code, network);
create index settlement_waits_code_of_merchant_index on settlement_waits (merchant_id, code, since);

-- What operators decided about payouts. That they go on is sealed.
create table payout_decisions (
  id bigserial primary key,
  kind varchar(6) not null check (kind in ('pause', 'resume', 'retry')),
  merchant_id uuid null constraint payout_decisions_merchant_id_foreign references merchants (id),
  network varchar(8) null,
  address_key varchar(40) null,
  by_name varchar(120) not null,
  reason varchar(500) null,
  at timestamptz not null,
  seal bytea null,
  constraint payout_decisions_place_check check ((network is null) = (address_key is null)
    and (network is null) = (kind <> 'retry') and (network is null or merchant_id is not null))
);
create index payout_decisions_pause_index on payout_decisions (merchant_id, id) where kind <> 'retry';
create index payout_decisions_place_index on payout_decisions (network, address_key, at) where network is not null;
${neverChanged('payout_decisions')}
`;
