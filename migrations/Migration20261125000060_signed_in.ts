import { Migration } from '@mikro-orm/migrations';

/**
 * What a signed-in user changes about sign-in and team: sessions know where they came from and when password
 * and code were shown again, and a user who was removed stays as the one whom the audit rows name.
 */
export class Migration20261125000060_signed_in extends Migration {
  override up(): void {
    this.addSql(SESSIONS);
    this.addSql(REMOVED_USERS);
  }

  override down(): void {
    throw new Error(
      'Users who were removed would share their email with those who have it now. Restore a backup instead.',
    );
  }
}

// A secret that is not confirmed yet belongs to the session that shows it, and ends with it.
const SESSIONS = `
alter table sessions
  add column site varchar(64) null,
  add column stepped_up_at timestamptz null,
  add column totp_pending bytea null,
  add column totp_pending_until timestamptz null,
  add constraint sessions_totp_pending_check check ((totp_pending is null) = (totp_pending_until is null));
`;

// Audit rows refer to users and are never changed, so the row of a removed user stays. It holds
// nothing that proves anybody, keeps its email, and leaves that free for another user.
const REMOVED_USERS = `
alter table users
  add column removed_at timestamptz null,
  drop constraint users_email_unique,
  add constraint users_removed_check check (removed_at is null or totp_sealed is null);
create unique index users_email_unique on users (email) where removed_at is null;
create function keep_removed_user() returns trigger language plpgsql as $$
begin
  raise exception 'a user who was removed stays removed' using errcode = 'check_violation';
end $$;
create trigger users_removed before update on users for each row when (old.removed_at is not null) execute function keep_removed_user();
`;
