import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';

/**
 * The deliveries of a deposit's or a payment link's own
 * events (not resends) that are not finished, oldest first.
 */
export async function openDeliveriesOf(em: Em, subjectId: string): Promise<string[]> {
  // The position in the array keeps the order of events whose transitions were made in the same instant.
  const open = await rows(
    em,
    sql<{ id: string }>`select d.id from webhook_deliveries d join events e on e.id = d.event_id
      where e.subject_id = ${subjectId} and d.status = 'pending' and d.round = 1
      order by d.created_at, array_position(array['deposit.detected', 'deposit.confirming',
        'deposit.completed', 'deposit.settled',
        'deposit.failed'], d.event_type::text), d.id`,
  );
  return open.map((row) => row.id);
}
