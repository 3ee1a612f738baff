import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';

/**
 * The deliveries of a deposit's or a payment link's own
 * events (not resends) that are not finished, oldest first.
 */
export async function openDeliveriesOf(em: Em, subjectId: string): Promise<string[]> {
  // The number keeps the order of events that were made in the same instant.
  const open = await rows(
    em,
    sql<{ id: string }>`select d.id from webhook_deliveries d join events e on e.id = d.event_id
      where e.subject_id = ${subjectId} and d.status = 'pending' and d.round = 1
      order by d.created_at, e.sequence, d.id`,
  );
  return open.map((row) => row.id);
}

/**
 * How a delivery is called where operators see it: its event, and the host that gets it. A part of a
 * statement with a delivery `d` and its endpoint `e`: the URL got its one spelling when it was given.
 */
export const DELIVERY_NAME = sql<string>`d.event_type || ' → '
  || split_part(split_part(e.url, '://', 2), '/', 1)`;

/** The names of deliveries, by id. */
export async function namesOfDeliveries(em: Em, ids: readonly string[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const found = await rows(
    em,
    sql<{ id: string; name: string }>`select d.id, ${DELIVERY_NAME} as name from webhook_deliveries d
      join webhook_endpoints e on e.id = d.endpoint_id where d.id = any(${[...ids]})`,
  );
  return Object.fromEntries(found.map(({ id, name }) => [id, name]));
}
