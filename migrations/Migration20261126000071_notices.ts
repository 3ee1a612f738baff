import { Migration } from '@mikro-orm/migrations';

/** What an operator is told of without asking: each condition once when it begins and once when it ends. */
export class Migration20261126000071_notices extends Migration {
  override up(): void {
    this.addSql(NOTICES);
  }

  override down(): void {
    this.addSql('drop table notices');
  }
}

// Of one condition there is one notice that has not ended. What was told stays told.
const NOTICES = `
create table notices (
  id uuid not null primary key,
  key varchar(200) not null,
  kind varchar(40) not null,
  severity varchar(8) not null,
  reason varchar(1000) not null,
  action varchar(1000) not null,
  seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  began_at timestamptz null,
  ended_at timestamptz null,
  began_told_at timestamptz null,
  ended_told_at timestamptz null,
  tries int not null default 0,
  next_try_at timestamptz null,
  last_error varchar(300) null,
  constraint notices_severity_check check (severity in ('critical', 'warning', 'info')),
  constraint notices_order_check check (last_seen_at >= seen_at and began_at >= seen_at and ended_at >= began_at),
  constraint notices_ended_check check (ended_at is null or began_at is not null),
  constraint notices_told_check check ((began_told_at is null or began_at is not null)
    and (ended_told_at is null or ended_at is not null)),
  constraint notices_tries_check check (tries >= 0)
);
create unique index notices_open_unique on notices (key) where ended_at is null;
create index notices_due_index on notices (next_try_at) where next_try_at is not null;
create index notices_ended_at_index on notices (ended_at) where ended_at is not null;
`;
