import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import type { OutboxRow } from '../../domain/actor-message.ts';
import type { Deps } from '../deps.ts';

/** Rows younger than this belong to the process that wrote them. */
export const GRACE_MS = 5_000;

/** Writes messages inside the caller's transaction, in one statement and in their order. */
export async function insertOutbox(
  em: Em,
  deps: Pick<Deps, 'now'>,
  messages: readonly Omit<OutboxRow, 'id'>[],
): Promise<OutboxRow[]> {
  if (messages.length === 0) return [];
  const now = deps.now();
  const values = messages.map(({ workflowId, message }, place) => ({
    place,
    kind: message.signal ? 'signal' : 'start',
    workflow_id: workflowId,
    message,
    mode: message.owner?.mode ?? 'live',
  }));
  // The ids are drawn first, so that each is known to belong to its message:
  // an insert does not promise in which order its rows are returned.
  const drawn = await rows(
    em,
    sql<{ id: string; place: number }>`
      with drawn as (
        select nextval('outbox_id_seq') as id, m.* from (
          select * from json_to_recordset(${JSON.stringify(values)}::json)
            as r (place int, kind text, workflow_id text, message jsonb, mode text)
          order by place) m
      ), written as (
        insert into outbox (id, kind, workflow_id, message, mode, tries, created_at, next_try_at)
        select id, kind, workflow_id, message, mode, 0, ${now}::timestamptz,
          ${new Date(now.getTime() + GRACE_MS)}::timestamptz from drawn
      )
      select id::text as id, place from drawn`,
  );
  return drawn.flatMap(({ id, place }) => {
    const message = messages[place];
    return message ? [{ id, ...message }] : [];
  });
}
