import { Migration } from '@mikro-orm/migrations';

/**
 * A ledger transaction is proven to sum to zero by the statement
 * that writes it, not once more for each of its lines at the commit.
 */
export class Migration20261121000026_balanced_statements extends Migration {
  override up(): void {
    this.addSql(BALANCED);
  }

  override down(): void {
    throw new Error('The ledger is never without this guard. Restore a backup instead.');
  }
}

// Lines are never changed or removed, and every statement adds lines that sum to
// zero for each transaction and asset: so every transaction does, whatever was
// there before. The lines of a block with hundreds of deposits are looked at once.
const BALANCED = `
drop trigger ledger_entries_balanced on ledger_entries;
drop function guard_ledger();
create function guard_ledger() returns trigger language plpgsql as $$
declare
  unbalanced uuid;
begin
  select transaction_id into unbalanced from added
  group by transaction_id, merchant_id, mode, network, currency having sum(amount_units) <> 0 limit 1;
  if found then
    raise exception 'ledger transaction % does not sum to zero', unbalanced using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create trigger ledger_entries_balanced after insert on ledger_entries
  referencing new table as added for each statement execute function guard_ledger();
`;
