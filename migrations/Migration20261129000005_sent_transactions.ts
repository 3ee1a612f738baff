import { Migration } from '@mikro-orm/migrations';
import { neverEmptied } from './statements.ts';

/** The wallets that pay the chains' fees, and every transaction of a wallet of ours. */
export class Migration20261129000005_sent_transactions extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- gas_levels: what such a wallet held when it was last read.
create table gas_wallets (
  network varchar(8) not null,
  address_key varchar(40) not null,
  address varchar(64) not null,
  created_xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null,
  noted_at timestamptz null,
  primary key (network, address_key)
);
create table gas_levels (
  network varchar(8) not null,
  address_key varchar(40) not null,
  units numeric(78, 0) not null check (units >= 0),
  block_number bigint not null,
  coin_usd8 numeric(78, 0) null constraint gas_levels_price_check check (coin_usd8 > 0),
  at timestamptz not null,
  primary key (network, address_key)
);

-- One that we did not sign is foreign: somebody else has its key. Such a one may conclude a payout that the
-- database has forgotten, by the decision of an operator. Energy is lent to an address by 'delegate' and taken
-- back by 'reclaim', which move no money. proof: what proves to the signer that a key of ours has signed
-- without this gateway.
create table sent_transactions (
  id uuid primary key,
  network varchar(8) not null,
  hash varchar(66) null,
  purpose varchar(8) null check (purpose in ('payout', 'gas', 'delegate', 'reclaim')),
  state varchar(8) not null check (state in ('asked', 'signed', 'sent', 'mined', 'final', 'dead', 'foreign')),
  from_address varchar(64) not null,
  from_key varchar(40) not null,
  to_address varchar(64) null,
  to_key varchar(40) null,
  currency varchar(8) null,
  amount_units numeric(78, 0) null constraint sent_transactions_amount_check check (amount_units > 0),
  nonce bigint null,
  block_number bigint null,
  block_hash varchar(66) null,
  verified_at timestamptz null,
  ok boolean null,
  fee_units numeric(78, 0) null constraint sent_transactions_fee_check check (fee_units >= 0),
  moves jsonb null,
  decided_at timestamptz null,
  decided_by varchar(120) null,
  decided_reason varchar(500) null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  payout_id uuid null constraint sent_transactions_payout_id_foreign references payouts (id),
  attempt int null check (attempt > 0),
  terms jsonb null,
  raw bytea null,
  expires_at timestamptz null,
  refused varchar(500) null,
  signed_at timestamptz null,
  sent_at timestamptz null,
  reclaimed_at timestamptz null,
  proof jsonb null,
  constraint sent_transactions_unique unique (network, hash, from_key),
  constraint sent_transactions_ours_check check ((state = 'foreign') = (purpose is null)),
  constraint sent_transactions_terms_check check (purpose is null or (payout_id is not null
    and attempt is not null and to_key is not null and to_address is not null and currency is not null
    and amount_units is not null)),
  constraint sent_transactions_signed_check check ((hash is not null or state in ('asked', 'dead'))
    and (raw is null) = (signed_at is null)
    and (purpose is null or (raw is null) = (hash is null))),
  constraint sent_transactions_block_check
    check (block_hash is not null or state in ('asked', 'signed', 'sent', 'dead', 'foreign')),
  constraint sent_transactions_outcome_check check (block_hash is null or
    (block_number is not null and ok is not null and fee_units is not null and moves is not null)),
  constraint sent_transactions_decision_check check ((decided_at is null) = (decided_by is null)
    and (decided_at is null) = (decided_reason is null) and (decided_at is null or state = 'foreign')),
  constraint sent_transactions_concluded_check check (purpose is not null or payout_id is null
    or (decided_at is not null and to_address is not null and amount_units is not null)),
  constraint sent_transactions_reclaimed_check check (reclaimed_at is null or purpose = 'delegate')
);

create unique index sent_transactions_attempt_unique on sent_transactions (payout_id, purpose, attempt);
create unique index sent_transactions_nonce_unique on sent_transactions (network, from_key, nonce, attempt)
  where purpose is not null and nonce is not null and (raw is not null or state <> 'dead');
create index sent_transactions_block_index on sent_transactions (network, block_number) where block_hash is not null;
create index sent_transactions_from_index on sent_transactions (network, from_key);
create index sent_transactions_to_index on sent_transactions (network, to_key);
create index sent_transactions_foreign_index on sent_transactions (created_at, id)
  where state = 'foreign' and decided_at is null;
create index sent_transactions_open_index on sent_transactions (network, created_at)
  where state in ('asked', 'signed', 'sent');
create index sent_transactions_lent_index on sent_transactions (network, to_key)
  where purpose = 'delegate' and reclaimed_at is null and state in ('signed', 'sent', 'mined', 'final');

-- A transaction is asked for by a payout that is not over, on that payout's terms, and signed while each of
-- its deposits is in a block. What takes the place of a signed one may be signed all the same: the bytes
-- before it can land although a deposit has lost its block. What is lent goes to the address of the payout,
-- and is taken back from there, to the unit, whenever.
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
    if payout.state is null or payout.simulated
      or (new.purpose <> 'reclaim' and payout.state not in ('planned', 'paying')) then
      raise exception 'transactions are for payouts that are not over' using errcode = 'integrity_constraint_violation';
    end if;
    if new.network <> payout.network or (new.purpose = 'payout' and (
        (new.from_key, new.to_address, new.currency) <> (payout.address_key, payout.destination, payout.currency)
        or new.amount_units > payout.gross_units
        or (payout.currency = 'USDT' and new.amount_units <> payout.gross_units))) then
      raise exception 'a payout is asked for with its own terms' using errcode = 'integrity_constraint_violation';
    end if;
    if new.purpose = 'delegate' and (payout.currency <> 'USDT' or new.to_key <> payout.address_key) then
      raise exception 'what is lent goes to the address of a payout' using errcode = 'integrity_constraint_violation';
    end if;
    if new.purpose = 'reclaim' and not exists (select 1 from sent_transactions lent
        where lent.payout_id = new.payout_id and lent.purpose = 'delegate' and lent.raw is not null
          and (lent.from_key, lent.to_key, lent.amount_units) = (new.from_key, new.to_key, new.amount_units)) then
      raise exception 'what is taken back was lent before' using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.purpose = 'payout' and new.raw is not null and (tg_op = 'INSERT' or old.raw is null) and exists (
      select 1 from deposits where payout_id = new.payout_id
        and (status <> 'completed' or block_hash is null or verified_at is null))
    and not exists (select 1 from sent_transactions before where before.payout_id = new.payout_id
      and before.purpose = 'payout' and before.raw is not null and before.nonce = new.nonce) then
    raise exception 'a payout is signed while all its deposits are in a block and read twice'
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger sent_transactions_terms before insert or update or delete on sent_transactions
  for each row execute function guard_sent_terms();
${neverEmptied('sent_transactions')}

-- What was signed keeps its terms and its bytes, what is final its outcome, and the state goes forward but for
-- a replaced block.
create function keep_sent_transaction() returns trigger language plpgsql as $$
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
  if old.reclaimed_at is not null and new.reclaimed_at is distinct from old.reclaimed_at then
    raise exception 'what was taken back is not lent any more' using errcode = 'check_violation';
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
create trigger sent_transactions_kept before update on sent_transactions
  for each row execute function keep_sent_transaction();
`;
