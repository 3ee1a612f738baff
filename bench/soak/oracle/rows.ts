// What the gateway's own tables say, read with plain SQL and none of its code.
import type { Stage } from '../stage.ts';

export type AccountRow = {
  readonly mode: string;
  readonly network: string;
  readonly currency: string;
  readonly account: string;
  readonly sum: string;
};
export type DepositAccountRow = {
  readonly network: string;
  readonly transaction_hash: string;
  readonly address: string;
  readonly currency: string;
  readonly account: string;
  readonly sum: string;
};
export type DeliveryRow = {
  readonly id: string;
  readonly event_id: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: number;
  /** Attempts without a result. */
  readonly open: number;
  readonly last_status: number | null;
  /** The first attempt that is recorded as taken. */
  readonly taken_by: number | null;
};
export type WalletRow = { readonly wallet_index: string; readonly uses: number };

/** The sum of every account, by mode, network and currency. */
export function readAccounts({ sql }: Stage): Promise<AccountRow[]> {
  return sql(
    `select mode, network, currency, account, sum(amount_units)::text as sum from ledger_entries
     group by mode, network, currency, account`,
  );
}

/** The sum of every account, by live deposit. */
export function readDepositAccounts({ sql }: Stage): Promise<DepositAccountRow[]> {
  return sql(
    `select d.network, d.transaction_hash, d.address, d.currency, e.account, sum(e.amount_units)::text as sum
     from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
       join deposits d on d.id = t.deposit_id
     where e.mode = 'live' group by d.network, d.transaction_hash, d.address, d.currency, e.account`,
  );
}

/**
 * Every delivery with what its attempts say. `taken_by` is the first that was known to be taken in
 * time, before another one could begin: a process that stood still between the answer and its
 * record writes it when somebody else may have sent the next, and dates it before it is committed.
 */
export function readDeliveries({ sql }: Stage): Promise<DeliveryRow[]> {
  return sql(
    `select d.id, d.event_id, w.url, d.status, count(a.number)::int as attempts,
       count(*) filter (where a.number is not null and a.finished_at is null)::int as open,
       min(a.number) filter (where a.status_code between 200 and 299
         and a.finished_at < a.started_at + interval '10 seconds'
         and not exists (select 1 from webhook_attempts next
         where next.delivery_id = a.delivery_id and next.round = a.round and next.number > a.number
           and next.started_at < a.finished_at)) as taken_by,
       (array_agg(a.status_code order by a.number desc))[1] as last_status
     from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
       left join webhook_attempts a on a.delivery_id = d.id
     group by d.id, d.event_id, w.url, d.status`,
  );
}

/** Wallet indexes that more than one customer has. */
export function readSharedWallets({ sql }: Stage): Promise<WalletRow[]> {
  return sql(
    'select wallet_index::text as wallet_index, count(*)::int as uses from customers group by wallet_index having count(*) > 1',
  );
}

export type SetAsideRow = {
  readonly network: string;
  readonly transaction_hash: string;
  readonly address: string;
  readonly sum: string;
};

/** What was set aside for the operator because of what it is, by network, transaction and address. */
export function readSetAside({ sql }: Stage): Promise<SetAsideRow[]> {
  return sql(
    `select network, transaction_hash, address, sum(amount_units)::text as sum
     from unrecognised_transfers
     where transaction_hash <> '' and reason <> 'from one of our own wallets'
       group by network, transaction_hash, address`,
  );
}
