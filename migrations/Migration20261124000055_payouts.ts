import { Migration } from '@mikro-orm/migrations';
import { GUARD_DEPOSITS, GUARD_PAYOUTS, GUARD_SENT, GUARD_SENT_BEFORE } from './payout-guards.ts';

/** Where credited money goes: payouts, what each deposit got of one, and what was signed for them. */
export class Migration20261124000055_payouts extends Migration {
  override up(): void {
    this.addSql(`
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
  state varchar(9) not null
    constraint payouts_state_check check (state in ('planned', 'paying', 'settled', 'cancelled', 'failed')),
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
    or gross_units = net_units + case when currency = 'USDT' then 0 else fee_units end)
)`);
    this.addSql(
      "create unique index payouts_living_unique on payouts (network, address_key) where state in ('planned', 'paying')",
    );
    this.addSql('create index payouts_list_index on payouts (merchant_id, mode, created_at, id)');
    this.addSql('create index payouts_address_index on payouts (network, address_key)');
    this.deposits();
    this.sent();
    this.addSql('alter table ledger_entries drop constraint ledger_entries_account_check');
    this.addSql(
      "alter table ledger_entries add constraint ledger_entries_account_check check (account in ('chain', 'pending', 'available', 'settled', 'fees', 'held', 'shortfall'))",
    );
    for (const guard of [GUARD_SENT, GUARD_PAYOUTS, GUARD_DEPOSITS]) this.addSql(guard);
  }

  private deposits(): void {
    this.addSql(`
alter table deposits
  add column payout_id uuid null constraint deposits_payout_id_foreign references payouts (id),
  add column settled_units numeric(78, 0) null
    constraint deposits_settled_units_check check (settled_units >= 0 and settled_units <= amount_units),
  add column settlement_fee_units numeric(78, 0) null
    constraint deposits_settlement_fee_check check (settlement_fee_units >= 0),
  add constraint deposits_payout_check check (payout_id is null or status in ('completed', 'settled')),
  add constraint deposits_settlement_check check ((settled_units is null) = (settlement_fee_units is null)
    and (settled_units is null or (status = 'settled' and payout_id is not null)))`);
    this.addSql('create index deposits_payout_index on deposits (payout_id) where payout_id is not null');
    this.addSql(
      "create index deposits_payable_index on deposits (network, address_key) where status = 'completed' and payout_id is null and not simulated",
    );
  }

  private sent(): void {
    this.addSql(`
alter table sent_transactions
  alter column hash drop not null,
  add column payout_id uuid null constraint sent_transactions_payout_id_foreign references payouts (id),
  add column attempt int null constraint sent_transactions_attempt_check check (attempt > 0),
  add column terms jsonb null,
  add column raw bytea null,
  add column expires_at timestamptz null,
  add column refused varchar(500) null,
  add column signed_at timestamptz null,
  add column sent_at timestamptz null,
  drop constraint sent_transactions_state_check,
  drop constraint sent_transactions_block_check,
  drop constraint sent_transactions_terms_check,
  add constraint sent_transactions_state_check
    check (state in ('asked', 'signed', 'sent', 'mined', 'final', 'dead', 'foreign')),
  add constraint sent_transactions_block_check
    check (block_hash is not null or state in ('asked', 'signed', 'sent', 'dead', 'foreign')),
  add constraint sent_transactions_terms_check check (purpose is null or (payout_id is not null
    and attempt is not null and to_key is not null and to_address is not null and currency is not null
    and amount_units is not null)),
  add constraint sent_transactions_signed_check check ((hash is not null or state in ('asked', 'dead'))
    and (raw is null) = (signed_at is null)
    and (purpose is null or (raw is null) = (hash is null)))`);
    this.addSql(
      'create unique index sent_transactions_attempt_unique on sent_transactions (payout_id, purpose, attempt)',
    );
    this.addSql(
      "create unique index sent_transactions_nonce_unique on sent_transactions (network, from_key, nonce, attempt) where purpose is not null and nonce is not null and (raw is not null or state <> 'dead')",
    );
    this.addSql(
      "create index sent_transactions_open_index on sent_transactions (network, created_at) where state in ('asked', 'signed', 'sent')",
    );
  }

  override down(): void {
    // Where a payout was, its deposits and their books can no longer be told without it.
    this.addSql(`
do $$ begin
  if exists (select 1 from payouts) then
    raise exception 'Payouts are kept for ever. Restore a backup instead.';
  end if;
end $$`);
    for (const name of [
      'payouts_guard on payouts',
      'payouts_no_truncate on payouts',
      'payouts_sums on payouts',
    ])
      this.addSql(`drop trigger ${name}`);
    for (const name of ['deposits_payout_guard', 'deposits_payout_sums'])
      this.addSql(`drop trigger ${name} on deposits`);
    for (const name of ['sent_transactions_terms', 'sent_transactions_no_truncate'])
      this.addSql(`drop trigger ${name} on sent_transactions`);
    this.addSql(`
alter table deposits drop column payout_id, drop column settled_units, drop column settlement_fee_units`);
    this.addSql(`
alter table sent_transactions
  drop constraint sent_transactions_state_check,
  drop constraint sent_transactions_block_check,
  drop constraint sent_transactions_signed_check,
  drop constraint sent_transactions_terms_check,
  drop column payout_id, drop column attempt, drop column terms, drop column raw, drop column expires_at,
  drop column refused, drop column signed_at, drop column sent_at, alter column hash set not null,
  add constraint sent_transactions_state_check
    check (state in ('signed', 'sent', 'mined', 'final', 'foreign')),
  add constraint sent_transactions_block_check
    check (block_hash is not null or state in ('signed', 'sent', 'foreign')),
  add constraint sent_transactions_terms_check check (purpose is null or
    (to_key is not null and to_address is not null and currency is not null and amount_units is not null))`);
    this.addSql('drop index sent_transactions_open_index');
    this.addSql(GUARD_SENT_BEFORE);
    this.addSql('drop table payouts');
    for (const name of ['guard_payout', 'guard_payout_sums', 'guard_deposit_payout', 'guard_sent_terms'])
      this.addSql(`drop function ${name}()`);
    this.addSql('alter table ledger_entries drop constraint ledger_entries_account_check');
    this.addSql(
      "alter table ledger_entries add constraint ledger_entries_account_check check (account in ('chain', 'pending', 'available', 'settled', 'held'))",
    );
  }
}
