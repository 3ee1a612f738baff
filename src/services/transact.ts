import type { Em } from '../db/orm.ts';
import { beyondLimit } from '../db/time-limit.ts';
import type { ActorMessage, OutboxRow } from '../domain/actor-message.ts';
import type { Deps } from './deps.ts';
import { insertOutbox } from './outbox/insert.ts';
import { performOutboxRows } from './outbox/perform.ts';

/** One SQL transaction and what it asks of Temporal once it is committed. */
export type Tx = {
  readonly em: Em;
  /**
   * Asks for a start beside the fact; all starts of a transaction are written by one statement at
   * its end. A start is performed right after the commit, or by the outbox loop when that fails.
   */
  enqueue(workflowId: string, message: ActorMessage): Promise<void>;
};

type Asked = Omit<OutboxRow, 'id'>[];

/**
 * Runs `work` in one SQL transaction of its own fork. Starts that it enqueued
 * are performed after the commit without being awaited: the caller's answer
 * never depends on Temporal. Throws what `work` throws, with nothing changed.
 */
export async function transact<T>(deps: Deps, work: (tx: Tx) => Promise<T>): Promise<T> {
  let rows: readonly OutboxRow[] = [];
  const result = await deps.orm.em.fork().transactional(async (em) => {
    const asked: Asked = [];
    const done = await withTx(em, asked, work);
    rows = await insertOutbox(em, deps, asked);
    return done;
  });
  void beyondLimit(() => performOutboxRows(deps, rows));
  return result;
}

/**
 * Runs `work` behind a savepoint of the transaction. Throws what `work` throws; everything
 * that it did is taken back then, the enqueued starts too, and the transaction may go on.
 */
export async function savepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const asked: Asked = [];
  const result = await tx.em.transactional((em) => withTx(em, asked, work));
  for (const { workflowId, message } of asked) await tx.enqueue(workflowId, message);
  return result;
}

/**
 * Work that goes on after its end would write outside the
 * transaction, or ask for a start that nobody performs.
 */
async function withTx<T>(em: Em, asked: Asked, work: (tx: Tx) => Promise<T>): Promise<T> {
  let over = false;
  const whileOpen = <V>(value: V): V => {
    if (over) throw new Error('a transaction is used until the work that got it ends, and no longer');
    return value;
  };
  const tx: Tx = {
    get em() {
      return whileOpen(em);
    },
    enqueue: async (workflowId, message) => {
      whileOpen(asked).push({ workflowId, message });
    },
  };
  try {
    return await work(tx);
  } finally {
    over = true;
  }
}
