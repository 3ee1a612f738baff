import { Migration } from '@mikro-orm/migrations';

/**
 * When each background loop last ran well, messages that Temporal
 * refuses for good, and a month's total that grows with each completion.
 */
export class Migration20261121000016_alarms extends Migration {
  override up(): void {
    for (const sql of [LOOPS, OUTBOX, MONTHS, COUNTED]) this.addSql(sql);
  }

  override down(): void {
    throw new Error('What counts against the monthly limits would be lost. Restore a backup instead.');
  }
}

// `lease_until` is for loops of which one turn at a time is enough for all workers together.
const LOOPS = `
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
`;

const OUTBOX = `
alter table outbox add column refusals int not null default 0, add column quarantined_at timestamptz null;
drop index outbox_next_try_at_index;
create index outbox_due_index on outbox (next_try_at) where quarantined_at is null;
create index outbox_quarantine_index on outbox (next_try_at) where quarantined_at is not null;
`;

// Completions only add rows, so a merchant without a limit never waits for another
// one's commit. The rows are folded into monthly_totals later; whoever holds the
// lock of the total's row sees each change exactly once, in the total or beside it.
const MONTHS = `
create table monthly_changes (
  deposit_id uuid not null constraint monthly_changes_deposit_id_foreign references deposits (id),
  sequence int not null,
  merchant_id uuid not null constraint monthly_changes_merchant_id_foreign references merchants (id),
  month varchar(7) not null,
  cents numeric(78,0) not null,
  primary key (deposit_id, sequence)
);
create index monthly_changes_month_index on monthly_changes (merchant_id, month);
`;

const COUNTED = `
delete from monthly_totals;
insert into monthly_totals (merchant_id, month, completed_cents)
select merchant_id, to_char(detected_at at time zone 'UTC', 'YYYY-MM'), sum(amount_usd_cents) from deposits
where mode = 'live' and status in ('completed', 'settled') group by 1, 2;
`;
