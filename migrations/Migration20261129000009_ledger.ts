import { Migration } from '@mikro-orm/migrations';
import { neverChanged } from './statements.ts';

/** The double-entry ledger, and the sums that are read from it and from deposits. */
export class Migration20261129000009_ledger extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const CREDITED = (row: string) => `${row}.status in ('completed', 'settled')`;

const SQL = `
-- By the time of the deposit and not of the posting: that never changes, so a number of a
-- deposit is one id for ever, and everything that was ever posted for a deposit lies in one
-- place. sequence is the deposit's at that moment: it pairs a credit with its completion.
create table ledger_transactions (
  id uuid primary key,
  deposit_id uuid not null constraint ledger_transactions_deposit_id_foreign references deposits (id),
  number int not null,
  kind varchar(40) not null,
  sequence int not null,
  created_at timestamptz not null
) partition by range (id);
create index ledger_transactions_deposit_id_index on ledger_transactions (deposit_id);
${neverChanged('ledger_transactions')}
create function guard_posting_ids() returns trigger language plpgsql as $$
begin
  if exists (select 1 from added a join deposits d on d.id = a.deposit_id where a.id <> id_of_posting(d.created_at, d.id, a.number)) then
    raise exception 'the id of a ledger transaction is made of its deposit and its number' using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
create trigger ledger_transactions_guard after insert on ledger_transactions
  referencing new table as added for each statement execute function guard_posting_ids();

-- Double entry: every statement adds lines that sum to zero for each transaction and asset. Lines are never
-- changed or removed, so every transaction does, whatever was there before. The lines of a block with hundreds
-- of deposits are looked at once.
create table ledger_entries (
  transaction_id uuid not null,
  line int not null,
  merchant_id uuid not null constraint ledger_entries_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  network varchar(8) not null,
  currency varchar(8) not null,
  account varchar(12) not null
    check (account in ('chain', 'pending', 'available', 'settled', 'fees', 'held', 'shortfall')),
  amount_units numeric(78,0) not null constraint ledger_entries_amount_check check (amount_units <> 0),
  primary key (transaction_id, line)
) partition by range (transaction_id);
${neverChanged('ledger_entries')}
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

-- A balance is its row of balance_totals plus its rows of balance_changes: a posting only
-- adds rows, so postings never wait for each other. The changes are folded into the totals
-- later, each fold in one transaction, so that every snapshot sees each line exactly once.
-- By the database and in the posting's own transaction: no writer of the ledger can forget it.
create table balance_totals (
  merchant_id uuid not null constraint balance_totals_merchant_id_foreign references merchants (id),
  mode varchar(4) not null,
  network varchar(8) not null,
  currency varchar(8) not null,
  account varchar(12) not null,
  amount_units numeric(78,0) not null,
  posted_at timestamptz not null,
  primary key (merchant_id, mode, network, currency, account)
);
create table balance_changes (
  transaction_id uuid not null,
  line int not null,
  merchant_id uuid not null,
  mode varchar(4) not null,
  network varchar(8) not null,
  currency varchar(8) not null,
  account varchar(12) not null,
  amount_units numeric(78,0) not null,
  posted_at timestamptz not null,
  primary key (transaction_id, line)
);
create index balance_changes_balance_index on balance_changes (merchant_id, mode);
create function count_ledger_entries() returns trigger language plpgsql as $$
begin
  insert into balance_changes (transaction_id, line, merchant_id, mode, network, currency, account, amount_units, posted_at)
  select e.transaction_id, e.line, e.merchant_id, e.mode, e.network, e.currency, e.account, e.amount_units, t.created_at
  from added_entries e join ledger_transactions t on t.id = e.transaction_id;
  return null;
end $$;
create trigger ledger_entries_counted after insert on ledger_entries
  referencing new table as added_entries for each statement execute function count_ledger_entries();

-- What counts against a monthly limit: one total for each merchant and UTC month; the conditional update on it
-- decides which of two simultaneous deposits crosses the limit. Completions only add rows beside it, so a
-- merchant without a limit never waits for another one's commit. The rows are folded into the total later;
-- whoever holds the lock of its row sees each change exactly once, in the total or beside it.
create table monthly_totals (
  merchant_id uuid not null constraint monthly_totals_merchant_id_foreign references merchants (id),
  month varchar(7) not null,
  completed_cents numeric(78,0) not null,
  primary key (merchant_id, month)
);
create table monthly_changes (
  deposit_id uuid not null constraint monthly_changes_deposit_id_foreign references deposits (id),
  sequence int not null,
  merchant_id uuid not null constraint monthly_changes_merchant_id_foreign references merchants (id),
  month varchar(7) not null,
  cents numeric(78,0) not null,
  primary key (deposit_id, sequence)
);
create index monthly_changes_month_index on monthly_changes (merchant_id, month);

-- Kept as balances are: a day is its row of daily_volumes plus its rows of daily_volume_changes, so that
-- completions of one merchant never wait for each other. A deposit belongs to the UTC day on which it was
-- completed; when it is withdrawn, that day loses it again.
create table daily_volumes (
  merchant_id uuid not null,
  mode varchar(4) not null,
  day date not null,
  cents numeric(78,0) not null,
  deposits bigint not null,
  primary key (merchant_id, mode, day)
);
create table daily_volume_changes (
  id bigserial primary key,
  merchant_id uuid not null,
  mode varchar(4) not null,
  day date not null,
  cents numeric(78,0) not null,
  deposits int not null
);
create index daily_volume_changes_day_index on daily_volume_changes (merchant_id, mode, day);
create function count_volume() returns trigger language plpgsql as $$
  begin
    insert into daily_volume_changes (merchant_id, mode, day, cents, deposits)
    select new.merchant_id, new.mode, (at at time zone 'UTC')::date, cents, deposits
    from (values (old.completed_at, -old.amount_usd_cents, -1, ${CREDITED('old')}),
                 (new.completed_at, new.amount_usd_cents, 1, ${CREDITED('new')})) as step (at, cents, deposits, counts)
    where counts and at is not null;
    return null;
  end $$;
create trigger deposits_volume after update on deposits for each row
  when ((${CREDITED('old')} or ${CREDITED('new')}) and
    (${CREDITED('old')}, old.completed_at, old.amount_usd_cents) is distinct from
    (${CREDITED('new')}, new.completed_at, new.amount_usd_cents))
  execute function count_volume();
`;
