import { Migration } from '@mikro-orm/migrations';

/** That this database was restored from a backup, until everything that came after it is known again. */
export class Migration20261126000070_restores extends Migration {
  override up(): void {
    this.addSql(RESTORES);
  }

  override down(): void {
    this.addSql('drop table if exists restores');
  }
}

/**
 * Of several the newest counts: a backup may hold the row of an earlier restore. A restore of a backup from
 * before may have made the table itself.
 */
const RESTORES = `
create table if not exists restores (
  id uuid not null primary key,
  backup_at timestamptz not null,
  restored_at timestamptz not null,
  by_name varchar(120) not null,
  reason varchar(500) not null,
  goals jsonb not null default '{}',
  over_at timestamptz null,
  constraint restores_order_check check (over_at >= restored_at)
);
`;
