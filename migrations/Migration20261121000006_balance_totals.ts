import { Migration } from '@mikro-orm/migrations';

/**
 * Running totals of the ledger, and the rate of a merchant's
 * last coins for their valuation while no price can be read.
 */
export class Migration20261121000006_balance_totals extends Migration {
  override up(): void {
    for (const sql of [TOTALS, COUNT, EXISTING, COIN_RATES]) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Balances are read from these totals. Restore a backup instead.');
  }
}

const COIN_RATES = `
create index deposits_coin_rate_index on deposits (merchant_id, mode, currency, created_at)
  where currency <> 'USDT' and rate_units is not null
`;

// A balance is its row of balance_totals plus its rows of balance_changes: a posting only
// adds rows, so postings never wait for each other. The changes are folded into the totals
// later, each fold in one transaction, so that every snapshot sees each line exactly once.
const TOTALS = `
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
`;

// By the database and in the posting's own transaction: no writer of the ledger can forget it.
const COUNT = `
create function count_ledger_entries() returns trigger language plpgsql as $$
begin
  insert into balance_changes (transaction_id, line, merchant_id, mode, network, currency, account, amount_units, posted_at)
  select e.transaction_id, e.line, e.merchant_id, e.mode, e.network, e.currency, e.account, e.amount_units, t.created_at
  from added_entries e join ledger_transactions t on t.id = e.transaction_id;
  return null;
end $$;
create trigger ledger_entries_counted after insert on ledger_entries
  referencing new table as added_entries for each statement execute function count_ledger_entries();
`;

const EXISTING = `
insert into balance_totals (merchant_id, mode, network, currency, account, amount_units, posted_at)
select e.merchant_id, e.mode, e.network, e.currency, e.account, sum(e.amount_units), max(t.created_at)
from ledger_entries e join ledger_transactions t on t.id = e.transaction_id group by 1, 2, 3, 4, 5
`;
