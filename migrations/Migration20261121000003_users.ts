import { Migration } from '@mikro-orm/migrations';

/** People who sign in: users, their sessions, the addresses they came from, and the budgets of attempts. */
export class Migration20261121000003_users extends Migration {
  override up(): void {
    this.addSql(USERS);
  }

  override down(): void {
    throw new Error(
      'Users cannot be made again from nothing: their passwords are only here. Restore a backup instead.',
    );
  }
}

// `users.email` is in lower case, which makes the plain unique constraint blind to case.
// `totp_last_step` is the last step of 30 s whose code was taken: one conditional update on
// it makes every code work once. A budget is changed by one statement that holds its row.
const USERS = `
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
  constraint users_email_unique unique (email)
);
create index users_merchant_id_index on users (merchant_id);
create table sessions (
  id uuid primary key,
  user_id uuid not null constraint sessions_user_id_foreign references users (id),
  token_hash varchar(64) not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  constraint sessions_token_hash_unique unique (token_hash)
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
create table login_budgets (
  key varchar(64) primary key,
  attempts bigint[] not null,
  ends_at timestamptz not null
);
create index login_budgets_ends_at_index on login_budgets (ends_at);
`;
