import { Migration } from '@mikro-orm/migrations';

/** The reconciliation of balances with the ledger: how far its round is, and what differs. */
export class Migration20261121000001_balances extends Migration {
  override up(): void {
    this.addSql(BALANCES);
  }

  override down(): void {
    throw new Error(
      'Differences between chain and ledger are records of money and are not taken back. Restore a backup instead.',
    );
  }
}

// One row for each network: `position` is the last address that the running
// round has compared, null between rounds. `agreed_number`: at the start of
// the last whole round every balance was compared at this height or above it.
const BALANCES = `
create table balance_rounds (
  network varchar(8) primary key,
  started_number bigint not null,
  started_at timestamptz not null,
  position varchar(40) null,
  agreed_number bigint not null,
  checked bigint not null,
  finished_at timestamptz null,
  fault varchar(300) null
);
create table balance_differences (
  network varchar(8) not null,
  address_key varchar(40) not null,
  currency varchar(8) not null,
  address varchar(64) not null,
  chain_units numeric(78,0) not null,
  difference_units numeric(78,0) not null,
  known_units numeric(78,0) not null,
  before_units numeric(78,0) not null,
  since_number bigint not null,
  found_number bigint not null,
  searched boolean not null,
  reason varchar(300) not null,
  noted_at timestamptz not null,
  primary key (network, address_key, currency)
);
create index deposits_address_index on deposits (network, address_key);
create index unrecognised_transfers_address_index on unrecognised_transfers (network, address_key);
`;
