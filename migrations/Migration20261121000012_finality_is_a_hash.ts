import { Migration } from '@mikro-orm/migrations';

/**
 * How far the chain counts as verified follows from two heights that each have a proof of
 * their own: up to where its blocks were read for good, and up to where they run into a block
 * that an endpoint named as final, by hash. Nothing can write it, so nothing can put it above
 * either. Beside it: since when the reads stand where they stand, and what stops them.
 */
export class Migration20261121000012_finality_is_a_hash extends Migration {
  override up(): void {
    this.addSql(`
alter table chain_cursors
  add column reread_number bigint null,
  add column anchored_number bigint null,
  add column anchored_hash varchar(66) null,
  add column scanned_moved_at timestamptz not null default now(),
  add column verified_moved_at timestamptz not null default now(),
  add column stops jsonb not null default '{}';
update chain_cursors c set reread_number = verified_number, anchored_number = verified_number,
  anchored_hash = (select b.hash from chain_blocks b where b.network = c.network and b.number = c.verified_number);
alter table chain_cursors drop column verified_number;
alter table chain_cursors
  alter column reread_number set not null,
  alter column anchored_number set not null,
  add column verified_number bigint not null generated always as (least(reread_number, anchored_number)) stored,
  add constraint chain_cursors_order_check check (reread_number <= scanned_number and anchored_number <= scanned_number);
`);
  }

  override down(): void {
    this.addSql(`
alter table chain_cursors drop constraint chain_cursors_order_check, alter column verified_number drop expression,
  drop column reread_number, drop column anchored_number, drop column anchored_hash,
  drop column scanned_moved_at, drop column verified_moved_at, drop column stops;
`);
  }
}
