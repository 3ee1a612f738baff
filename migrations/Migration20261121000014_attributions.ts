import { Migration } from '@mikro-orm/migrations';

/**
 * What was attributed to a transaction that no read showed
 * to carry it, and the comparison of balances as they are.
 */
export class Migration20261121000014_attributions extends Migration {
  override up(): void {
    this.addSql(ATTRIBUTIONS);
  }

  override down(): void {
    throw new Error(
      'Decisions about money are records of it and are not taken back. Restore a backup instead.',
    );
  }
}

// `arrived_units`: all that the chain says had come to the address by `found_number`, less what lay there
// before it was one of ours. What is credited of it, with whatever is shown later, can never be more.
// `carried_units` is the whole deposit after the decision. `proven_units` of a deposit: what a read or
// trace that shows everything has its transaction carry; only kept where something was attributed.
const ATTRIBUTIONS = `
create table deposit_attributions (
  deposit_id uuid not null constraint deposit_attributions_deposit_id_foreign references deposits (id),
  number int not null,
  network varchar(8) not null,
  address_key varchar(40) not null,
  currency varchar(8) not null,
  basis varchar(10) not null,
  before_units numeric(78,0) not null,
  carried_units numeric(78,0) not null,
  found_number bigint null,
  arrived_units numeric(78,0) null,
  by_name varchar(120) null,
  reason varchar(500) null,
  at timestamptz not null,
  primary key (deposit_id, number),
  constraint deposit_attributions_basis_check check (basis in ('trace', 'balance', 'candidate', 'operator')),
  constraint deposit_attributions_operator_check check (basis <> 'operator' or (by_name is not null and reason is not null)),
  constraint deposit_attributions_evidence_check check (basis = 'trace' or (found_number is not null and arrived_units is not null))
);
create index deposit_attributions_address_index on deposit_attributions (network, address_key);
create trigger deposit_attributions_append_only before update or delete on deposit_attributions for each row execute function refuse_change();
create trigger deposit_attributions_no_truncate before truncate on deposit_attributions for each statement execute function refuse_change();
alter table deposits add column proven_units numeric(78,0) null;
create index deposits_proven_index on deposits (network) where proven_units is not null and proven_units <> amount_units;
alter table balance_differences add column replaced_units numeric(78,0) not null default 0;
alter table balance_differences alter column replaced_units drop default;
alter table balance_rounds add column moved_at timestamptz null;
`;
