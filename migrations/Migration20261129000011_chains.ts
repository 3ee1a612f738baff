import { Migration } from '@mikro-orm/migrations';

/** How far each chain was read, what came without being credited, and where balances differ. */
export class Migration20261129000011_chains extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- How far the chain counts as verified follows from two heights that each have a proof of their own: up to
-- where its blocks were read for good, and up to where they run into a block that an endpoint named as final,
-- by hash. Nothing can write it, so nothing can put it above either. Beside it: since when the reads stand
-- where they stand, and what stops them. identity proves that a chain is the one that was read before;
-- fingerprint is what the second read of a block compares where nothing in it touched us. chain_requests:
-- how many requests were sent to a chain's endpoints in a day.
create table chain_cursors (
  network varchar(8) primary key,
  first_block bigint not null,
  scanned_number bigint not null,
  scanned_hash varchar(66) not null,
  head_number bigint not null,
  finalized_number bigint not null,
  moved_at timestamptz not null,
  finalized_moved_at timestamptz not null,
  polled_at timestamptz not null,
  fault varchar(300) null,
  version bigint not null,
  created_at timestamptz not null,
  reread_number bigint not null,
  anchored_number bigint not null,
  anchored_hash varchar(66) null,
  scanned_moved_at timestamptz not null default now(),
  verified_moved_at timestamptz not null default now(),
  stops jsonb not null default '{}',
  verified_number bigint not null generated always as (least(reread_number, anchored_number)) stored,
  identity varchar(80) null,
  constraint chain_cursors_order_check check (reread_number <= scanned_number and anchored_number <= scanned_number)
);
create table chain_blocks (
  network varchar(8) not null,
  number bigint not null,
  hash varchar(66) not null,
  parent_hash varchar(66) not null,
  mined_at timestamptz not null,
  fingerprint varchar(64) null,
  primary key (network, number)
);
create table chain_requests (network varchar(8) primary key, day date not null, used int not null);

-- A block that is replaced takes along what was set aside of it. foreign_token: of a contract that is none of
-- ours, so that it explains no balance that is compared. Tokens of strangers are kept for a while only, some of
-- each a day.
create table unrecognised_transfers (
  id uuid primary key,
  network varchar(8) not null,
  transaction_hash varchar(66) not null,
  address varchar(64) not null,
  address_key varchar(40) not null,
  contract_address varchar(64) not null,
  amount_units numeric(78,0) null,
  block_number bigint not null,
  reason varchar(300) not null,
  created_at timestamptz not null,
  foreign_token boolean not null default false,
  constraint unrecognised_transfers_unique unique (network, transaction_hash, address_key, contract_address)
);
create index unrecognised_transfers_list_index on unrecognised_transfers (created_at, id);
create index unrecognised_transfers_address_index on unrecognised_transfers (network, address_key);
create index unrecognised_transfers_block_index on unrecognised_transfers (network, block_number);
create index unrecognised_transfers_foreign_index on unrecognised_transfers (created_at) where foreign_token;
create table unrecognised_days (
  network varchar(8) not null,
  contract_address varchar(64) not null,
  day varchar(10) not null,
  kept int not null,
  left_out bigint not null,
  primary key (network, contract_address, day)
);
create index unrecognised_days_day_index on unrecognised_days (day);

-- The reconciliation of balances with the ledger. One row for each network: position is the last address
-- that the running round has compared, null between rounds. agreed_number: at the start of the last whole
-- round every balance was compared at this height or above it. ahead: the addresses that a round compares
-- before all others, and how many of them are done. left_out: which it could not compare.
create table balance_rounds (
  network varchar(8) primary key,
  started_number bigint not null,
  started_at timestamptz not null,
  position varchar(40) null,
  agreed_number bigint not null,
  checked bigint not null,
  finished_at timestamptz null,
  fault varchar(300) null,
  moved_at timestamptz null,
  ahead_keys jsonb not null default '[]',
  ahead_done int not null default 0,
  ahead_number bigint null,
  ahead_at timestamptz null,
  left_out jsonb not null default '[]'
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
  replaced_units numeric(78,0) not null,
  primary key (network, address_key, currency)
);
`;
