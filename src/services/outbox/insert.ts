import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import type { OutboxRow } from '../../domain/actor-message.ts';
import type { Deps } from '../deps.ts';
import { DELIVERY_NAME } from '../webhooks/open-deliveries.ts';

/** Rows younger than this belong to the process that wrote them. */
export const GRACE_MS = 5_000;

/**
 * Writes messages inside the caller's transaction, in one statement and in their order. What an actor is to
 * deliver gets the names under which operators see it.
 */
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
    sql<{ id: string; place: number; message: OutboxRow['message'] }>`
      with drawn as (
        select nextval('outbox_id_seq') as id, m.* from (
          select * from json_to_recordset(${JSON.stringify(values)}::json)
            as r (place int, kind text, workflow_id text, message jsonb, mode text)
          order by place) m
      ), names as (
        select place, jsonb_object_agg(d.id, ${DELIVERY_NAME}) as names from drawn
          cross join lateral jsonb_array_elements_text(message #> '{args,0,deliveries}') as given (id)
          join webhook_deliveries d on d.id = given.id::uuid
          join webhook_endpoints e on e.id = d.endpoint_id group by place
      ), named as (
        select id, place, kind, workflow_id, mode, case when names is null then message
          else jsonb_set(message, '{args,0,names}', names) end as message
        from drawn left join names using (place)
      ), written as (
        insert into outbox (id, kind, workflow_id, message, mode, tries, created_at, next_try_at)
        select id, kind, workflow_id, message, mode, 0, ${now}::timestamptz,
          ${new Date(now.getTime() + GRACE_MS)}::timestamptz from named
      )
      select id::text as id, place, message from named`,
  );
  return drawn.flatMap(({ id, place, message }) => {
    const { workflowId } = messages[place] ?? {};
    return workflowId === undefined ? [] : [{ id, workflowId, message }];
  });
}
