import { Migration } from '@mikro-orm/migrations';

/** Why nothing is paid out of an address at present. */
export class Migration20261124000057_settlement_waits extends Migration {
  override up(): void {
    this.addSql(`
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
)`);
    this.addSql('create index settlement_waits_merchant_index on settlement_waits (merchant_id)');
    this.addSql('create index settlement_waits_payout_index on settlement_waits (payout_id)');
    this.addSql(
      'create index settlement_waits_alarmed_index on settlement_waits (alarmed_at) where alarmed_at is not null',
    );
  }

  override down(): void {
    this.addSql('drop table settlement_waits');
  }
}
