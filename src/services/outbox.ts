import type { Em } from '../db/orm.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import type { Deps } from './deps.ts';

/** A start or signal that a committed transaction asked for. */
export type OutboxRow = { readonly id: string; readonly workflowId: string; readonly message: ActorMessage };

/** Rows younger than this belong to the process that wrote them. */
const GRACE_MS = 2_000;
const BATCH = 100;
const MAX_BACKOFF_MS = 30_000;
const MAX_ERROR_LENGTH = 480;

/** Writes a message inside the caller's transaction. */
export async function insertOutbox(em: Em, deps: Deps, workflowId: string, message: ActorMessage): Promise<OutboxRow> {
  const now = deps.now();
  const [row] = await em.execute<[{ id: string }]>(
    `insert into outbox (kind, workflow_id, message, tries, created_at, next_try_at) values (?, ?, ?::jsonb, 0, ?, ?) returning id::text as id`,
    [message.signal ? 'signal' : 'start', workflowId, JSON.stringify(message), now, new Date(now.getTime() + GRACE_MS)],
  );
  return { id: row.id, workflowId, message };
}

/** Performs one message and removes it. Never throws: what fails stays for {@link performOutbox}. */
export async function performOutboxRow(deps: Deps, row: OutboxRow): Promise<boolean> {
  if (!deps.actors) return false;
  try {
    await deps.actors.start(row.workflowId, row.message);
    await deps.orm.em.fork().execute('delete from outbox where id = ?', [row.id]);
    return true;
  } catch (error) {
    deps.log.debug({ err: error, workflowId: row.workflowId }, 'an actor could not be started yet');
    return false;
  }
}

/**
 * Performs what is due and was left by a crash or by an absence of Temporal. Several workers may run it: rows are locked and skipped.
 * Returns how many messages were performed and how many failed.
 */
export async function performOutbox(deps: Deps): Promise<{ performed: number; failed: number }> {
  const actors = deps.actors;
  if (!actors) return { performed: 0, failed: 0 };
  return await deps.orm.em.fork().transactional(async (em) => {
    const now = deps.now();
    const rows = await em.execute<{ id: string; workflow_id: string; message: ActorMessage; tries: number }[]>(
      `select id::text as id, workflow_id, message, tries from outbox where next_try_at <= ? order by id limit ${BATCH} for update skip locked`,
      [now],
    );
    let performed = 0;
    for (const row of rows) {
      try {
        await actors.start(row.workflow_id, row.message);
        await em.execute('delete from outbox where id = ?', [row.id]);
        performed += 1;
      } catch (error) {
        const text = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR_LENGTH);
        const pauseMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(row.tries, 10));
        await em.execute('update outbox set tries = tries + 1, last_error = ?, next_try_at = ? where id = ?', [
          text,
          new Date(now.getTime() + pauseMs),
          row.id,
        ]);
        // One failure is enough to know that Temporal is away: the other rows keep their turn.
        return { performed, failed: rows.length - performed };
      }
    }
    return { performed, failed: 0 };
  });
}
