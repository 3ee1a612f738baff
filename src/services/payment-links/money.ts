import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { ASSETS, type Network } from '../../domain/assets.ts';
import { CREDITED_STATES, WAITING_STATES } from '../../domain/deposit.ts';
import { LINK_CURRENCY, LINK_DECIMALS } from '../../domain/payment-link.ts';

/** A deposit's amount in units of links, whatever its network: the SQL of `toLinkUnits`. */
const SCALED = sql`d.amount_units * case d.network ${sql.join(
  ASSETS.filter((asset) => asset.currency === LINK_CURRENCY).map(
    ({ network, decimals }) => sql`when ${network} then ${10n ** BigInt(LINK_DECIMALS - decimals)}::numeric`,
  ),
  sql` `,
)} end`;
const PAID = sql`d.status = any(${CREDITED_STATES})`;

/** The deposit of a link that was completed last, if there is one. */
export async function lastPayment(
  em: Em,
  linkId: string,
): Promise<{ readonly network: Network; readonly transactionHash: string } | undefined> {
  return await firstRow(
    em,
    sql<{ network: Network; transactionHash: string }>`
     select d.network, d.transaction_hash from deposits d where d.payment_link_id = ${linkId} and ${PAID}
       and d.completed_at is not null
     order by d.completed_at desc, d.id limit 1`,
  );
}

/** A link whose kept sums are not those of its deposits; amounts in units of links. */
export type LinkDifference = {
  readonly linkId: string;
  readonly kept: { readonly assignedUnits: bigint; readonly paidUnits: bigint; readonly openCount: number };
  readonly found: { readonly assignedUnits: bigint; readonly paidUnits: bigint; readonly openCount: number };
};

type SumsRow = { id: string } & Record<
  'assigned' | 'paid' | 'open' | 'foundAssigned' | 'foundPaid' | 'foundOpen',
  string
>;

/**
 * Sums the deposits of every link after `afterId` again, at most `limit` of them in the order of their ids,
 * and returns those whose kept sums differ. `last` is where the next page begins; undefined at the end.
 */
export async function linkDifferences(
  em: Em,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<{ readonly last: string | undefined; readonly differences: readonly LinkDifference[] }> {
  const page = await rows(
    em,
    sql<SumsRow>`select l.id, l.assigned_units::text as assigned, l.paid_units::text as paid,
       l.open_count::text as open,
       s.assigned::text as found_assigned, s.paid::text as found_paid, s.open::text as found_open
     from (select id, assigned_units, paid_units, open_count from payment_links
       where id > ${afterId}::uuid order by id limit ${limit}) l
     cross join lateral (
       select coalesce(sum(${SCALED}) filter (where d.status <> 'failed'), 0) as assigned,
         coalesce(sum(${SCALED}) filter (where ${PAID}), 0) as paid,
         count(*) filter (where d.status = any(${WAITING_STATES})) as open
       from deposits d where d.payment_link_id = l.id
     ) s order by l.id`,
  );
  const sums = (assigned: string, paid: string, open: string) => ({
    assignedUnits: BigInt(assigned),
    paidUnits: BigInt(paid),
    openCount: Number.parseInt(open, 10),
  });
  const compared = page.map((row) => ({
    linkId: row.id,
    kept: sums(row.assigned, row.paid, row.open),
    found: sums(row.foundAssigned, row.foundPaid, row.foundOpen),
  }));
  const differs = ({ kept, found }: LinkDifference): boolean =>
    kept.assignedUnits !== found.assignedUnits ||
    kept.paidUnits !== found.paidUnits ||
    kept.openCount !== found.openCount;
  return { last: page.length < limit ? undefined : page.at(-1)?.id, differences: compared.filter(differs) };
}

/**
 * Takes the locks under which everything about customers' links is decided, for those of the customers
 * that have links, always in the same order. Called before the rows of deposits and links are locked.
 * Foreign keys to the customer do not wait for it. With `nowait` a lock that another transaction holds
 * is an error at once (SQLSTATE 55P03) instead of a wait. Returns the ids of the locked customers.
 */
export async function lockPayers(
  em: Em,
  customerIds: readonly string[],
  { nowait = false }: { readonly nowait?: boolean } = {},
): Promise<ReadonlySet<string>> {
  if (customerIds.length === 0) return new Set();
  const locked = await rows(
    em,
    sql<{ id: string }>`select c.id from customers c where c.id = any(${customerIds})
       and exists (select 1 from payment_links l where l.customer_id = c.id)
     order by c.id for no key update of c ${nowait ? sql`nowait` : sql``}`,
  );
  return new Set(locked.map(({ id }) => id));
}
