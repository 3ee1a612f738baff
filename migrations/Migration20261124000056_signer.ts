import { Migration } from '@mikro-orm/migrations';

/** What the signer needs: seals on rows that direct money, its own state, a role that writes little. */
export class Migration20261124000056_signer extends Migration {
  override up(): void {
    this.addSql('alter table deposit_addresses add column seal bytea null');
    this.addSql('alter table withdraw_addresses add column seal bytea null');
    this.addSql(`
create table signer_state (
  name varchar(6) primary key,
  journal uuid null,
  line int null constraint signer_state_line_check check (line > 0),
  line_hash varchar(64) null,
  sealed_code varchar(12) null,
  sealed_reason varchar(500) null,
  sealed_since timestamptz null,
  seen_at timestamptz not null,
  signed_at timestamptz null,
  constraint signer_state_sealed_check check ((sealed_code is null) = (sealed_reason is null)
    and (sealed_code is null) = (sealed_since is null))
)`);
    this.addSql(LOCK);
    this.addSql('revoke execute on function lock_for_signing(uuid) from public');
    this.addSql(WAKE);
    this.addSql(`create trigger sent_transactions_asked after insert on sent_transactions for each row
      when (new.state = 'asked') execute function wake_signer()`);
    this.addSql(GRANTS);
    this.addSql(
      "do $$ begin if exists (select from pg_roles where rolname = 'gateway_signer') then perform grant_signer('gateway_signer'); end if; end $$",
    );
  }

  override down(): void {
    this.addSql('drop trigger sent_transactions_asked on sent_transactions');
    for (const name of ['grant_signer(name)', 'wake_signer()', 'lock_for_signing(uuid)'])
      this.addSql(`drop function ${name}`);
    this.addSql('drop table signer_state');
    this.addSql('alter table withdraw_addresses drop column seal');
    this.addSql('alter table deposit_addresses drop column seal');
  }
}

/**
 * Holds a payout and its deposits as they are until the caller's transaction ends. The signer may lock what
 * it may not write; the owner's rights are used for nothing else.
 */
const LOCK = `
create function lock_for_signing(payout uuid) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
  home text;
begin
  select quote_ident(n.nspname) into home from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.proname = 'lock_for_signing' and p.proowner = (select oid from pg_roles where rolname = current_user);
  execute format('select 1 from %s.deposits where payout_id = $1 order by id for share', home)
    using payout;
  execute format('select 1 from %s.payouts where id = $1 for share', home) using payout;
end $$`;

const WAKE = `
create function wake_signer() returns trigger language plpgsql as $$
begin
  perform pg_notify('signer', '');
  return null;
end $$`;

/** What the signer's own role may do: call it as the owner of the tables, for a role that was made later. */
const GRANTS = `
create function grant_signer(signer name) returns void language plpgsql as $$
declare
  allowed text;
begin
  foreach allowed in array array[
    'usage on schema ' || quote_ident(current_schema()),
    'select on payouts, sent_transactions, gas_wallets, withdraw_addresses, deposit_addresses, signer_state',
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
