import { Migration } from '@mikro-orm/migrations';

/** What operators decided about deposits, written by the command line before anybody carries it out. */
export class Migration20261122000043_decisions extends Migration {
  override up(): void {
    this.addSql(DECISIONS);
  }

  override down(): void {
    throw new Error(
      'Decisions about money are records of it and are not taken back. Restore a backup instead.',
    );
  }
}

// A deposit that failed because a person said so has the row of that
// person's decision: a text that somebody typed into Temporal has none.
const DECISIONS = `
create table deposit_decisions (
  id uuid not null primary key,
  deposit_id uuid not null constraint deposit_decisions_deposit_id_foreign references deposits (id),
  generation int not null,
  by_name varchar(120) not null,
  reason varchar(500) not null,
  at timestamptz not null
);
create index deposit_decisions_deposit_index on deposit_decisions (deposit_id, generation);
create trigger deposit_decisions_append_only before update or delete on deposit_decisions for each row execute function refuse_change();
create trigger deposit_decisions_no_truncate before truncate on deposit_decisions for each statement execute function refuse_change();
create function guard_decided() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from deposit_decisions d where d.deposit_id = new.deposit_id and d.generation = new.generation
                 and d.by_name = new.by_name and d.reason = new.reason) then
    raise exception 'deposit % is failed by a decision that was not recorded', new.deposit_id using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger deposit_transitions_decided before insert on deposit_transitions
  for each row when (new.to_state = 'failed' and new.by_name is not null) execute function guard_decided();
`;
