import type { Em } from '../../db/orm.ts';
import {
  BLOCK_CLOCK_SKEW_MS,
  type IncomingMoney,
  LATE_LOOKED_AT,
  type LinkCandidate,
  type LinkStatus,
  toLinkUnits,
} from '../../domain/payment-link.ts';

/** Money that came to one customer. */
export type Payment = { readonly customerId: string; readonly money: IncomingMoney };

type Row = {
  id: string;
  customer_id: string;
  status: LinkStatus;
  amount_units: string;
  least_units: string;
  assigned_units: string;
  network: string | null;
  created_at: string | Date;
  expires_at: string | Date;
};

const COLUMNS = `l.id, l.customer_id, l.status, l.amount_units::text as amount_units, l.least_units::text as least_units,
  l.assigned_units::text as assigned_units, l.network, l.created_at, l.expires_at`;
const OPEN = `l.status in ('pending', 'processing', 'partially_paid')`;
const WANTING = 'l.assigned_units < l.amount_units';
/** In time for the money, and of its network. */
const PAYABLE = '(l.network is null or l.network = w.network) and l.created_at <= w.made_until and l.expires_at >= w.mined_at';
/** The key of the indexes on what is open: millionths of a coin, rounded up, which is one key for the networks of 6 and of 18 decimals. */
const ASKED = 'div(l.amount_units - l.assigned_units + 999999999999, 1000000000000)';
const ASKED_OF_MONEY = 'div(w.units + 999999999999, 1000000000000)';
/** What is open, as the money's own coin can express it, is the money to the unit. */
const EXACT = `${ASKED} = ${ASKED_OF_MONEY} and l.amount_units - l.assigned_units > w.units - w.step and l.amount_units - l.assigned_units <= w.units`;

/**
 * The open links, by customer and oldest first, among which `matchLink` finds for each of these payments, one after the other, the link that
 * it would find among all. One statement, by indexes, however many links a customer has: of n payments the first n links that are exact for
 * one of them, the first n that want money, and the first of all; those before them can be taken by the n payments alone.
 */
export async function openLinks(em: Em, payments: readonly Payment[]): Promise<ReadonlyMap<string, LinkCandidate[]>> {
  const found = new Map<string, LinkCandidate[]>();
  if (payments.length === 0) return found;
  const room = Math.max(...countBy(payments).values());
  const rows = await em.execute<Row[]>(
    `select f.* from jsonb_to_recordset(?::jsonb) w (customer_id uuid, network text, mined_at timestamptz, made_until timestamptz, units numeric, step numeric)
     cross join lateral (
       select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${WANTING} and ${EXACT} and ${PAYABLE}
       order by l.created_at, l.id limit ${room}
     ) f
     union
     select f.* from jsonb_to_recordset(?::jsonb) w (customer_id uuid, network text, mined_at timestamptz, made_until timestamptz)
     cross join lateral (
       (select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${WANTING} and ${PAYABLE}
        order by l.created_at, l.id limit ${room})
       union all
       (select ${COLUMNS} from payment_links l where l.customer_id = w.customer_id and ${OPEN} and ${PAYABLE} order by l.created_at, l.id limit 1)
     ) f order by created_at, id`,
    [
      JSON.stringify(distinct(payments.map((one) => ({ ...placeOf(one), ...amountOf(one) })))),
      JSON.stringify(distinct(payments.map(placeOf))),
    ],
  );
  for (const row of rows) found.set(row.customer_id, [...(found.get(row.customer_id) ?? []), candidateOf(row)]);
  return found;
}

/** The closed and overdue links among which `matchLink` finds the one that this money would have paid in time. One statement, by indexes. */
export async function missedLinks(em: Em, payment: Payment): Promise<LinkCandidate[]> {
  const missed = `l.customer_id = w.customer_id and l.status <> 'completed' and ${WANTING}`;
  const fits = '(l.network is null or l.network = w.network) and l.created_at <= w.made_until';
  const rows = await em.execute<Row[]>(
    `select f.* from jsonb_to_recordset(?::jsonb) w (customer_id uuid, network text, mined_at timestamptz, made_until timestamptz, units numeric, step numeric)
     cross join lateral (
       (select ${COLUMNS} from payment_links l where ${missed} and ${EXACT} and ${fits} order by l.created_at desc, l.id desc limit 1)
       union
       (select ${COLUMNS} from payment_links l where ${missed} and l.least_units - l.assigned_units <= w.units and ${fits}
        order by l.least_units - l.assigned_units desc, l.created_at desc, l.id desc limit ${LATE_LOOKED_AT})
     ) f order by created_at, id`,
    [JSON.stringify([{ ...placeOf(payment), ...amountOf(payment) }])],
  );
  return rows.map(candidateOf);
}

/** The one link that a simulation names, whatever its status. */
export async function linkNamed(em: Em, id: string): Promise<LinkCandidate[]> {
  const rows = await em.execute<Row[]>(`select ${COLUMNS} from payment_links l where l.id = ?`, [id]);
  return rows.map(candidateOf);
}

function candidateOf(row: Row): LinkCandidate {
  return {
    ...{ id: row.id, status: row.status, network: row.network },
    ...{ amountUnits: BigInt(row.amount_units), leastUnits: BigInt(row.least_units), assignedUnits: BigInt(row.assigned_units) },
    ...{ createdAt: new Date(row.created_at), expiresAt: new Date(row.expires_at) },
  };
}

function placeOf({ customerId, money }: Payment) {
  const madeUntil = new Date(money.minedAt.getTime() + BLOCK_CLOCK_SKEW_MS);
  return { customer_id: customerId, network: money.network, mined_at: money.minedAt.toISOString(), made_until: madeUntil.toISOString() };
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
