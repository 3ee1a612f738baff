import { Migration } from '@mikro-orm/migrations';

/**
 * A withdraw address that a signed-in user changes counts later: until then it is a row of the asked change.
 */
export class Migration20261125000061_withdraw_changes extends Migration {
  override up(): void {
    this.addSql(WITHDRAW_CHANGES);
    this.addSql(
      'create unique index withdraw_changes_open_unique on withdraw_changes (merchant_id, network) where ended_at is null',
    );
    this.addSql(
      'create index withdraw_changes_due_index on withdraw_changes (counts_at, id) where ended_at is null',
    );
    this.addSql(
      'create index withdraw_changes_merchant_index on withdraw_changes (merchant_id, network, asked_at)',
    );
    this.addSql(
      "create index withdraw_changes_refused_index on withdraw_changes (merchant_id, ended_at) where outcome = 'refused'",
    );
    this.addSql(KEEP);
    this.addSql(
      'create trigger withdraw_changes_kept before insert or update or delete on withdraw_changes for each row execute function keep_withdraw_change()',
    );
    this.addSql(
      'create trigger withdraw_changes_no_truncate before truncate on withdraw_changes for each statement execute function refuse_change()',
    );
  }

  override down(): void {
    throw new Error(
      'What users asked to be changed is a record of it and is not taken back. Restore a backup instead.',
    );
  }
}

const WITHDRAW_CHANGES = `
create table withdraw_changes (
  id uuid not null primary key,
  merchant_id uuid not null constraint withdraw_changes_merchant_id_foreign references merchants (id),
  network varchar(8) not null,
  address varchar(64) null,
  contract_allowed boolean not null,
  asked_by uuid not null constraint withdraw_changes_asked_by_foreign references users (id),
  asked_from varchar(255) not null,
  asked_at timestamptz not null,
  counts_at timestamptz not null,
  seal bytea not null,
  ended_at timestamptz null,
  outcome varchar(9) null,
  reason varchar(300) null,
  constraint withdraw_changes_wait_check check (counts_at >= asked_at),
  constraint withdraw_changes_outcome_check check (outcome in ('counted', 'cancelled', 'replaced', 'refused')),
  constraint withdraw_changes_ended_check check ((ended_at is null) = (outcome is null)),
  constraint withdraw_changes_early_check check (outcome <> 'counted' or ended_at >= counts_at),
  constraint withdraw_changes_reason_check check ((reason is null) = (outcome is distinct from 'refused'))
)`;

/** A change begins open, keeps what was asked for, ends once and stays. Its seal is renewed with the key. */
const KEEP = `
create function keep_withdraw_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'what was asked for is never removed' using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.ended_at is not null then
      raise exception 'a change that is asked for has not ended' using errcode = 'check_violation';
    end if;
    return new;
  end if;
  if (new.id, new.merchant_id, new.network, new.address, new.contract_allowed, new.asked_by, new.asked_from,
      new.asked_at, new.counts_at)
     is distinct from
     (old.id, old.merchant_id, old.network, old.address, old.contract_allowed, old.asked_by, old.asked_from,
      old.asked_at, old.counts_at) then
    raise exception 'what was asked for keeps its terms' using errcode = 'check_violation';
  end if;
  if old.ended_at is not null and (new.ended_at, new.outcome, new.reason)
     is distinct from (old.ended_at, old.outcome, old.reason) then
    raise exception 'a change ends once' using errcode = 'check_violation';
  end if;
  return new;
end $$`;
