import { Migration } from '@mikro-orm/migrations';
import { DEPOSITS, LEDGER } from './initial-money.ts';

/**
 * The first schema: merchants and keys, customers and addresses,
 * deposits, ledger, events and deliveries, outbox, chain cursors.
 */
export class Migration20261121000000_initial extends Migration {
  override up(): void {
    for (const sql of [MERCHANTS, CUSTOMERS, WEBHOOKS, DEPOSITS, LEDGER, CHAIN]) this.addSql(sql);
  }

  override down(): void {
    throw new Error(
      'The first schema cannot be taken back: it holds records of money. Restore a backup instead.',
    );
  }
}

const MERCHANTS = `
create table merchants (
  id uuid primary key,
  name varchar(200) not null,
  withdraw_bsc varchar(64) null,
  withdraw_tron varchar(64) null,
  monthly_limit_cents numeric(78,0) null,
  subscription_active boolean not null,
  subscription_until timestamptz null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint merchants_limit_check check (monthly_limit_cents is null or monthly_limit_cents >= 0)
);
create table api_keys (
  id uuid primary key,
  merchant_id uuid not null constraint api_keys_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  hash varchar(64) not null,
  prefix varchar(16) not null,
  last4 varchar(4) not null,
  label varchar(200) null,
  created_at timestamptz not null,
  expires_at timestamptz null,
  revoked_at timestamptz null,
  constraint api_keys_hash_unique unique (hash),
  constraint api_keys_mode_check check (mode in ('live', 'test'))
);
create index api_keys_merchant_id_index on api_keys (merchant_id);
-- One row for each merchant and UTC month: the conditional update on it decides which of two simultaneous deposits crosses the limit.
create table monthly_totals (
  merchant_id uuid not null constraint monthly_totals_merchant_id_foreign references merchants (id),
  month varchar(7) not null,
  completed_cents numeric(78,0) not null,
  primary key (merchant_id, month)
);
`;

const CUSTOMERS = `
create sequence wallet_index_seq minvalue 1 maxvalue 2147483646 no cycle;
create table customers (
  id uuid primary key,
  merchant_id uuid not null constraint customers_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  external_id varchar(255) null,
  email varchar(320) null,
  name varchar(255) null,
  metadata jsonb not null,
  wallet_index int not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint customers_external_id_unique unique (merchant_id, mode, external_id),
  constraint customers_email_unique unique (merchant_id, mode, email),
  constraint customers_wallet_index_unique unique (wallet_index),
  constraint customers_mode_check check (mode in ('live', 'test')),
  constraint customers_named_check check (external_id is not null or email is not null)
);
create index customers_list_index on customers (merchant_id, mode, created_at, id);
-- created_xid lets the scanner load exactly what was committed since its last look: ids alone commit out of order.
create table deposit_addresses (
  id uuid primary key,
  customer_id uuid not null constraint deposit_addresses_customer_id_foreign references customers (id),
  merchant_id uuid not null constraint deposit_addresses_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  network varchar(8) not null,
  address varchar(64) not null,
  address_key varchar(40) not null,
  created_at timestamptz not null,
  created_xid xid8 not null default pg_current_xact_id(),
  constraint deposit_addresses_key_unique unique (network, address_key),
  constraint deposit_addresses_customer_unique unique (customer_id, network),
  constraint deposit_addresses_network_check check (network in ('bsc', 'tron'))
);
create index deposit_addresses_created_xid_index on deposit_addresses (network, created_xid);
`;

const WEBHOOKS = `
create table webhook_endpoints (
  id uuid primary key,
  merchant_id uuid not null constraint webhook_endpoints_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  url varchar(2048) not null,
  description varchar(500) null,
  events text[] not null,
  enabled boolean not null,
  secret_sealed bytea not null,
  secret_hint varchar(16) not null,
  previous_secret_sealed bytea null,
  previous_secret_until timestamptz null,
  last_delivery_at timestamptz null,
  last_status_code int null,
  consecutive_failures int not null,
  failing_since timestamptz null,
  gone_since timestamptz null,
  gone_count int not null,
  disabled_reason varchar(200) null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz null,
  constraint webhook_endpoints_mode_check check (mode in ('live', 'test'))
);
create index webhook_endpoints_list_index on webhook_endpoints (merchant_id, mode, created_at, id);
create table events (
  id uuid primary key,
  merchant_id uuid not null constraint events_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  type varchar(40) not null,
  subject_id uuid not null,
  dedup_key varchar(200) not null,
  body bytea not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  constraint events_dedup_key_unique unique (dedup_key)
);
create index events_subject_id_index on events (subject_id);
create table webhook_deliveries (
  id uuid primary key,
  event_id uuid not null constraint webhook_deliveries_event_id_foreign references events (id),
  endpoint_id uuid not null constraint webhook_deliveries_endpoint_id_foreign references webhook_endpoints (id),
  event_type varchar(40) not null,
  status varchar(10) not null,
  round int not null,
  next_attempt_at timestamptz null,
  created_at timestamptz not null,
  finished_at timestamptz null,
  constraint webhook_deliveries_once_unique unique (event_id, endpoint_id),
  constraint webhook_deliveries_status_check check (status in ('pending', 'succeeded', 'failed')),
  constraint webhook_deliveries_round_check check (round >= 1 and round <= 1000000)
);
create index webhook_deliveries_list_index on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_pending_index on webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_failed_index on webhook_deliveries (endpoint_id, finished_at) where status = 'failed';
create table webhook_attempts (
  delivery_id uuid not null constraint webhook_attempts_delivery_id_foreign references webhook_deliveries (id),
  round int not null,
  number int not null,
  started_at timestamptz not null,
  finished_at timestamptz null,
  status_code int null,
  error varchar(300) null,
  response_body varchar(4096) null,
  duration_ms int null,
  primary key (delivery_id, round, number),
  constraint webhook_attempts_number_check check (number >= 1 and number <= 6)
);
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger events_append_only before update or delete on events for each row execute function refuse_change();
create trigger events_no_truncate before truncate on events for each statement execute function refuse_change();
`;

const CHAIN = `
create table chain_cursors (
  network varchar(8) primary key,
  first_block bigint not null,
  scanned_number bigint not null,
  scanned_hash varchar(66) not null,
  verified_number bigint not null,
  head_number bigint not null,
  finalized_number bigint not null,
  moved_at timestamptz not null,
  finalized_moved_at timestamptz not null,
  polled_at timestamptz not null,
  fault varchar(300) null,
  version bigint not null,
  created_at timestamptz not null
);
create table chain_blocks (
  network varchar(8) not null,
  number bigint not null,
  hash varchar(66) not null,
  parent_hash varchar(66) not null,
  mined_at timestamptz not null,
  primary key (network, number)
);
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
  constraint unrecognised_transfers_unique unique (network, transaction_hash, address_key, contract_address)
);
create table outbox (
  id bigserial primary key,
  kind varchar(10) not null,
  workflow_id varchar(255) not null,
  message jsonb not null,
  tries int not null,
  last_error varchar(500) null,
  created_at timestamptz not null,
  next_try_at timestamptz not null,
  constraint outbox_kind_check check (kind in ('start', 'signal'))
);
create index outbox_next_try_at_index on outbox (next_try_at);
`;
