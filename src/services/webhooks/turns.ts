import { firstRow, sql } from '../../db/sql.ts';
import { TEST_EVENT } from '../../domain/events.ts';
import { lowestId } from '../../domain/ids.ts';
import type { Deps } from '../deps.ts';
import type { DueDelivery } from './load.ts';

/**
 * Older deliveries that were never tried are waited for no longer: whatever keeps them, an actor that was
 * lost say, must not keep what came after them.
 */
const WAITED_FOR_MS = 5 * 60_000;
/**
 * By the age of the delivery: nearly always the one before it is under way and ends in this moment. Behind a
 * receiver that takes nothing many wait for long, and each look is a task of the server that all share: so it
 * is looked again after an eighth of the time that it took so far.
 */
const PAUSE_SHARE = 0.125;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 30_000;

/** How long a delivery of this age stays away that waits for an earlier one. */
function pauseAtAge(ageMs: number): number {
  return Math.round(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageMs * PAUSE_SHARE)));
}

/** Nothing is sent now, and no attempt is used. */
type Wait = { readonly kind: 'later'; readonly delayMs: number; readonly message: string };

/**
 * The first attempt at a subject's event waits for the end of the first attempt at each earlier event of the
 * subject to the same endpoint, whatever that brought: so they begin, and arrive, in their order. It is best
 * effort; what fails is not waited for. Undefined: nothing is in the way.
 */
export async function waitsForEarlier(
  deps: Pick<Deps, 'orm' | 'now'>,
  delivery: Pick<DueDelivery, 'eventType' | 'subjectId' | 'sequence' | 'round' | 'createdAt'> & {
    readonly endpoint: Pick<DueDelivery['endpoint'], 'id'>;
  },
): Promise<Wait | undefined> {
  // The first event of a subject has none before it, and the numbers of tests are no order.
  if (delivery.sequence <= 1 || delivery.round > 1 || delivery.eventType === TEST_EVENT) return undefined;
  const now = deps.now().getTime();
  const { subjectId, sequence, endpoint } = delivery;
  const from = new Date(now - WAITED_FOR_MS);
  // Ids begin with the time of the fact, which a slow transaction may write some time later.
  const lowest = lowestId(new Date(from.getTime() - WAITED_FOR_MS));
  const earlier = await firstRow(
    deps.orm.em.fork(),
    sql<{ eventType: string }>`select d.event_type from events e
      join webhook_deliveries d on d.event_id = e.id and d.id >= ${lowest}
      where e.subject_id = ${subjectId} and e.id >= ${lowest} and e.sequence < ${sequence}
        and d.endpoint_id = ${endpoint.id} and d.status = 'pending' and d.round = 1
        and d.created_at >= ${from} and not exists (select 1 from webhook_attempts a
          where a.delivery_id = d.id and a.round = 1 and a.finished_at is not null)
      order by e.sequence limit 1`,
  );
  if (!earlier) return undefined;
  const delayMs = pauseAtAge(now - delivery.createdAt.getTime());
  return { kind: 'later', delayMs, message: `waits for the first attempt of ${earlier.eventType}` };
}
