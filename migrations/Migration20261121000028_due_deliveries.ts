import { Migration } from '@mikro-orm/migrations';

/** Deliveries that are due and were not tried are found by an index, for alarms and for a repair. */
export class Migration20261121000028_due_deliveries extends Migration {
  /**
   * Month by month and concurrently, so that webhooks go on while grown
   * tables are indexed: PostgreSQL does not do that for all at once.
   */
  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    // Before the months are listed: from now on each new one brings its own,
    // also while the others are built, and after a run that was killed.
    await this.execute(`create index if not exists ${INDEX} on only webhook_deliveries ${ROWS}`);
    for (const { name } of (await this.execute(LACKING)) as { name: string }[]) {
      this.addSql(`create index concurrently if not exists ${name}_due_index on ${name} ${ROWS}`);
      this.addSql(`alter index ${INDEX} attach partition ${name}_due_index`);
    }
  }

  override down(): void {
    this.addSql(`drop index if exists ${INDEX}`);
  }
}

const INDEX = 'webhook_deliveries_due_index';
const ROWS = `(next_attempt_at, id) where status = 'pending'`;
const LACKING = `select m.inhrelid::regclass::text as name from pg_inherits m where m.inhparent = 'webhook_deliveries'::regclass
    and not exists (select 1 from pg_index c join pg_inherits i on i.inhrelid = c.indexrelid
                    where c.indrelid = m.inhrelid and i.inhparent = '${INDEX}'::regclass) order by 1`;
