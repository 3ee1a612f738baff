import { Migration } from '@mikro-orm/migrations';

/** Work of test mode lies apart from live work: in the outbox, and where what is open of it is counted. */
export class Migration20261122000038_test_mode_apart extends Migration {
  /** Concurrently, and the deliveries month by month: webhooks go on while grown tables are indexed. */
  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    await this.execute(`alter table outbox add column if not exists mode varchar(4) not null default 'live'`);
    await this.execute('alter table outbox drop constraint if exists outbox_mode_check');
    await this.execute(
      `alter table outbox add constraint outbox_mode_check check (mode in ('live', 'test'))`,
    );
    for (const index of [...OUTBOX, LINKS])
      await this.execute(`create index concurrently if not exists ${index}`);
    for (const [name] of BEFORE) await this.execute(`drop index concurrently if exists ${name}`);
    await this.execute('alter table webhook_deliveries add column if not exists test_merchant_id uuid null');
    // Before the months are listed: from now on each new one brings its own.
    await this.execute(`create index if not exists ${INDEX} on only webhook_deliveries ${ROWS}`);
    for (const { name } of (await this.execute(LACKING)) as { name: string }[]) {
      this.addSql(`create index concurrently if not exists ${name}_test_index on ${name} ${ROWS}`);
      this.addSql(`alter index ${INDEX} attach partition ${name}_test_index`);
    }
  }

  override down(): void {
    this.addSql(`drop index if exists ${INDEX}`);
    this.addSql('alter table webhook_deliveries drop column test_merchant_id');
    for (const [name, index] of BEFORE)
      this.addSql(`create index concurrently if not exists ${name} ${index}`);
    for (const index of [...OUTBOX, LINKS])
      this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
    this.addSql('alter table outbox drop column mode');
  }
}

const OUTBOX = [
  `outbox_live_fresh_index on outbox (next_try_at, id) where quarantined_at is null and tries = 0 and mode = 'live'`,
  `outbox_live_tried_index on outbox (next_try_at, id) where quarantined_at is null and tries > 0 and mode = 'live'`,
  `outbox_live_tried_age_index on outbox (id) where quarantined_at is null and tries > 0 and mode = 'live'`,
  `outbox_test_index on outbox (next_try_at, id) where quarantined_at is null and mode = 'test'`,
];
const BEFORE = [
  ['outbox_fresh_index', 'on outbox (next_try_at, id) where quarantined_at is null and tries = 0'],
  ['outbox_tried_index', 'on outbox (next_try_at, id) where quarantined_at is null and tries > 0'],
  ['outbox_tried_age_index', 'on outbox (id) where quarantined_at is null and tries > 0'],
] as const;
const LINKS = `payment_links_open_test_index on payment_links (merchant_id)
  where mode = 'test' and status in ('pending', 'processing', 'partially_paid')`;

const INDEX = 'webhook_deliveries_test_index';
const ROWS = `(test_merchant_id) where status = 'pending' and test_merchant_id is not null`;
const LACKING = `select m.inhrelid::regclass::text as name from pg_inherits m where m.inhparent = 'webhook_deliveries'::regclass
    and not exists (select 1 from pg_index c join pg_inherits i on i.inhrelid = c.indexrelid
                    where c.indrelid = m.inhrelid and i.inhparent = '${INDEX}'::regclass) order by 1`;
