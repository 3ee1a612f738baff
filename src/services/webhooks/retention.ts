import { rows, run, sql } from '../../db/sql.ts';
import { lowestId } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';

const PIECE = 1_000;
/** The most pieces of a backlog that one turn removes; the rest waits for the next turn. */
const MAX_PIECES = 500;

/**
 * Removes finished deliveries whose events are older than `WEBHOOK_RETENTION`, with their attempts,
 * piece by piece and oldest first. Events stay, and so does a delivery that is on its way, however
 * old. Several workers may run it, because each takes other rows. Returns how many it removed.
 */
export async function removeOldDeliveries(deps: Deps): Promise<number> {
  const before = lowestId(new Date(deps.now().getTime() - deps.settings.webhookRetentionMs));
  let removed = 0;
  for (let pieces = 0; pieces < MAX_PIECES; pieces += 1) {
    const deliveries = await removePiece(deps, before);
    removed += deliveries;
    if (deliveries < PIECE) break;
  }
  return removed;
}

async function removePiece(deps: Deps, before: string): Promise<number> {
  // The rows are locked by a statement of its own, so that the attempts are removed before their delivery.
  return await deps.orm.em.fork().transactional(async (em) => {
    const old = sql<{
      id: string;
    }>`select id from webhook_deliveries where id < ${before} and status <> 'pending'
      order by id limit ${PIECE} for update skip locked`;
    const ids = (await rows(em, old)).map(({ id }) => id);
    if (ids.length === 0) return 0;
    await run(em, sql`delete from webhook_attempts where delivery_id = any(${ids})`);
    return await run(em, sql`delete from webhook_deliveries where id = any(${ids})`);
  });
}
