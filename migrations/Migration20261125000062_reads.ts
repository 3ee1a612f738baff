import { Migration } from '@mikro-orm/migrations';

/**
 * What merchants' overviews and lists are read from: the volume of each day,
 * and indexes for events and payouts by every filter of theirs, and for what people did by mode.
 */
export class Migration20261125000062_reads extends Migration {
  /** Grown tables are indexed while money goes on. Each step can be done again after a killed run. */
  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    await this.execute(VOLUMES);
    await this.execute(DAYS_BEFORE);
    // Before the months are listed: from now on each new one brings its own.
    await this.execute(`create index if not exists ${EVENTS_INDEX} on only events ${EVENTS_ROWS}`);
    for (const { name } of (await this.execute(LACKING)) as { name: string }[]) {
      this.addSql(`create index concurrently if not exists ${name}_list_index on ${name} ${EVENTS_ROWS}`);
      this.addSql(`alter index ${EVENTS_INDEX} attach partition ${name}_list_index`);
    }
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
    this.addSql('drop index concurrently if exists settlement_waits_merchant_index');
  }

  override down(): void {
    this.addSql(
      'create index concurrently if not exists settlement_waits_merchant_index on settlement_waits (merchant_id)',
    );
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
    this.addSql(`drop index if exists ${EVENTS_INDEX}`);
    this.addSql(`
      drop trigger if exists deposits_volume on deposits;
      drop function if exists count_volume();
      drop table if exists daily_volume_changes, daily_volumes;
    `);
  }
}

const EVENTS_INDEX = 'events_list_index';
const EVENTS_ROWS = '(merchant_id, mode, type, created_at, id)';
const LACKING = `select m.inhrelid::regclass::text as name from pg_inherits m where m.inhparent = 'events'::regclass
    and not exists (select 1 from pg_index c join pg_inherits i on i.inhrelid = c.indexrelid
                    where c.indrelid = m.inhrelid and i.inhparent = '${EVENTS_INDEX}'::regclass) order by 1`;
const INDEXES = [
  'payouts_filter_index on payouts (merchant_id, mode, network, state, created_at, id)',
  'operator_actions_mode_index on operator_actions (merchant_id, mode, at, id)',
  'settlement_waits_code_of_merchant_index on settlement_waits (merchant_id, code, since)',
];

const CREDITED = (row: string) => `${row}.status in ('completed', 'settled')`;

// Kept as balances are: a day is its row of daily_volumes plus its rows of daily_volume_changes, so that
// completions of one merchant never wait for each other. A deposit belongs to the UTC day on which it was
// completed; when it is withdrawn, that day loses it again. In one block, which is one transaction, and a
// short one: deposits cannot be written while it makes the trigger.
const VOLUMES = `
do $do$
begin
  if to_regclass('daily_volumes') is not null then return; end if;
  create table daily_volumes (
    merchant_id uuid not null,
    mode varchar(4) not null,
    day date not null,
    cents numeric(78,0) not null,
    deposits bigint not null,
    primary key (merchant_id, mode, day)
  );
  create table daily_volume_changes (
    id bigserial primary key,
    merchant_id uuid not null,
    mode varchar(4) not null,
    day date not null,
    cents numeric(78,0) not null,
    deposits int not null
  );
  create index daily_volume_changes_day_index on daily_volume_changes (merchant_id, mode, day);
  create function count_volume() returns trigger language plpgsql as $$
  begin
    insert into daily_volume_changes (merchant_id, mode, day, cents, deposits)
    select new.merchant_id, new.mode, (at at time zone 'UTC')::date, cents, deposits
    from (values (old.completed_at, -old.amount_usd_cents, -1, ${CREDITED('old')}),
                 (new.completed_at, new.amount_usd_cents, 1, ${CREDITED('new')})) as step (at, cents, deposits, counts)
    where counts and at is not null;
    return null;
  end $$;
  create trigger deposits_volume after update on deposits for each row
    when ((${CREDITED('old')} or ${CREDITED('new')}) and
      (${CREDITED('old')}, old.completed_at, old.amount_usd_cents) is distinct from
      (${CREDITED('new')}, new.completed_at, new.amount_usd_cents))
    execute function count_volume();
end $do$`;

// What no trigger has counted, in one statement, which sees the deposits and what was counted of them as they
// were at one moment: however much is completed meanwhile, nothing is counted twice or not at all, and nobody
// waits for it. Done again it finds nothing.
const DAYS_BEFORE = `
insert into daily_volume_changes (merchant_id, mode, day, cents, deposits)
select merchant_id, mode, day, sum(cents), sum(deposits) from (
  select merchant_id, mode, (completed_at at time zone 'UTC')::date as day, sum(amount_usd_cents) as cents,
    count(*) as deposits
  from deposits where ${CREDITED('deposits')} and completed_at is not null group by 1, 2, 3
  union all select merchant_id, mode, day, -cents, -deposits from daily_volumes
  union all select merchant_id, mode, day, -cents, -deposits from daily_volume_changes
) as parts group by 1, 2, 3 having sum(cents) <> 0 or sum(deposits) <> 0`;
