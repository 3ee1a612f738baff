import { type ChainCursor, Deposit } from '../../db/entities/index.ts';
import { literals, rows, run, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { advanceActivityId } from '../../domain/ids.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import type { Deps } from '../deps.ts';

const BATCH = 50;
/**
 * A wake that meets a look under way is lost on the server, so a
 * woken deposit that has not moved by then is woken once more.
 */
const WAKE_AGAIN_AFTER_MS = 5_000;

/**
 * Wakes deposits that went to sleep for long because the chain stood still, as soon as their
 * step can have a new result; at most 50 at a time, and the caller comes back while there were
 * any. What cannot be woken (Temporal does not answer, the actor is gone) heals by itself:
 * every sleep ends after some minutes. Returns how many were found that have not moved on yet.
 */
export async function wakeWaiting(deps: Deps, cursor: ChainCursor): Promise<number> {
  const { actors } = deps;
  if (!actors) return 0;
  const em = deps.orm.em.fork();
  const now = deps.now();
  const again = new Date(now.getTime() + WAKE_AGAIN_AFTER_MS);
  // The conditions of `decideAdvance`, as far as the chain decides
  // them. A row too many only costs one look of its actor.
  const { network, verifiedNumber, headNumber } = cursor;
  const waiting = await rows(
    em,
    sql<{
      id: string;
      woken: boolean;
    }>`select id, wake_at > ${now} and wake_at <= ${again} as woken from deposits
     where network = ${network} and wake_at is not null and (
       (block_hash is null and status in ${literals(WAITING_STATES)} and block_number <= ${verifiedNumber})
       or (status = 'detected' and block_number < ${headNumber})
       or (status = 'confirming' and block_number + required_confirmations <= ${headNumber}
       and block_number <= ${verifiedNumber})
     ) order by woken, block_number, id limit ${BATCH}`,
  );
  const due = await em.find(Deposit, {
    id: { $in: waiting.filter((row) => !row.woken).map((row) => row.id) },
  });
  await Promise.all(
    due.map(async (deposit) => {
      try {
        await actors.wake(workflowIdOf(deposit), advanceActivityId(deposit.status), depositWake(deposit));
        // The transition itself clears it.
        await run(
          deps.orm.em.fork(),
          sql`update deposits set wake_at = ${again} where id = ${deposit.id} and wake_at is not null`,
        );
      } catch (error) {
        deps.log.debug({ err: error, depositId: deposit.id }, 'a sleeping deposit could not be woken yet');
      }
    }),
  );
  return waiting.length;
}
