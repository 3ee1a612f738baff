import type { Em } from '../../db/orm.ts';
import { ASSETS, type Network } from '../../domain/assets.ts';
import { LINK_CURRENCY, LINK_DECIMALS } from '../../domain/payment-link.ts';

/** A deposit's amount in units of links, whatever its network: the SQL of `toLinkUnits`. */
const SCALED = `d.amount_units * case d.network ${ASSETS.filter((asset) => asset.currency === LINK_CURRENCY)
  .map(({ network, decimals }) => `when '${network}' then 1${'0'.repeat(LINK_DECIMALS - decimals)}::numeric`)
  .join(' ')} end`;
const OPEN = `d.status in ('detected', 'confirming')`;
const PAID = `d.status in ('completed', 'settled')`;

/** What a link has: all amounts in units of links. `last` is the deposit that was completed last. */
export type AssignedMoney = {
  readonly paidUnits: bigint;
  readonly assignedUnits: bigint;
  readonly openCount: number;
  readonly last: { readonly network: Network; readonly transactionHash: string } | undefined;
};

/** Sums the deposits assigned to a link as the caller's transaction sees them; exact while it holds the customer's lock. */
export async function assignedMoney(em: Em, linkId: string): Promise<AssignedMoney> {
  const [sums] = await em.execute<[{ paid: string; assigned: string; open: number }]>(
    `select coalesce(sum(${SCALED}) filter (where ${PAID}), 0)::text as paid, coalesce(sum(${SCALED}), 0)::text as assigned,
       count(*) filter (where ${OPEN})::int as open
     from deposits d where d.payment_link_id = ?`,
    [linkId],
  );
  const [last] = await em.execute<{ network: Network; transaction_hash: string }[]>(
    `select d.network, d.transaction_hash from deposits d where d.payment_link_id = ? and ${PAID} order by d.completed_at desc, d.id limit 1`,
    [linkId],
  );
  return {
    ...{ paidUnits: BigInt(sums.paid), assignedUnits: BigInt(sums.assigned), openCount: sums.open },
    last: last && { network: last.network, transactionHash: last.transaction_hash },
  };
}

/** SQL of the sum that is assigned to link `l`, completed or on its way, in units of links, as text. */
export const ASSIGNED_SQL = `(select coalesce(sum(${SCALED}), 0)::text from deposits d where d.payment_link_id = l.id)`;

/**
 * Takes the locks under which everything about customers' links is decided, of those that have any, in one order for everybody. Always
 * before the rows of deposits and links. Foreign keys to the customer do not wait for it. With `nowait` it fails at once where somebody
 * holds one of them. Returns the ids of the locked ones.
 */
export async function lockPayers(
  em: Em,
  customerIds: readonly string[],
  { nowait = false }: { readonly nowait?: boolean } = {},
): Promise<ReadonlySet<string>> {
  if (customerIds.length === 0) return new Set();
  const rows = await em.execute<{ id: string }[]>(
    `select c.id from customers c where c.id in (${customerIds.map(() => '?').join(', ')})
       and exists (select 1 from payment_links l where l.customer_id = c.id) order by c.id for no key update of c${nowait ? ' nowait' : ''}`,
    [...customerIds],
  );
  return new Set(rows.map((row) => row.id));
}
