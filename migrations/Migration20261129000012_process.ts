import { Migration } from '@mikro-orm/migrations';

/** What the processes keep: limits, answers, messages to Temporal, loops, notices, restores, the signer. */
export class Migration20261129000012_process extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
-- How much of its limits each client has left. Unlogged: that is worth nothing after a crash, and the
-- write-ahead log is shared with the money.
create unlogged table rate_limits (
  id varchar(80) primary key,
  tokens double precision not null,
  since timestamptz not null
) with (fillfactor = 50);

-- Answers to requests with an Idempotency-Key, each written by the transaction that did what it tells of.
create table idempotency_answers (
  id uuid primary key,
  merchant_id uuid not null constraint idempotency_answers_merchant_id_foreign references merchants (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  method varchar(10) not null,
  path varchar(500) not null,
  key varchar(255) not null,
  request_hash varchar(64) not null,
  status smallint not null,
  body_sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint idempotency_answers_scope_unique unique (merchant_id, mode, method, path, key)
);
create index idempotency_answers_expires_at_index on idempotency_answers (expires_at);

-- The first due messages of each kind are found by an index, however many wait behind them; those of test mode
-- lie apart. What Temporal refuses for good is set aside.
create table outbox (
  id bigserial primary key,
  kind varchar(10) not null check (kind in ('start', 'signal')),
  workflow_id varchar(255) not null,
  message jsonb not null,
  tries int not null,
  last_error varchar(500) null,
  created_at timestamptz not null,
  next_try_at timestamptz not null,
  refusals int not null default 0,
  quarantined_at timestamptz null,
  mode varchar(4) not null default 'live' check (mode in ('live', 'test'))
);
create index outbox_live_fresh_index on outbox (next_try_at, id)
  where quarantined_at is null and tries = 0 and mode = 'live';
create index outbox_live_tried_index on outbox (next_try_at, id)
  where quarantined_at is null and tries > 0 and mode = 'live';
create index outbox_live_tried_age_index on outbox (id) where quarantined_at is null and tries > 0 and mode = 'live';
create index outbox_test_index on outbox (next_try_at, id) where quarantined_at is null and mode = 'test';
create index outbox_seldom_index on outbox (next_try_at, id) where quarantined_at is not null;
create index outbox_quarantine_pages_index on outbox (id) where quarantined_at is not null;

-- When each loop last ran well. lease_until is for loops of which one turn at a time is enough for all
-- workers together.
create table loop_runs (
  name varchar(40) primary key,
  every_ms int not null,
  known_since timestamptz not null,
  started_at timestamptz null,
  lease_until timestamptz null,
  last_good_at timestamptz null,
  failing_since timestamptz null,
  last_error varchar(300) null,
  constraint loop_runs_every_check check (every_ms > 0)
);

-- What an operator is told of without asking: each condition once when it begins and once when it ends. Of one
-- condition there is one notice that has not ended. What was told stays told.
create table notices (
  id uuid primary key,
  key varchar(200) not null,
  kind varchar(40) not null,
  severity varchar(8) not null check (severity in ('critical', 'warning', 'info')),
  reason varchar(1000) not null,
  action varchar(1000) not null,
  seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  began_at timestamptz null,
  ended_at timestamptz null,
  began_told_at timestamptz null,
  ended_told_at timestamptz null,
  tries int not null default 0 check (tries >= 0),
  next_try_at timestamptz null,
  last_error varchar(300) null,
  constraint notices_order_check check (last_seen_at >= seen_at and began_at >= seen_at and ended_at >= began_at),
  constraint notices_ended_check check (ended_at is null or began_at is not null),
  constraint notices_told_check check ((began_told_at is null or began_at is not null)
    and (ended_told_at is null or ended_at is not null))
);
create unique index notices_open_unique on notices (key) where ended_at is null;

-- That this database was restored from a backup, until everything that came after it is known again. Of several
-- the newest counts: a backup may hold the row of an earlier restore.
create table restores (
  id uuid primary key,
  backup_at timestamptz not null,
  restored_at timestamptz not null,
  by_name varchar(120) not null,
  reason varchar(500) not null,
  goals jsonb not null default '{}',
  over_at timestamptz null,
  constraint restores_order_check check (over_at >= restored_at)
);

-- Which key seals what directs money is known before anybody seals under another.
create table signer_state (
  name varchar(6) primary key,
  journal uuid null,
  line int null check (line > 0),
  line_hash varchar(64) null,
  sealed_code varchar(12) null,
  sealed_reason varchar(500) null,
  sealed_since timestamptz null,
  seen_at timestamptz not null,
  signed_at timestamptz null,
  constraint signer_state_sealed_check check ((sealed_code is null) = (sealed_reason is null)
    and (sealed_code is null) = (sealed_since is null))
);
create table key_in_use (name varchar(5) primary key, mark bytea not null);

-- Holds a payout and its deposits as they are until the caller's transaction ends. The signer may lock what
-- it may not write; the owner's rights are used for nothing else.
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
end $$;
revoke execute on function lock_for_signing(uuid) from public;
create function wake_signer() returns trigger language plpgsql as $$
begin
  perform pg_notify('signer', '');
  return null;
end $$;
create trigger sent_transactions_asked after insert on sent_transactions for each row
  when (new.state = 'asked') execute function wake_signer();

-- What the signer's own role may do: call it as the owner of the tables, for a role that was made later.
create function grant_signer(signer name) returns void language plpgsql as $$
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
end $$;
do $$ begin
  if exists (select from pg_roles where rolname = 'gateway_signer') then perform grant_signer('gateway_signer'); end if;
end $$;
`;
