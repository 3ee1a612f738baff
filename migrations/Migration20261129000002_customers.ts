import { Migration } from '@mikro-orm/migrations';

/** A merchant's customers, the addresses to which they pay, and how long lists of them are. */
export class Migration20261129000002_customers extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- What customers are searched by stands in each row, in small letters: made of the columns at every look it
-- cost more than all the rest of a search. The statistics are finer than usual, because by them a search
-- decides whether it asks the index. The owner of the database may make the extension, which is trusted.
--
-- What opens the page of a customer is kept as a hash and sealed, so that no copy of the database opens it.
-- A customer who was erased has no page.
create extension if not exists pg_trgm;
create sequence wallet_index_seq minvalue 1 maxvalue 2147483646 no cycle;
create table customers (
  id uuid primary key,
  merchant_id uuid not null constraint customers_merchant_id_foreign references merchants (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  external_id varchar(255) null,
  email varchar(320) null,
  name varchar(255) null,
  metadata jsonb not null,
  wallet_index int not null constraint customers_wallet_index_unique unique,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  search_text text generated always as
    (lower(coalesce(external_id, '') || chr(10) || coalesce(email, '') || chr(10) || coalesce(name, ''))) stored,
  page_token_hash varchar(64) null constraint customers_page_token_hash_unique unique,
  page_token_sealed bytea null,
  constraint customers_external_id_unique unique (merchant_id, mode, external_id),
  constraint customers_email_unique unique (merchant_id, mode, email),
  constraint customers_named_check check (external_id is not null or email is not null),
  constraint customers_page_token_check check ((page_token_hash is null) = (page_token_sealed is null)),
  constraint customers_erased_page_check check (
    page_token_hash is null or external_id is distinct from 'erased-' || id)
);
alter table customers alter column search_text set statistics 500;
create index customers_list_index on customers (merchant_id, mode, created_at, id);
create index customers_search_index on customers using gin (search_text gin_trgm_ops);
create index customers_any_email_index on customers (lower(email)) where email is not null;
create index customers_any_external_id_index on customers (external_id) where external_id is not null;

-- created_xid lets the scanner load exactly what was committed since its last look: ids alone commit out of
-- order. A signer sends money to no address whose seal is not right.
create table deposit_addresses (
  id uuid primary key,
  customer_id uuid not null constraint deposit_addresses_customer_id_foreign references customers (id),
  merchant_id uuid not null constraint deposit_addresses_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  network varchar(8) not null check (network in ('bsc', 'tron')),
  address varchar(64) not null,
  address_key varchar(40) not null,
  created_at timestamptz not null,
  created_xid xid8 not null default pg_current_xact_id(),
  seal bytea null,
  constraint deposit_addresses_key_unique unique (network, address_key),
  constraint deposit_addresses_customer_unique unique (customer_id, network)
);
create index deposit_addresses_created_xid_index on deposit_addresses (network, created_xid);

-- Lists tell their total, and counting a million rows takes half a second. Kept as balances are: a count is
-- its row of row_counts plus its rows of row_count_changes, so that inserts never wait for each other.
-- Neither customers nor deposits are ever removed.
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
create function count_added_rows() returns trigger language plpgsql as $$
begin
  insert into row_count_changes (list, merchant_id, mode, rows)
  select tg_table_name, merchant_id, mode, count(*) from added_rows group by merchant_id, mode;
  return null;
end $$;
create trigger customers_counted after insert on customers
  referencing new table as added_rows for each statement execute function count_added_rows();
`;
