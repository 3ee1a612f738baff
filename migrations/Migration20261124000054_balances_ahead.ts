import { Migration } from '@mikro-orm/migrations';

/**
 * Which addresses a reconciliation pass compares before all others, how many of them are done, and which it
 * could not compare.
 */
export class Migration20261124000054_balances_ahead extends Migration {
  override up(): void {
    this.addSql(`alter table balance_rounds
      add column ahead_keys jsonb not null default '[]',
      add column ahead_done int not null default 0,
      add column ahead_number bigint null,
      add column ahead_at timestamptz null,
      add column left_out jsonb not null default '[]'`);
  }

  override down(): void {
    this.addSql(`alter table balance_rounds drop column ahead_keys, drop column ahead_done,
      drop column ahead_number, drop column ahead_at, drop column left_out`);
  }
}
