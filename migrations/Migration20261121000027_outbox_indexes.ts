import { Migration } from '@mikro-orm/migrations';

/** The first due messages of each kind are found by an index, however many wait behind them. */
export class Migration20261121000027_outbox_indexes extends Migration {
  /** Concurrently, because every transaction that starts an actor writes to this table. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
    for (const [name] of BEFORE) this.addSql(`drop index concurrently if exists ${name}`);
  }

  override down(): void {
    for (const [name, index] of BEFORE)
      this.addSql(`create index concurrently if not exists ${name} ${index}`);
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
  }
}

const BEFORE = [
  ['outbox_due_index', 'on outbox (next_try_at) where quarantined_at is null'],
  ['outbox_quarantine_index', 'on outbox (next_try_at) where quarantined_at is not null'],
] as const;

const INDEXES = [
  'outbox_fresh_index on outbox (next_try_at, id) where quarantined_at is null and tries = 0',
  'outbox_tried_index on outbox (next_try_at, id) where quarantined_at is null and tries > 0',
  'outbox_tried_age_index on outbox (id) where quarantined_at is null and tries > 0',
  'outbox_seldom_index on outbox (next_try_at, id) where quarantined_at is not null',
  'outbox_quarantine_pages_index on outbox (id) where quarantined_at is not null',
];
