import type { Em } from '../db/orm.ts';
import type { ActorMessage } from '../domain/actor-message.ts';
import type { Deps } from './deps.ts';

/** A start or signal that a committed transaction asked for. */
export type OutboxRow = { readonly id: string; readonly workflowId: string; readonly message: ActorMessage };

/** Rows younger than this belong to the process that wrote them. */
const GRACE_MS = 5_000;
/** Less than the grace: a start that waited so long is left to the loop, instead of being performed by both. */
const MAX_TURN_WAIT_MS = 4_000;
const BATCH = 100;
/** A row that was taken is tried by others after this long, should its taker have died. */
const LEASE_MS = 10_000;
const PARALLEL_STARTS = 8;
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
    await deps.actors.start(row.workflowId, row.message, { maxWaitMs: MAX_TURN_WAIT_MS });
    await removeRow(deps, row.id);
    return true;
  } catch (error) {
    deps.log.debug({ err: error, workflowId: row.workflowId }, 'an actor could not be started yet');
    return false;
  }
}

/** Performs what one transaction asked for, a few at a time: a block can bring hundreds of deposits at once. Never throws. */
export async function performOutboxRows(deps: Deps, rows: readonly OutboxRow[]): Promise<void> {
  const queue = [...rows];
  const worker = async (): Promise<void> => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) await performOutboxRow(deps, row);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_STARTS, rows.length) }, worker));
}

/**
 * Performs what is due and was left by a crash or by an absence of Temporal. Several workers may run it: each takes rows by a lease, so
 * no lock is held while Temporal is asked. Returns how many messages were performed and how many failed.
 */
export async function performOutbox(deps: Deps): Promise<{ performed: number; failed: number }> {
  if (!deps.actors) return { performed: 0, failed: 0 };
  const now = deps.now();
  const rows = await deps.orm.em.fork().execute<{ id: string; workflow_id: string; message: ActorMessage; tries: number }[]>(
    `update outbox set next_try_at = ? where id in (select id from outbox where next_try_at <= ? order by id limit ${BATCH} for update skip locked)
     returning id::text as id, workflow_id, message, tries`,
    [new Date(now.getTime() + LEASE_MS), now],
  );
  let performed = 0;
  let failed = 0;
  const queue = rows.sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  const worker = async (): Promise<void> => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
      // One failure is enough to know that Temporal is away: the other rows wait for their turn without another call.
      const done = failed === 0 ? await performLeased(deps, row) : await postpone(deps, row, 'Temporal did not take the message before it');
      if (done) performed += 1;
      else failed += 1;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_STARTS }, worker));
  return { performed, failed };
}

async function performLeased(deps: Deps, row: { id: string; workflow_id: string; message: ActorMessage; tries: number }): Promise<boolean> {
  try {
    await deps.actors?.start(row.workflow_id, row.message);
    await removeRow(deps, row.id);
    return true;
  } catch (error) {
    return await postpone(deps, row, error instanceof Error ? error.message : String(error));
  }
}

async function postpone(deps: Deps, row: { id: string; tries: number }, reason: string): Promise<boolean> {
  const pauseMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(row.tries, 10));
  await deps.orm.em
    .fork()
    .execute('update outbox set tries = tries + 1, last_error = ?, next_try_at = ? where id = ?', [
      ...[reason.slice(0, MAX_ERROR_LENGTH), new Date(deps.now().getTime() + pauseMs), row.id],
    ]);
  return false;
}

/** Two processes may have performed the same row; whoever finds it locked leaves it to the other instead of waiting with a connection. */
async function removeRow(deps: Deps, id: string): Promise<void> {
  await deps.orm.em.fork().execute('delete from outbox where id in (select id from outbox where id = ? for update skip locked)', [id]);
}
