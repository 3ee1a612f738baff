import type { Em } from '../../db/orm.ts';
import { literals, rows, type Statement, sql } from '../../db/sql.ts';
import {
  BLOCK_CLOCK_SKEW_MS,
  type IncomingMoney,
  LATE_LOOKED_AT,
  type LinkCandidate,
  OPEN_STATUSES,
  toLinkUnits,
} from '../../domain/payment-link.ts';

/** Money that came to one customer; `former`: the link that it was sent for before it failed. */
export type Payment = {
  readonly customerId: string;
  readonly money: IncomingMoney;
  readonly former?: string | undefined;
};

/** A candidate as the database writes it: amounts and times are texts. */
type Row = { readonly customerId: string } & {
  readonly [Key in keyof LinkCandidate]: LinkCandidate[Key] extends bigint | Date
    ? string
    : LinkCandidate[Key];
};

const COLUMNS = sql`l.id, l.customer_id, l.status, l.amount_units::text as amount_units,
  l.least_units::text as least_units,
  l.assigned_units::text as assigned_units, l.network, l.created_at, l.expires_at`;
const OPEN = sql`l.status in ${literals(OPEN_STATUSES)}`;
const WANTING = sql`l.assigned_units < l.amount_units`;
/** Links that take the money's network and were made before the money came. */
const FITS = sql`(l.network is null or l.network = w.network) and l.created_at <= w.made_until`;
/** Such links that were not over when the money came. */
const PAYABLE = sql`${FITS} and l.expires_at >= w.mined_at`;
/**
 * The key of the indexes on the open amount: millionths of a coin,
 * rounded up, which is one key for the networks of 6 and of 18 decimals.
 */
const ASKED = sql`div(l.amount_units - l.assigned_units + 999999999999, 1000000000000)`;
const ASKED_OF_MONEY = sql`div(w.units + 999999999999, 1000000000000)`;
/** Links whose open amount, as the money's own coin can express it, is the money to the unit. */
const EXACT = sql`${ASKED} = ${ASKED_OF_MONEY} and l.amount_units - l.assigned_units > w.units - w.step
  and l.amount_units - l.assigned_units <= w.units`;

/**
 * The open links, by customer and oldest first, among which `matchLink` finds for each of these payments,
 * one after the other, the link that it would find among all. One statement, by indexes, however many
 * links a customer has. For n payments it returns the first n links that are exact for one of them, the
 * first n that want money, and the first of all; only the n payments themselves can take the ones before.
 * The former links of payments are among them, whatever they want.
 */
export async function openLinks(
  em: Em,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, LinkCandidate[]>> {
  const found = new Map<string, LinkCandidate[]>();
  if (payments.length === 0) return found;
  const formers = payments.flatMap(({ former }) => former ?? []);
  const named = sql<Row>`select ${COLUMNS} from payment_links l where l.id = any(${formers})`;
  const open = [
    ...(await rows(em, openAmong(payments))),
    ...(formers.length > 0 ? await rows(em, named) : []),
  ];
  for (const row of new Map(open.map((one) => [one.id, one])).values())
    found.set(row.customerId, [...(found.get(row.customerId) ?? []), candidateOf(row)]);
  for (const links of found.values()) links.sort(byAge);
  return found;
}

/** The statement of {@link openLinks}, for at least one payment. */
export function openAmong(payments: readonly Payment[]): Statement<Row> {
  const room = Math.max(...countBy(payments).values());
  const amounts = JSON.stringify(distinct(payments.map((one) => ({ ...placeOf(one), ...amountOf(one) }))));
  const places = JSON.stringify(distinct(payments.map(placeOf)));
  return sql`select f.* from jsonb_to_recordset(${amounts}::jsonb) w (customer_id uuid, network text,
     mined_at timestamptz, made_until timestamptz, units numeric, step numeric)
     cross join lateral (
       select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${WANTING}
         and ${EXACT} and ${PAYABLE}
       order by l.created_at, l.id limit ${room}
     ) f
     union
     select f.* from jsonb_to_recordset(${places}::jsonb) w (customer_id uuid, network text,
       mined_at timestamptz, made_until timestamptz)
     cross join lateral (
       (select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${WANTING}
         and ${PAYABLE}
        order by l.created_at, l.id limit ${room})
       union all
       (select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${PAYABLE}
         order by l.created_at, l.id limit 1)
     ) f order by created_at, id`;
}

/**
 * The closed and overdue links among which `matchLate` finds the one that this money would have paid in time,
 * the former one among them. By indexes.
 */
export async function missedLinks(em: Em, payment: Payment): Promise<LinkCandidate[]> {
  const missed = (await rows(em, missedBy(payment))).map(candidateOf);
  return payment.former === undefined ? missed : [...missed, ...(await linkNamed(em, payment.former))];
}

/** The statement of {@link missedLinks}. */
export function missedBy(payment: Payment): Statement<Row> {
  const missed = sql`l.customer_id = w.customer_id and l.status <> 'completed' and ${WANTING}
    and not (${OPEN} and l.expires_at >= w.mined_at)`;
  const given = JSON.stringify([{ ...placeOf(payment), ...amountOf(payment) }]);
  return sql`select f.* from jsonb_to_recordset(${given}::jsonb) w (customer_id uuid, network text,
     mined_at timestamptz, made_until timestamptz, units numeric, step numeric)
     cross join lateral (
       (select ${COLUMNS} from payment_links l where ${missed} and ${EXACT} and ${FITS}
         order by l.created_at desc, l.id desc limit 1)
       union
       (select ${COLUMNS} from payment_links l where ${missed} and l.least_units - l.assigned_units <= w.units
         and ${FITS}
        order by l.least_units - l.assigned_units desc, l.created_at desc, l.id desc limit ${LATE_LOOKED_AT})
     ) f order by created_at, id`;
}

/** The one link that a simulation names, whatever its status. */
export async function linkNamed(em: Em, id: string): Promise<LinkCandidate[]> {
  return (await rows(em, sql<Row>`select ${COLUMNS} from payment_links l where l.id = ${id}`)).map(
    candidateOf,
  );
}

function byAge(a: LinkCandidate, b: LinkCandidate): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

function candidateOf(row: Row): LinkCandidate {
  return {
    id: row.id,
    status: row.status,
    network: row.network,
    amountUnits: BigInt(row.amountUnits),
    leastUnits: BigInt(row.leastUnits),
    assignedUnits: BigInt(row.assignedUnits),
    createdAt: new Date(row.createdAt),
    expiresAt: new Date(row.expiresAt),
  };
}

function placeOf({ customerId, money }: Payment) {
  const madeUntil = new Date(money.minedAt.getTime() + BLOCK_CLOCK_SKEW_MS);
  return {
    customer_id: customerId,
    network: money.network,
    mined_at: money.minedAt.toISOString(),
    made_until: madeUntil.toISOString(),
  };
}

/** In units of links; `step` is one unit of the money's own coin. */
function amountOf({ money: { amountUnits, decimals } }: Payment) {
  return { units: String(toLinkUnits(amountUnits, decimals)), step: String(toLinkUnits(1n, decimals)) };
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function countBy(payments: readonly Payment[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { customerId } of payments) counts.set(customerId, (counts.get(customerId) ?? 0) + 1);
  return counts;
}
