import { Migration } from '@mikro-orm/migrations';

/**
 * What reached our addresses without being credited: listed by time,
 * and tokens of strangers kept for a while only, some of each a day.
 */
export class Migration20261121000025_unrecognised extends Migration {
  override up(): void {
    this.addSql(FOREIGN);
    this.addSql(DAYS);
    this.addSql(UNPROVEN);
  }

  override down(): void {
    this.addSql(`
      drop index deposits_unproven_index;
      drop table unrecognised_days;
      drop index unrecognised_transfers_list_index, unrecognised_transfers_foreign_index;
      alter table unrecognised_transfers drop column foreign_token;
    `);
  }
}

// `foreign_token`: of a contract that is none of ours, so that it explains no balance that is compared.
const FOREIGN = `
alter table unrecognised_transfers add column foreign_token boolean not null default false;
update unrecognised_transfers set foreign_token = true where reason in ('another token', 'a collectible or a token in an unknown form');
create index unrecognised_transfers_list_index on unrecognised_transfers (created_at, id);
create index unrecognised_transfers_foreign_index on unrecognised_transfers (created_at) where foreign_token;
`;

// The few whose amount a trace alone has shown so far, and those
// of the newest blocks: asked for at each look at the chain.
const UNPROVEN = `
create index deposits_unproven_index on deposits (network, block_number)
  where verified_at is null and block_hash is not null and currency <> 'USDT' and status in ('detected', 'confirming');
`;

const DAYS = `
create table unrecognised_days (
  network varchar(8) not null,
  contract_address varchar(64) not null,
  day varchar(10) not null,
  kept int not null,
  left_out bigint not null,
  primary key (network, contract_address, day)
);
create index unrecognised_days_day_index on unrecognised_days (day);
`;
