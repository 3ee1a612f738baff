import { Migration } from '@mikro-orm/migrations';

/**
 * How many customers and deposits each merchant has in each mode: lists
 * tell their total, and counting a million rows takes half a second.
 */
export class Migration20261121000007_row_counts extends Migration {
  override up(): void {
    for (const sql of [COUNTS, COUNT, EXISTING]) this.addSql(sql);
  }

  override down(): void {
    this.addSql(`
      drop trigger customers_counted on customers;
      drop trigger deposits_counted on deposits;
      drop function count_added_rows();
      drop table row_count_changes, row_counts;
    `);
  }
}

// Kept as balances are: a count is its row of row_counts plus its rows
// of row_count_changes, so that inserts never wait for each other.
const COUNTS = `
create table row_counts (
  list varchar(20) not null,
  merchant_id uuid not null,
  mode varchar(4) not null,
  rows bigint not null,
  primary key (list, merchant_id, mode)
);
create table row_count_changes (
  id bigserial primary key,
  list varchar(20) not null,
  merchant_id uuid not null,
  mode varchar(4) not null,
  rows bigint not null
);
create index row_count_changes_list_index on row_count_changes (list, merchant_id, mode);
`;

// Neither customers nor deposits are ever removed.
const COUNT = `
create function count_added_rows() returns trigger language plpgsql as $$
begin
  insert into row_count_changes (list, merchant_id, mode, rows)
  select tg_table_name, merchant_id, mode, count(*) from added_rows group by merchant_id, mode;
  return null;
end $$;
create trigger customers_counted after insert on customers
  referencing new table as added_rows for each statement execute function count_added_rows();
create trigger deposits_counted after insert on deposits
  referencing new table as added_rows for each statement execute function count_added_rows();
`;

const EXISTING = `
insert into row_counts (list, merchant_id, mode, rows) select 'customers', merchant_id, mode, count(*) from customers group by 2, 3;
insert into row_counts (list, merchant_id, mode, rows) select 'deposits', merchant_id, mode, count(*) from deposits group by 2, 3;
`;
