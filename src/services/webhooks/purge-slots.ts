import { run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

const BATCH = 5_000;
const MAX_BATCHES = 100;

/**
 * Removes the slots that nobody has held for an hour: each URL of a payment link has slots of its own,
 * and most are used once. A slot that is needed later is made again. Returns how many were removed.
 */
export async function purgeSlots(deps: Pick<Deps, 'orm'>): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const slots = await run(
      deps.orm.em.fork(),
      sql`delete from webhook_slots where (owner_id, slot) in (
         select owner_id, slot from webhook_slots where held_until < clock_timestamp() - interval '1 hour'
           limit ${BATCH} for update skip locked
       )`,
    );
    removed += slots;
    if (slots < BATCH) break;
  }
  return removed;
}
