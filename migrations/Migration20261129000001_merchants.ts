import { Migration } from '@mikro-orm/migrations';
import { neverChanged } from './statements.ts';

/** Merchants, and who acts for them: keys, users who sign in, and what each of these has changed. */
export class Migration20261129000001_merchants extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const SQL = `
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;

-- A quota is what a merchant may have at most in a mode, where an operator says so.
create table merchants (
  id uuid primary key,
  name varchar(200) not null,
  monthly_limit_cents numeric(78,0) null,
  subscription_active boolean not null,
  subscription_until timestamptz null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint merchants_limit_check check (monthly_limit_cents is null or monthly_limit_cents >= 0)
);
create table quotas (
  merchant_id uuid not null constraint quotas_merchant_id_foreign references merchants (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  quota varchar(20) not null check (quota in ('customers', 'endpoints', 'events_per_day', 'open_links')),
  most bigint not null,
  used bigint not null,
  used_on date not null,
  primary key (merchant_id, mode, quota),
  constraint quotas_numbers_check check (most >= 0 and used >= 0)
);

-- Space on the page lets a note of use stay beside its row, without an entry in any index.
create table api_keys (
  id uuid primary key,
  merchant_id uuid not null constraint api_keys_merchant_id_foreign references merchants (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  hash varchar(64) not null constraint api_keys_hash_unique unique,
  prefix varchar(16) not null,
  last4 varchar(4) not null,
  label varchar(200) null,
  created_at timestamptz not null,
  expires_at timestamptz null,
  revoked_at timestamptz null,
  scopes text[] not null
    check (scopes <@ array['read', 'payments', 'webhooks', 'all'] and cardinality(scopes) > 0),
  last_used_at timestamptz null,
  last_used_site varchar(64) null
) with (fillfactor = 80);
create index api_keys_merchant_id_index on api_keys (merchant_id);
create table allowed_networks (
  merchant_id uuid not null constraint allowed_networks_merchant_id_foreign references merchants (id),
  network varchar(43) not null,
  created_at timestamptz not null,
  primary key (merchant_id, network)
);

-- users.email is in lower case, which makes the plain unique index blind to case. totp_last_step is the
-- last step of 30 s whose code was taken: one conditional update on it makes every code work once. Audit rows
-- refer to users and are never changed, so the row of a removed user stays: it holds nothing that proves
-- anybody, keeps its email, and leaves that free for another user.
create table users (
  id uuid primary key,
  merchant_id uuid not null constraint users_merchant_id_foreign references merchants (id),
  email varchar(320) not null,
  password_hash varchar(200) not null,
  totp_sealed bytea null,
  totp_last_step int null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_login_at timestamptz null,
  removed_at timestamptz null,
  constraint users_removed_check check (removed_at is null or totp_sealed is null)
);
create index users_merchant_id_index on users (merchant_id);
create unique index users_email_unique on users (email) where removed_at is null;
create function keep_removed_user() returns trigger language plpgsql as $$
begin
  raise exception 'a user who was removed stays removed' using errcode = 'check_violation';
end $$;
create trigger users_removed before update on users for each row
  when (old.removed_at is not null) execute function keep_removed_user();

-- A TOTP secret that is not confirmed yet belongs to the session that shows it, and ends with it. A user has
-- one password link that is not used, whoever asks for how many at the same moment; without the user there is
-- nothing left to open. A login budget is changed by one statement that holds its row.
create table sessions (
  id uuid primary key,
  user_id uuid not null constraint sessions_user_id_foreign references users (id),
  token_hash varchar(64) not null constraint sessions_token_hash_unique unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  site varchar(64) null,
  stepped_up_at timestamptz null,
  totp_pending bytea null,
  totp_pending_until timestamptz null,
  constraint sessions_totp_pending_check check ((totp_pending is null) = (totp_pending_until is null))
);
create index sessions_user_id_index on sessions (user_id, created_at);
create index sessions_last_seen_at_index on sessions (last_seen_at);
create table user_sites (
  user_id uuid not null constraint user_sites_user_id_foreign references users (id),
  site varchar(64) not null,
  last_login_at timestamptz not null,
  primary key (user_id, site)
);
create index user_sites_last_login_at_index on user_sites (last_login_at);
create table password_links (
  id uuid primary key,
  user_id uuid not null constraint password_links_user_id_foreign references users (id) on delete cascade,
  token_hash varchar(64) not null constraint password_links_token_hash_unique unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz null
);
create unique index password_links_open_unique on password_links (user_id) where used_at is null;
create index password_links_expires_at_index on password_links (expires_at);
create table login_budgets (
  key varchar(64) primary key,
  attempts bigint[] not null,
  ends_at timestamptz not null
);
create index login_budgets_ends_at_index on login_budgets (ends_at);

-- What operators, signed-in users and API keys changed: who, what, from where and when. An operator is a
-- name, a user is a row: his email stands there and nowhere else. before and after hold what changed,
-- never a secret.
create table operator_actions (
  id uuid primary key,
  at timestamptz not null,
  action varchar(40) not null,
  by_name varchar(120) null,
  user_id uuid null constraint operator_actions_user_id_foreign references users (id),
  origin varchar(255) null,
  merchant_id uuid null constraint operator_actions_merchant_id_foreign references merchants (id),
  mode varchar(4) null check (mode in ('live', 'test')),
  subject varchar(100) not null,
  before jsonb null,
  after jsonb null,
  reason varchar(500) null,
  key_id uuid null constraint operator_actions_key_id_foreign references api_keys (id),
  constraint operator_actions_actor_check check (num_nonnulls(by_name, user_id, key_id) = 1)
);
create index operator_actions_at_index on operator_actions (at, id);
create index operator_actions_merchant_id_index on operator_actions (merchant_id, at, id);
create index operator_actions_mode_index on operator_actions (merchant_id, mode, at, id);
${neverChanged('operator_actions')}
`;
