import type { DeliveryView, EventView } from '../../contract/event.ts';
import { WebhookDelivery } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { ActorOwner } from '../../domain/actor-message.ts';
import { isoSeconds, TEST_EVENT } from '../../domain/events.ts';
import { eventWorkflowId, isUuid, resendWorkflowId } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { TxDeps } from '../deps.ts';
import { roomForTests } from '../merchants/open-tests.ts';
import { refuseOverQuota, takeFromQuotas } from '../merchants/quotas.ts';
import { notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import type { Tx } from '../transact.ts';
import { findEndpoint } from './endpoints.ts';
import { recordEvent } from './events.ts';
import { presentDeliveries, readEvent } from './reads.ts';

const DAY_MS = 24 * 60 * 60_000;
/** The most that one call resends. */
export const RESEND_BATCH = 1_000;
/** The pause between two first attempts of resends: an endpoint that has just come back is not flooded. */
export const RESEND_EVERY_MS = 100;
const RESEND_EVERY = sql`${`${RESEND_EVERY_MS} milliseconds`}::interval`;

/**
 * Sends a finished delivery once more: same event, same bytes, a new sending. Throws a {@link
 * Refusal} when it is unknown, still on its way, or its endpoint is disabled or deleted.
 */
export async function resendDelivery(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly id: string },
): Promise<DeliveryView> {
  const delivery = await lockDelivery(tx.em, deps, input);
  await roomForTests(tx.em, input);
  const now = deps.now();
  delivery.status = 'pending';
  delivery.round += 1;
  delivery.nextAttemptAt = now;
  delivery.finishedAt = null;
  await tx.em.flush();
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, {
    action: 'webhook.resend',
    merchantId,
    mode,
    subject: delivery.id,
    after: { round: delivery.round },
  });
  await tx.enqueue(resendWorkflowId(delivery.id, delivery.round), {
    workflowType: 'notify',
    args: [{ deliveries: [delivery.id] }],
    attributes: { MerchantId: input.merchantId },
    summary: `resend of ${delivery.eventType}, round ${delivery.round}`,
    owner: { merchantId: input.merchantId, mode: input.mode },
  });
  const [view] = await presentDeliveries(tx.em, [delivery]);
  if (!view) throw notFound('webhook delivery');
  return view;
}

/**
 * Sends everything that failed at an endpoint since a time once more: at most
 * {@link RESEND_BATCH} deliveries by one call, the oldest first, one each {@link RESEND_EVERY_MS}
 * and never faster, also across calls. What is on its way is left alone, so a repeated call
 * resends nothing twice. Throws a {@link Refusal} for an unknown or disabled endpoint.
 */
export async function resendFailed(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly id: string; readonly since: Date },
): Promise<{ resent: number; hasMore: boolean }> {
  const endpoint = await findEndpoint(tx.em, input);
  // One call at a time for each endpoint; foreign keys to the row do not wait for this kind of lock.
  await run(tx.em, sql`select id from webhook_endpoints where id = ${endpoint.id} for no key update`);
  if (!endpoint.enabled) throw new Refusal('INVALID', 'The webhook endpoint is disabled. Enable it first.');
  const { merchantId, mode, since } = input;
  const most = Math.min(RESEND_BATCH, await roomForTests(tx.em, input));
  const failed = await rows(
    tx.em,
    sql<{ id: string }>`
      select id from webhook_deliveries
      where endpoint_id = ${endpoint.id} and status = 'failed' and finished_at >= ${since}
      order by created_at, id limit ${most + 1} for update`,
  );
  const batch = failed.slice(0, most).map(({ id }) => id);
  if (batch.length > 0)
    await startSpread(tx.em, {
      endpointId: endpoint.id,
      owner: { merchantId, mode },
      batch,
      now: deps.now(),
    });
  const after = { since: isoSeconds(since), resent: batch.length };
  await recordAction(tx.em, deps, {
    action: 'endpoint.resend-failed',
    merchantId,
    mode,
    subject: endpoint.id,
    after,
  });
  return { resent: batch.length, hasMore: failed.length > batch.length };
}

/**
 * Reopens the deliveries and puts the start of each one's actor into the outbox for its own time, after
 * those of an earlier call. The delivery carries the same time, which holds whatever starts its actor.
 */
async function startSpread(
  em: Em,
  input: { endpointId: string; owner: ActorOwner; batch: readonly string[]; now: Date },
): Promise<void> {
  const { endpointId, owner, batch, now } = input;
  const message = { workflowType: 'notify', attributes: { MerchantId: owner.merchantId }, owner };
  await run(
    em,
    sql`with tail as (
       select greatest(${now}::timestamptz, max(d.next_attempt_at) + ${RESEND_EVERY}) as at
         from webhook_deliveries d
       where d.endpoint_id = ${endpointId} and d.status = 'pending' and d.round > 1
         and not exists (select 1 from webhook_attempts a where a.delivery_id = d.id and a.round = d.round)
     ), batch as (
       select id, row_number() over (order by created_at, id) - 1 as place from webhook_deliveries
         where id = any(${batch})
     ), reopened as (
       update webhook_deliveries d set status = 'pending', round = d.round + 1, finished_at = null,
         next_attempt_at = t.at + b.place * ${RESEND_EVERY}
       from batch b, tail t where b.id = d.id returning d.id, d.round, d.event_type, d.next_attempt_at
     )
     insert into outbox (kind, workflow_id, mode, message, tries, created_at, next_try_at)
     select 'start', 'resend:' || id || ':' || round, ${owner.mode},
       ${JSON.stringify(message)}::jsonb || jsonb_build_object(
         'args', jsonb_build_array(jsonb_build_object('deliveries', jsonb_build_array(id))),
         'summary', 'resend of ' || event_type || ', round ' || round),
       0, ${now}, next_attempt_at
     from reopened order by next_attempt_at`,
  );
}

/**
 * Sends a `webhook.test` event to one endpoint, subscribed or not.
 * Throws a {@link Refusal} for an unknown or disabled endpoint.
 */
export async function sendTestEvent(
  tx: Tx,
  deps: TxDeps,
  input: Scope & { readonly id: string },
): Promise<EventView> {
  const endpoint = await findEndpoint(tx.em, input);
  if (!endpoint.enabled) throw new Refusal('INVALID', 'The webhook endpoint is disabled. Enable it first.');
  await roomForTests(tx.em, input);
  await refuseOverQuota(tx.em, deps, input, ['events_per_day']);
  const recorded = await recordEvent(tx.em, deps, {
    merchantId: input.merchantId,
    mode: input.mode,
    type: TEST_EVENT,
    subjectId: endpoint.id,
    sequence: randomSequence(deps),
    occurredAt: deps.now(),
    onlyEndpointId: endpoint.id,
    data: { endpoint_id: endpoint.id, message: 'This is a test.', is_live: input.mode === 'live' },
  });
  await tx.enqueue(eventWorkflowId(recorded.eventId), {
    workflowType: 'notify',
    args: [{ deliveries: recorded.deliveryIds }],
    attributes: { MerchantId: input.merchantId },
    summary: `${TEST_EVENT} for endpoint ${endpoint.id}`,
    // Nobody's money waits for a test event, not even in live mode.
    owner: { merchantId: input.merchantId, mode: 'test' },
  });
  const { merchantId, mode } = input;
  await recordAction(tx.em, deps, {
    action: 'endpoint.test',
    merchantId,
    mode,
    subject: endpoint.id,
    after: { event_id: recorded.eventId },
  });
  await takeFromQuotas(tx.em, deps, input, { events_per_day: 1 });
  return await readEvent(tx.em, { ...input, id: recorded.eventId });
}

/** Tests of an endpoint have no order; the number only tells two of the same moment apart. */
function randomSequence(deps: TxDeps): number {
  return Number.parseInt(deps.newId().slice(0, 7), 16);
}

/**
 * The same refusal for every id that the caller has no access to: what it says
 * of removal must not tell another merchant's id from one that nobody has.
 */
function noDelivery(deps: TxDeps): Refusal {
  const days = Math.floor(deps.settings.webhookRetentionMs / DAY_MS);
  return new Refusal(
    'NOT_FOUND',
    `There is no such webhook delivery. Deliveries are removed after ${days} days; their events are kept.`,
  );
}

async function lockDelivery(
  em: Em,
  deps: TxDeps,
  input: Scope & { readonly id: string },
): Promise<WebhookDelivery> {
  const { id, merchantId, mode } = input;
  const named = sql<{ id: string; enabled: boolean; deleted: boolean }>`
    select d.id, e.enabled, e.deleted_at is not null as deleted from webhook_deliveries d
      join webhook_endpoints e on e.id = d.endpoint_id
    where d.id = ${id} and e.merchant_id = ${merchantId} and e.mode = ${mode} for update of d`;
  const found = isUuid(id) ? await firstRow(em, named) : undefined;
  if (!found) throw noDelivery(deps);
  if (found.deleted) throw new Refusal('INVALID', 'The webhook endpoint of this delivery was deleted.');
  if (!found.enabled)
    throw new Refusal('INVALID', 'The webhook endpoint of this delivery is disabled. Enable it first.');
  const delivery = await em.findOneOrFail(WebhookDelivery, found.id);
  if (delivery.status === 'pending')
    throw new Refusal('INVALID', 'This delivery is still on its way. Wait until it has succeeded or failed.');
  return delivery;
}
