import { firstRow, run, sql } from '../../db/sql.ts';
import type { OutboxRow } from '../../domain/actor-message.ts';
import { fitted } from '../../domain/text.ts';
import { ActorRefused, type Deps } from '../deps.ts';
import { BATCH, type Taken, take, takePage } from './take.ts';

/**
 * Less than the grace: a start that has waited this long
 * is left to the loop, instead of being performed by both.
 */
const MAX_TURN_WAIT_MS = 4_000;
/** This many of the messages that failed before are tried also when new ones would fill the batch. */
const TRIED_BATCH = 20;
/**
 * Few messages of test mode are started at a time, and nearly all within their
 * lease; one that another process starts too finds its actor or its row's end.
 */
const TEST_BATCH = 16;
const PARALLEL_STARTS = 8;
/**
 * As many as one process starts at a time: more would wait while their leases run
 * out, and while Temporal does not answer each would find that out for itself.
 */
const PARALLEL_TEST_STARTS = 2;
const MAX_BACKOFF_MS = 30_000;
/** After Temporal has answered and refused a message this many times, it will refuse it the next time too. */
const REFUSALS = 10;
/**
 * How often a message in quarantine is tried: what Temporal
 * lacked (a search attribute, say) may be there by then.
 */
const QUARANTINE_EVERY_MS = 10 * 60_000;
const QUARANTINE_BATCH = 10;
/** How long the rest of a batch waits when Temporal turned out not to answer. */
const UNRESPONSIVE_PAUSE_MS = 2_000;
const MAX_ERROR_LENGTH = 480;

/** Performs one message and removes it. Never throws: what fails stays for {@link performOutbox}. */
export async function performOutboxRow(deps: Deps, row: OutboxRow): Promise<boolean> {
  if (!deps.actors) return false;
  try {
    await deps.actors.start(row.workflowId, row.message, { maxWaitMs: MAX_TURN_WAIT_MS });
    await removeRow(deps, row.id);
    return true;
  } catch (error) {
    deps.log.debug({ err: error, workflowId: row.workflowId }, 'an actor could not be started yet');
    return false;
  }
}

/**
 * Performs what one transaction asked for, a few at a time: a
 * block can bring hundreds of deposits at once. Never throws.
 */
export async function performOutboxRows(deps: Deps, enqueued: readonly OutboxRow[]): Promise<void> {
  const queue = [...enqueued];
  const worker = async (): Promise<void> => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) await performOutboxRow(deps, row);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_STARTS, enqueued.length) }, worker));
}

/**
 * Performs messages that are due and were left by a crash or while Temporal did not answer.
 * Several workers may run it: each takes rows by a lease, so no lock is held while Temporal is
 * asked. A message that Temporal refuses holds up no other one: what was never tried comes first,
 * and after ten refusals a message goes into quarantine, where it is kept, tried seldom, and seen
 * by operators. `quarantined: 'all'` tries each one there now. Those of test mode are left to
 * {@link performTestOutbox}. Returns how many messages were performed and how many failed.
 */
export async function performOutbox(
  deps: Deps,
  options: { readonly quarantined?: 'all' } = {},
): Promise<{ performed: number; failed: number }> {
  if (!deps.actors) return { performed: 0, failed: 0 };
  const fresh = await take(deps, 'fresh', BATCH);
  const tried = await take(deps, 'tried', Math.max(TRIED_BATCH, BATCH - fresh.length));
  const everything = options.quarantined === 'all';
  const seldom = everything ? [] : await take(deps, 'seldom', QUARANTINE_BATCH);
  const sum = await performTaken(deps, [...fresh, ...tried, ...seldom]);
  for (let after = '0'; everything; ) {
    const page = await takePage(deps, after);
    const { performed, failed, answered } = await performTaken(deps, page);
    sum.performed += performed;
    sum.failed += failed;
    after = page.at(-1)?.id ?? after;
    // One message without an answer does not show that
    // Temporal is unreachable; a page without any answer does.
    if (page.length < BATCH || !answered) break;
  }
  return { performed: sum.performed, failed: sum.failed };
}

/**
 * {@link performOutbox} for messages of test mode, apart from the
 * others: they may take their time, and no live one lies behind them.
 */
export async function performTestOutbox(deps: Deps): Promise<{ performed: number; failed: number }> {
  if (!deps.actors) return { performed: 0, failed: 0 };
  const { performed, failed } = await performTaken(
    deps,
    await take(deps, 'test', TEST_BATCH),
    PARALLEL_TEST_STARTS,
  );
  return { performed, failed };
}

async function performTaken(
  deps: Deps,
  taken: readonly Taken[],
  parallel = PARALLEL_STARTS,
): Promise<{ performed: number; failed: number; answered: boolean }> {
  let answered = false;
  let performed = 0;
  let failed = 0;
  let away = false;
  const queue = [...taken];
  const worker = async (): Promise<void> => {
    for (let row = queue.shift(); row !== undefined && !away; row = queue.shift()) {
      const outcome = await performLeased(deps, row);
      if (outcome === 'performed') performed += 1;
      else failed += 1;
      if (outcome === 'away') away = true;
      else answered = true;
      if (away && queue.length > 0) {
        // One message without an answer is enough to know it: the
        // others wait for their turn, and no try of theirs is counted.
        const rest = queue.splice(0).map(({ id }) => id);
        failed += rest.length;
        await postponeUntried(deps, rest);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { performed, failed, answered };
}

async function performLeased(deps: Deps, row: Taken): Promise<'performed' | 'refused' | 'away'> {
  try {
    await deps.actors?.start(row.workflowId, row.message);
    await removeRow(deps, row.id);
    return 'performed';
  } catch (error) {
    const refused = error instanceof ActorRefused;
    await postpone(deps, row, { reason: error instanceof Error ? error.message : String(error), refused });
    return refused ? 'refused' : 'away';
  }
}

async function postpone(
  deps: Deps,
  row: Taken,
  failure: { reason: string; refused: boolean },
): Promise<void> {
  const now = deps.now();
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  const refusals = failure.refused ? 1 : 0;
  const backoffMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(row.tries, 10));
  const kept = await firstRow(
    deps.orm.em.fork(),
    sql<{ quarantined: boolean; fresh: boolean }>`
      update outbox set tries = tries + 1, refusals = refusals + ${refusals},
        last_error = ${fitted(failure.reason, MAX_ERROR_LENGTH)},
        quarantined_at = case when refusals + ${refusals} >= ${REFUSALS}
          then coalesce(quarantined_at, ${now}) else quarantined_at end,
        next_try_at = case when refusals + ${refusals} >= ${REFUSALS}
          then ${after(QUARANTINE_EVERY_MS)}::timestamptz else ${after(backoffMs)}::timestamptz end
      where id = ${row.id}
      returning quarantined_at is not null as quarantined, refusals = ${REFUSALS} as fresh`,
  );
  if (!kept?.quarantined || !kept.fresh || !failure.refused) return;
  const fields = { workflowId: row.workflowId, reason: failure.reason };
  deps.log.error(
    fields,
    'Temporal refuses a message of the outbox for good: it is kept, and tried seldom; "doctor" says what to do',
  );
}

async function postponeUntried(deps: Deps, ids: readonly string[]): Promise<void> {
  const nextTryAt = new Date(deps.now().getTime() + UNRESPONSIVE_PAUSE_MS);
  await run(deps.orm.em.fork(), sql`update outbox set next_try_at = ${nextTryAt} where id = any(${ids})`);
}

/**
 * Two processes may have performed the same row; the one that finds it
 * locked leaves it to the other instead of waiting with a connection.
 */
async function removeRow(deps: Deps, id: string): Promise<void> {
  await run(
    deps.orm.em.fork(),
    sql`delete from outbox where id in (select id from outbox where id = ${id} for update skip locked)`,
  );
}
