import type { Em } from '../db/orm.ts';
import { beyondLimit } from '../db/time-limit.ts';
import type { ActorMessage, OutboxRow } from '../domain/actor-message.ts';
import type { Deps } from './deps.ts';
import { insertOutbox, performOutboxRows } from './outbox.ts';

/** One SQL transaction and what it asks of Temporal once it is committed. */
export type Tx = {
  readonly em: Em;
  /**
   * Asks for a start beside the fact; all of a transaction are written by one statement at its end. It is performed right after the commit,
   * or by the outbox loop when that fails.
   */
  enqueue(workflowId: string, message: ActorMessage): Promise<void>;
};

/**
 * Runs `work` in one SQL transaction of its own fork. Starts that it enqueued are performed after the commit without being awaited:
 * the caller's answer never depends on Temporal. Throws what `work` throws, with nothing changed. Within a transaction around the use
 * case (`deps.outer`) this is a savepoint of it, and the starts wait for its commit.
 */
export async function transact<T>(deps: Deps, work: (tx: Tx) => Promise<T>): Promise<T> {
  let rows: readonly OutboxRow[] = [];
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const messages: Omit<OutboxRow, 'id'>[] = [];
    const done = await work({
      em,
      enqueue: async (workflowId, message) => {
        messages.push({ workflowId, message });
      },
    });
    rows = await insertOutbox(em, deps, messages);
    return done;
  });
  if (deps.outer) deps.outer.afterCommit(rows);
  else void beyondLimit(() => performOutboxRows(deps, rows));
  return result;
}

/**
 * Slow work of the world outside that a use case needs before its transaction: a name lookup, a price. Within a transaction around the
 * use case it is done while that one is not open, so that no connection waits for it. Throws what `work` throws.
 */
export function beforehand<T>(deps: Deps, work: () => Promise<T>): Promise<T> {
  return deps.outer ? deps.outer.beforehand(work) : work();
}
