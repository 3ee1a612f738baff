import { Migration } from '@mikro-orm/migrations';

/**
 * What directs money is never removed: a withdraw address that was taken away is a sealed row, and so is the
 * decision that lets payouts go on. Which key seals all of that is known before anybody seals under another.
 */
export class Migration20261128000096_sealed_acts extends Migration {
  override up(): void {
    this.addSql(`alter table withdraw_addresses alter column address drop not null,
      add constraint withdraw_addresses_none_check check (address is not null or seal is not null)`);
    for (const [name, when] of [
      ['no_delete', 'delete on withdraw_addresses for each row'],
      ['no_truncate', 'truncate on withdraw_addresses for each statement'],
    ])
      this.addSql(
        `create trigger withdraw_addresses_${name} before ${when} execute function refuse_change()`,
      );
    this.addSql('alter table payout_decisions add column seal bytea null');
    this.addSql('create table key_in_use (name varchar(5) primary key, mark bytea not null)');
    this.addSql(`insert into key_in_use (name, mark) select 'seals', substring(seal from 1 for 5)
      from deposit_addresses where seal is not null order by created_at desc limit 1`);
    this.addSql(GRANTS);
    this.addSql(
      "do $$ begin if exists (select from pg_roles where rolname = 'gateway_signer') then perform grant_signer('gateway_signer'); end if; end $$",
    );
  }

  override down(): void {
    throw new Error('What directs money is not taken back. Restore a backup instead.');
  }
}

/** The signer's rights: as before, and to read decisions about pauses and which key is in use. */
const GRANTS = `
create or replace function grant_signer(signer name) returns void language plpgsql as $$
declare
  allowed text;
begin
  foreach allowed in array array[
    'usage on schema ' || quote_ident(current_schema()),
    'select on payouts, sent_transactions, gas_wallets, withdraw_addresses, deposit_addresses, signer_state',
    'select on key_in_use',
    'select (id, kind, merchant_id, at, seal) on payout_decisions',
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
