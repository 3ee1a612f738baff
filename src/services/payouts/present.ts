import { type Statement, sql } from '../../db/sql.ts';
import { assetOf, type Currency, type Mode, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import type { PayoutState } from '../../domain/settlement.ts';

/** What operators and the merchant see of a payout alike; money as decimal strings. */
export type PayoutFacts = {
  readonly id: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly destination: string;
  readonly gross: string;
  /** What the destination got and what it cost; null before it is settled. */
  readonly net: string | null;
  readonly fee: string | null;
  /** The network's own coin. */
  readonly fee_currency: Currency;
  readonly state: PayoutState;
  /** False for payouts of test mode, which move no money. */
  readonly is_live: boolean;
  /** The transaction that paid it, or else the newest one that was signed for it. */
  readonly transaction_hash: string | null;
  readonly created_at: string;
  readonly settled_at: string | null;
};

/** A row of {@link factColumns}. */
export type FactRow = {
  readonly id: string;
  readonly mode: Mode;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly destination: string;
  readonly state: PayoutState;
  readonly gross: string;
  readonly net: string | null;
  readonly fee: string | null;
  readonly hash: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
};

/** Of a transaction of a payout; what somebody else sent has paid it, where it was concluded by that. */
export const AS_SENT = sql`coalesce(purpose, 'payout') as purpose, coalesce(attempt, 1) as attempt,
  case when state = 'foreign' then 'final' else state end as state`;

/** The columns of payout `p` that {@link presentFacts} reads. `which`: its transactions that may be named. */
export function factColumns(which: Statement<unknown> = sql`true`): Statement<FactRow> {
  return sql<FactRow>`p.id, p.mode, p.network, p.currency, p.address, p.destination, p.state,
    p.gross_units::text as gross, p.net_units::text as net, p.fee_units::text as fee,
    coalesce(p.transaction_hash, (select s.hash from sent_transactions s where s.payout_id = p.id
      and s.purpose = 'payout' and s.hash is not null and ${which}
      order by s.block_hash is not null desc, s.attempt desc limit 1)) as hash,
    p.created_at, p.settled_at`;
}

/** The facts of a payout's row. */
export function presentFacts(row: FactRow): PayoutFacts {
  const { id, network, currency, address, destination, state } = row;
  const coin = NATIVE_CURRENCY[network];
  return {
    id,
    network,
    currency,
    address,
    destination,
    gross: decimal(network, currency, row.gross),
    net: row.net === null ? null : decimal(network, currency, row.net),
    fee: row.fee === null ? null : decimal(network, coin, row.fee),
    fee_currency: coin,
    state,
    is_live: row.mode === 'live',
    transaction_hash: row.hash,
    created_at: isoSeconds(new Date(row.createdAt)),
    settled_at: row.settledAt === null ? null : isoSeconds(new Date(row.settledAt)),
  };
}

/** Base units of a coin on a network as a decimal string. */
export function decimal(network: Network, currency: Currency, units: bigint | string): string {
  return formatUnits(BigInt(units), assetOf(network, currency).decimals);
}
