import { Migration } from '@mikro-orm/migrations';

/** Answers to requests with an Idempotency-Key, each written by the transaction that did what it tells of. */
export class Migration20261121000005_idempotency extends Migration {
  override up(): void {
    this.addSql(ANSWERS);
  }

  override down(): void {
    throw new Error(
      'Without these answers a repeated request would be carried out twice. Restore a backup instead.',
    );
  }
}

const ANSWERS = `
create table idempotency_answers (
  id uuid primary key,
  merchant_id uuid not null constraint idempotency_answers_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  method varchar(10) not null,
  path varchar(500) not null,
  key varchar(255) not null,
  request_hash varchar(64) not null,
  status smallint not null,
  body_sealed bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint idempotency_answers_scope_unique unique (merchant_id, mode, method, path, key),
  constraint idempotency_answers_mode_check check (mode in ('live', 'test'))
);
create index idempotency_answers_expires_at_index on idempotency_answers (expires_at);
`;
