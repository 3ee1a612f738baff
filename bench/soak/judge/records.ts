// What the judge goes by: chains, receivers and the run itself on one side, the gateway on the other.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import type { Held } from '../chains/chain.ts';
import { unitsOf } from '../plan/amounts.ts';
import type { ActionOf, MerchantName } from '../plan/plan.ts';
import { type Hook, isSuccess, type ReceiverName } from '../receivers.ts';
import { addressAs, creditKey, type Truth } from './truth.ts';

/** Something that is not as it must be. `rule` says what must hold, `detail` what was found. */
export type Difference = { readonly rule: string; readonly subject: string; readonly detail: string };
export type Say = (rule: string, subject: string, detail: string) => void;

/** Who is paid: made by the API, known to the run by the number of the plan. */
export type Customer = {
  readonly number: number;
  readonly merchant: MerchantName;
  readonly mode: 'live' | 'test';
  readonly externalId: string;
  readonly id: string;
  /** By network, as the run writes addresses. */
  readonly addresses: Readonly<Record<Network, string>>;
};
/** Where a merchant is paid out, from a moment on until the next one of the same network. */
export type Destination = {
  readonly merchantId: string;
  readonly network: Network;
  readonly address: string;
  /** Milliseconds since 1970 when the change was asked for, and when it was made for certain. */
  readonly askedMs: number;
  readonly fromMs: number;
};
/** One event as one receiver saw it, over all its attempts. */
export type Seen = {
  readonly eventId: string;
  readonly event: string;
  readonly data: Json;
  /** When it happened, as the body says. */
  readonly timestamp: string;
  /** How many different bodies came under this id. */
  readonly bodies: number;
  readonly allVerified: boolean;
  /** The numbers of the attempts, in the order of their arrival. */
  readonly attempts: readonly number[];
  /** Whether the receiver answered at least one of them with success. */
  readonly taken: boolean;
};
export type Simulated = { readonly action: ActionOf<'simulate'>; readonly depositId: string };

export type Records = {
  readonly truth: Truth;
  /** What each receiver remembers, by event id, and the receivers by the URL at which they are registered. */
  readonly seen: ReadonlyMap<ReceiverName, ReadonlyMap<string, Seen>>;
  readonly nameOf: ReadonlyMap<string, ReceiverName>;
  /** What the run made, what the API confirmed, and what it sent itself out of a wallet of the gateway's. */
  readonly customers: readonly Customer[];
  readonly simulated: readonly Simulated[];
  readonly spent: readonly string[];
  readonly destinations: readonly Destination[];
  /** The wallets that pay for gas, each with its network before it. */
  readonly gas: readonly string[];
  /** What lies on every address of the run, as each chain keeps it. */
  readonly held: readonly (Held & { readonly network: Network; readonly address: string })[];
  /** What the API lists: live deposits, those of test mode, customers of every merchant and mode. */
  readonly deposits: Readonly<Record<MerchantName, readonly Json[]>>;
  readonly simulations: readonly Json[];
  readonly listed: readonly Json[];
  /** Refusals of what is sound, and how often the API answered 500. */
  readonly problems: readonly string[];
  readonly internalErrors: number;
  /** What the gateway's own comparisons find: of balances with the ledger, and of the ledger with itself. */
  readonly found: readonly Difference[];
} & Rows;

/** What the gateway's own tables say, read with plain SQL and none of its code. */
export type Rows = {
  /** The sum of every account, by live deposit. */
  readonly entries: readonly (Place & { readonly account: string; readonly sum: string })[];
  /** Every delivery with what its attempts say. */
  readonly deliveries: readonly {
    readonly event_id: string;
    readonly url: string;
    readonly status: string;
    readonly attempts: number;
    readonly last_status: number | null;
  }[];
  /** What was set aside for the operator because of what it is. */
  readonly setAside: readonly (Omit<Place, 'currency'> & { readonly sum: string })[];
  /** Payouts of real money that were signed, and when first, in milliseconds since 1970. */
  readonly signed: readonly {
    readonly id: string;
    readonly merchant_id: string;
    readonly network: Network;
    readonly destination: string;
    readonly signed_ms: number;
  }[];
};
type Place = {
  readonly network: string;
  readonly transaction_hash: string;
  readonly address: string;
  readonly currency: string;
};

/** Reads the gateway's tables. */
export async function readRows(sql: <T>(text: string) => Promise<T[]>): Promise<Rows> {
  return {
    entries: await sql(
      `select d.network, d.transaction_hash, d.address, d.currency, e.account,
         sum(e.amount_units)::text as sum
       from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
         join deposits d on d.id = t.deposit_id
       where e.mode = 'live' group by 1, 2, 3, 4, 5`,
    ),
    deliveries: await sql(
      `select d.event_id, w.url, d.status, count(a.number)::int as attempts,
         (array_agg(a.status_code order by a.number desc))[1] as last_status
       from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
         left join webhook_attempts a on a.delivery_id = d.id
       group by d.id, d.event_id, w.url, d.status`,
    ),
    setAside: await sql(
      `select network, transaction_hash, address, sum(amount_units)::text as sum from unrecognised_transfers
       where transaction_hash <> '' and reason <> 'from one of our own wallets' group by 1, 2, 3`,
    ),
    signed: await sql(
      `select p.id, p.merchant_id, p.network, p.destination,
         (extract(epoch from min(s.signed_at)) * 1000)::float8 as signed_ms
       from payouts p join sent_transactions s on s.payout_id = p.id and s.purpose = 'payout'
       where not p.simulated and s.signed_at is not null group by p.id`,
    ),
  };
}

/** The record of one receiver, by event id. */
export function recordsOf(hook: Hook): Map<string, Seen> {
  const groups = Map.groupBy(hook.received, ({ request }) => String(request.headers['x-webhook-id']));
  return new Map(
    [...groups].map(([eventId, entries]) => {
      const body = JSON.parse(entries[0]?.request.body.toString() ?? '{}') as Pick<
        Seen,
        'event' | 'data' | 'timestamp'
      >;
      const { event, data, timestamp } = body;
      const seen: Seen = {
        eventId,
        event,
        data,
        timestamp,
        bodies: new Set(entries.map(({ request }) => request.body.toString('hex'))).size,
        allVerified: entries.every(({ request }) => request.verified === true),
        attempts: entries.map(({ request }) => Number(request.headers['x-webhook-attempt'])),
        taken: entries.some(({ answered }) => isSuccess(answered)),
      };
      return [eventId, seen];
    }),
  );
}

/** What a deposit is known by, from a row of the API or the data of an event. */
export function keyOf(data: Json): string {
  const [network, hash] = [String(data['network']), String(data['transaction_hash'])];
  return creditKey(network, hash, String(data['address']), String(data['currency']));
}

/** A deposit that the API shows as paid out; addresses as the run writes them. */
export type Settled = {
  readonly row: Json;
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly amountUnits: bigint;
  /** The payout, and where it went. */
  readonly hash: string;
  readonly destination: string;
  /** What of it reached the destination, and what it bears of the payout's cost, in units of the coin. */
  readonly units: bigint;
  readonly feeUnits: bigint;
  readonly isCoin: boolean;
};

/** The settlement of a deposit, where it has one. Throws on a settlement that is none. */
export function settledOf(row: Json): Settled | undefined {
  const settlement = row['settlement'] as Json | null | undefined;
  if (settlement === null || settlement === undefined) return undefined;
  const [network, currency] = [row['network'] as Network, row['currency'] as Currency];
  const coin = settlement['fee_currency'] as Currency;
  return {
    row,
    network,
    address: addressAs(network, String(row['address'])),
    currency,
    amountUnits: BigInt(String(row['amount_raw'])),
    hash: String(settlement['transaction_hash']),
    destination: addressAs(network, String(settlement['destination'])),
    units: unitsOf(network, currency, String(settlement['amount'])),
    feeUnits: unitsOf(network, coin, String(settlement['fee_amount'])),
    isCoin: currency === coin,
  };
}
