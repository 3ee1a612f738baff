import { Migration } from '@mikro-orm/migrations';

/** Each deposit counts its own ledger transactions; the number is their key. */
export class Migration20261121000013_posting_count extends Migration {
  override up(): void {
    this.addSql(COUNT);
    this.addSql(GUARD);
  }

  override down(): void {
    throw new Error('The numbers of ledger transactions are kept for ever. Restore a backup instead.');
  }
}

// Keys of before this were made of the deposit and its sequence, so the next number has to be above both.
const COUNT = `
alter table deposits add column posting_count int not null default 0;
update deposits d set posting_count = greatest(d.sequence, (select count(*) from ledger_transactions t where t.deposit_id = d.id));
alter table deposits alter column posting_count drop default, add constraint deposits_posting_count_check check (posting_count >= 0);
`;

const GUARD = `
create function guard_posting_count() returns trigger language plpgsql as $$
begin
  raise exception 'the count of a deposit''s ledger transactions never falls' using errcode = 'integrity_constraint_violation';
end $$;
create trigger deposits_posting_count_guard before update of posting_count on deposits
  for each row when (new.posting_count < old.posting_count) execute function guard_posting_count();
`;
