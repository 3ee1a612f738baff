import { type ChainCursor, Deposit } from '../../db/entities/index.ts';
import { decideAdvance } from '../../domain/deposit.ts';
import { advanceActivityId } from '../../domain/ids.ts';
import { workflowIdOf } from '../deposits/actor-message.ts';
import { factsOf } from '../deposits/advance.ts';
import type { Deps } from '../deps.ts';

const BATCH = 50;
/** A wake that meets a step under way is lost on the server, so a woken deposit that has not moved by then is woken once more. */
const WAKE_AGAIN_AFTER_MS = 5_000;

/**
 * Wakes deposits that went to sleep for long because the chain stood still, as soon as their answer can have changed. What cannot be
 * woken (Temporal away, actor gone) heals by itself: every sleep ends after some minutes.
 */
export async function wakeWaiting(deps: Deps, cursor: ChainCursor): Promise<number> {
  const actors = deps.actors;
  if (!actors) return 0;
  const em = deps.orm.em.fork();
  const now = deps.now();
  const again = new Date(now.getTime() + WAKE_AGAIN_AFTER_MS);
  const sleeping = await em.find(
    Deposit,
    {
      ...{ network: cursor.network, status: { $in: ['detected', 'confirming'] as const }, wakeAt: { $ne: null } },
      $or: [{ wakeAt: { $lte: now } }, { wakeAt: { $gt: again } }],
    },
    { orderBy: { blockNumber: 'asc', id: 'asc' }, limit: BATCH },
  );
  const due = sleeping.filter((deposit) => decideAdvance(factsOf(deps, deposit, cursor)).kind === 'move');
  await Promise.all(
    due.map(async (deposit) => {
      try {
        await actors.wake(workflowIdOf(deposit), advanceActivityId(deposit.status, deposit.alarmedAt != null));
        // The transition itself clears it.
        await deps.orm.em.fork().execute('update deposits set wake_at = ? where id = ? and wake_at is not null', [again, deposit.id]);
      } catch (error) {
        deps.log.debug({ err: error, depositId: deposit.id }, 'a sleeping deposit could not be woken yet');
      }
    }),
  );
  return due.length;
}
