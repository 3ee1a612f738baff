import { Migration } from '@mikro-orm/migrations';

/**
 * What our own wallets send: the wallets that pay the chains' fees, and every transaction of a wallet
 * of ours. One that we did not sign is `foreign`: somebody else has its key.
 */
export class Migration20261124000053_sent extends Migration {
  override up(): void {
    this.addSql(`
create table gas_wallets (
  network varchar(8) not null,
  address_key varchar(40) not null,
  address varchar(64) not null,
  created_xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null,
  noted_at timestamptz null,
  primary key (network, address_key)
)`);
    this.addSql('create index gas_wallets_xid_index on gas_wallets (created_xid)');
    this.addSql(`
create table sent_transactions (
  id uuid primary key,
  network varchar(8) not null,
  hash varchar(66) not null,
  purpose varchar(8) null constraint sent_transactions_purpose_check check (purpose in ('payout', 'gas')),
  state varchar(8) not null
    constraint sent_transactions_state_check check (state in ('signed', 'sent', 'mined', 'final', 'foreign')),
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
  constraint sent_transactions_unique unique (network, hash, from_key),
  constraint sent_transactions_ours_check check ((state = 'foreign') = (purpose is null)),
  constraint sent_transactions_terms_check check (purpose is null or
    (to_key is not null and to_address is not null and currency is not null and amount_units is not null)),
  constraint sent_transactions_block_check check (block_hash is not null or state in ('signed', 'sent', 'foreign')),
  constraint sent_transactions_outcome_check check (block_hash is null or
    (block_number is not null and ok is not null and fee_units is not null and moves is not null)),
  constraint sent_transactions_decision_check check ((decided_at is null) = (decided_by is null)
    and (decided_at is null) = (decided_reason is null) and (decided_at is null or state = 'foreign'))
)`);
    this.addSql(
      'create index sent_transactions_block_index on sent_transactions (network, block_number) where block_hash is not null',
    );
    this.addSql('create index sent_transactions_from_index on sent_transactions (network, from_key)');
    this.addSql('create index sent_transactions_to_index on sent_transactions (network, to_key)');
    this.addSql(
      "create index sent_transactions_foreign_index on sent_transactions (created_at, id) where state = 'foreign' and decided_at is null",
    );
    this.guard();
  }

  /** What was signed keeps its terms, and what is final is given up only with its block. */
  private guard(): void {
    this.addSql(`
create function keep_sent_transaction() returns trigger language plpgsql as $$
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
end $$`);
    this.addSql(`
create trigger sent_transactions_kept before update on sent_transactions
  for each row execute function keep_sent_transaction()`);
  }

  override down(): void {
    this.addSql('drop table sent_transactions');
    this.addSql('drop function keep_sent_transaction()');
    this.addSql('drop table gas_wallets');
  }
}
