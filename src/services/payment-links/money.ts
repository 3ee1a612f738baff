import type { Em } from '../../db/orm.ts';
import { ASSETS, type Network } from '../../domain/assets.ts';
import { LINK_CURRENCY, LINK_DECIMALS } from '../../domain/payment-link.ts';

/** A deposit's amount in units of links, whatever its network: the SQL of `toLinkUnits`. */
const SCALED = `d.amount_units * case d.network ${ASSETS.filter((asset) => asset.currency === LINK_CURRENCY)
  .map(({ network, decimals }) => `when '${network}' then 1${'0'.repeat(LINK_DECIMALS - decimals)}::numeric`)
  .join(' ')} end`;
const OPEN = `d.status in ('detected', 'confirming')`;
const PAID = `d.status in ('completed', 'settled')`;

/** The deposit of a link that was completed last, if there is one. */
export async function lastPayment(
  em: Em,
  linkId: string,
): Promise<{ readonly network: Network; readonly transactionHash: string } | undefined> {
  const [last] = await em.execute<{ network: Network; transaction_hash: string }[]>(
    `select d.network, d.transaction_hash from deposits d where d.payment_link_id = ? and ${PAID} and d.completed_at is not null
     order by d.completed_at desc, d.id limit 1`,
    [linkId],
  );
  return last && { network: last.network, transactionHash: last.transaction_hash };
}

/** A link whose kept sums are not those of its deposits; amounts in units of links. */
export type LinkDifference = {
  readonly linkId: string;
  readonly kept: { readonly assignedUnits: bigint; readonly paidUnits: bigint; readonly openCount: number };
  readonly found: { readonly assignedUnits: bigint; readonly paidUnits: bigint; readonly openCount: number };
};

type SumsRow = { id: string } & Record<'assigned' | 'paid' | 'open' | 'found_assigned' | 'found_paid' | 'found_open', string>;

/**
 * Sums the deposits of every link after `afterId` anew, at most `limit` of them in the order of their ids, and returns those whose kept
 * sums differ. `last` is where the next page begins; undefined at the end.
 */
export async function linkDifferences(
  em: Em,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<{ readonly last: string | undefined; readonly differences: readonly LinkDifference[] }> {
  const rows = await em.execute<SumsRow[]>(
    `select l.id, l.assigned_units::text as assigned, l.paid_units::text as paid, l.open_count::text as open,
       s.assigned::text as found_assigned, s.paid::text as found_paid, s.open::text as found_open
     from (select * from payment_links where id > ?::uuid order by id limit ?) l
     cross join lateral (
       select coalesce(sum(${SCALED}), 0) as assigned, coalesce(sum(${SCALED}) filter (where ${PAID}), 0) as paid,
         count(*) filter (where ${OPEN}) as open
       from deposits d where d.payment_link_id = l.id
     ) s order by l.id`,
    [afterId, limit],
  );
  const sums = (assigned: string, paid: string, open: string) => ({
    ...{ assignedUnits: BigInt(assigned), paidUnits: BigInt(paid), openCount: Number.parseInt(open, 10) },
  });
  const compared = rows.map((row) => ({
    linkId: row.id,
    kept: sums(row.assigned, row.paid, row.open),
    found: sums(row.found_assigned, row.found_paid, row.found_open),
  }));
  const differs = ({ kept, found }: LinkDifference): boolean =>
    kept.assignedUnits !== found.assignedUnits || kept.paidUnits !== found.paidUnits || kept.openCount !== found.openCount;
  return { last: rows.length < limit ? undefined : rows.at(-1)?.id, differences: compared.filter(differs) };
}

/**
 * Takes the locks under which everything about customers' links is decided, of those that have any, in one order for everybody. Always
 * before the rows of deposits and links. Foreign keys to the customer do not wait for it. With `nowait` a lock that somebody holds is an
 * error at once (SQLSTATE 55P03) instead of a wait. Returns the ids of the locked ones.
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
