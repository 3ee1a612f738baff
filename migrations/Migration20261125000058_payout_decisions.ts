import { Migration } from '@mikro-orm/migrations';

/** What operators decided about payouts, and what the wallets that pay for gas hold. */
export class Migration20261125000058_payout_decisions extends Migration {
  override up(): void {
    this.addSql(`
create table payout_decisions (
  id bigserial primary key,
  kind varchar(6) not null constraint payout_decisions_kind_check check (kind in ('pause', 'resume', 'retry')),
  merchant_id uuid null constraint payout_decisions_merchant_id_foreign references merchants (id),
  network varchar(8) null,
  address_key varchar(40) null,
  by_name varchar(120) not null,
  reason varchar(500) null,
  at timestamptz not null,
  constraint payout_decisions_place_check check ((network is null) = (address_key is null)
    and (network is null) = (kind <> 'retry') and (network is null or merchant_id is not null))
)`);
    this.addSql(
      "create index payout_decisions_pause_index on payout_decisions (merchant_id, id) where kind <> 'retry'",
    );
    this.addSql(
      'create index payout_decisions_place_index on payout_decisions (network, address_key, at) where network is not null',
    );
    for (const [name, when] of [
      ['append_only', 'update or delete on payout_decisions for each row'],
      ['no_truncate', 'truncate on payout_decisions for each statement'],
    ])
      this.addSql(`create trigger payout_decisions_${name} before ${when} execute function refuse_change()`);
    this.addSql(`
create table gas_levels (
  network varchar(8) not null,
  address_key varchar(40) not null,
  units numeric(78, 0) not null constraint gas_levels_units_check check (units >= 0),
  block_number bigint not null,
  coin_usd8 numeric(78, 0) null constraint gas_levels_price_check check (coin_usd8 > 0),
  at timestamptz not null,
  primary key (network, address_key)
)`);
    this.addSql(
      "create index payouts_settled_index on payouts (network, settled_at) where state = 'settled' and not simulated",
    );
    this.addSql(
      "create index sent_transactions_gas_index on sent_transactions (network, created_at) where purpose = 'gas' and state = 'final'",
    );
    this.addSql('create index payouts_created_index on payouts (created_at, id)');
    this.addSql('create index settlement_waits_code_index on settlement_waits (code, network)');
    this.addSql(GRANTS);
    this.addSql(
      "do $$ begin if exists (select from pg_roles where rolname = 'gateway_signer') then perform grant_signer('gateway_signer'); end if; end $$",
    );
  }

  override down(): void {
    throw new Error(
      'Decisions about money are records of it and are not taken back. Restore a backup instead.',
    );
  }
}

/** As before, and what says that payouts are paused: the signer asks it itself. */
const GRANTS = `
create or replace function grant_signer(signer name) returns void language plpgsql as $$
declare
  allowed text;
begin
  foreach allowed in array array[
    'usage on schema ' || quote_ident(current_schema()),
    'select on payouts, sent_transactions, gas_wallets, withdraw_addresses, deposit_addresses, signer_state',
    'select (id, kind, merchant_id, at) on payout_decisions',
    'select (id, merchant_id, mode, wallet_index) on customers',
    'select (id, created_at, merchant_id, mode, simulated, network, currency, contract_address, address_key,
      amount_units, status, block_hash, verified_at, payout_id) on deposits',
    'update (nonce, raw, hash, expires_at, state, refused, signed_at) on sent_transactions',
    'insert, update on gas_wallets, signer_state',
    'execute on function lock_for_signing(uuid)'
  ] loop
    execute format('grant %s to %I', allowed, signer);
  end loop;
end $$`;
