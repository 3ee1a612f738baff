import { randomInt } from 'node:crypto';
import { pause } from '../../base/async/pause.ts';
import {
  backoffAfterMs,
  classify,
  describeOutcome,
  type Outcome,
  WEBHOOK_LIMITS,
} from '../../domain/webhook.ts';
import { type Deps, paced } from '../deps.ts';
import { closeDelivery, endAttempt, endInterrupted, hostOf } from './attempt-record.ts';
import { buildHeaders } from './http/signature.ts';
import type { WebhookTransport } from './http/transport.ts';
import { beginAttempt, type Lease } from './lease.ts';
import { type DueDelivery, loadDelivery, type OpenAttempt, secretsOf } from './load.ts';
import type { DeliveryReport } from './report.ts';
import type { DeliverySlots, Slot } from './slots.ts';
import { waitsForEarlier } from './turns.ts';

export type DeliverDeps = Deps & {
  readonly transport: WebhookTransport;
  readonly slots: DeliverySlots;
  readonly deliveryReport?: DeliveryReport;
};

export type DeliverResult =
  /** The delivery is finished. */
  | { readonly kind: 'done'; readonly status: 'succeeded' | 'failed'; readonly message: string }
  /** An attempt was used and failed; the next one is due after the pause. */
  | { readonly kind: 'retry'; readonly delayMs: number; readonly message: string }
  /** Nothing was sent and no attempt was used. */
  | { readonly kind: 'later'; readonly delayMs: number; readonly message: string };

/** An attempt may still be under way in another process for this long after its row was written. */
const ATTEMPT_ENDS_AFTER_MS = WEBHOOK_LIMITS.attemptMs + 2_000;
/** The pause before a delivery is read again that was changed by another process in this moment. */
const LOOK_AGAIN_MS = 1;
/** A delivery that finds no slot stays away for a sixteenth of its age at least, within these limits. */
const SLOT_PAUSE_SHARE = 1 / 16;
const SLOT_PAUSE_MIN_MS = 1_000;
const SLOT_PAUSE_MAX_MS = 60_000;
/** How often the gateway tries to write the result of a POST that happened. */
const RECORD_TRIES = 8;
const RECORD_PAUSE_MS = 400;

/**
 * Sends the next attempt of a delivery when it is due. The attempt rows decide everything:
 * numbers, pauses, the end. What fails before the attempt's row is written throws or
 * returns `later`, and uses up no attempt; a crash afterwards counts as an attempt.
 */
export async function deliverWebhook(
  deps: DeliverDeps,
  input: { deliveryId: string },
): Promise<DeliverResult> {
  const due = await loadDue(deps, input.deliveryId);
  if ('kind' in due) return due;
  const { merchantId, mode, endpoint } = due.delivery;
  const slot = await deps.slots.take({ endpointId: endpoint.slotOwner, merchantId, mode });
  if (!slot) return waitsForSlot(deps, due.delivery);
  try {
    // While this waited for a slot, the endpoint may have been changed, disabled or deleted.
    const now = slot.waited ? await loadDue(deps, input.deliveryId) : due;
    return 'kind' in now ? now : await attempt(deps, now.delivery, { number: now.number, slot });
  } finally {
    slot.free();
  }
}

/**
 * By the age of the delivery, and at some moment of as much time again: so a backlog of thousands at a
 * receiver that hangs costs the server that all share a task a minute for each at most, and does not come
 * back all at once.
 */
function waitsForSlot(deps: Deps, { createdAt }: DueDelivery): DeliverResult {
  const share = Math.round((deps.now().getTime() - createdAt.getTime()) * SLOT_PAUSE_SHARE);
  const leastMs = Math.min(SLOT_PAUSE_MAX_MS, Math.max(SLOT_PAUSE_MIN_MS, share));
  const delayMs = leastMs + randomInt(leastMs);
  const message = `every connection that this endpoint may have is in use; asks again in ${Math.ceil(delayMs / 1_000)} s`;
  return { kind: 'later', delayMs, message };
}

/** Every slot of the endpoint is used by other processes: nothing was written or sent. */
class NoSlot extends Error {}

/** Another process ended the delivery, or it was resent, since it was loaded: nothing was written or sent. */
class NotOpen extends Error {}

/**
 * The delivery with the number of the attempt that is due now, or what to do instead. An open
 * attempt is ended before anything else, also that of a delivery which is over: the actor that
 * is told so ends, and then nobody would.
 */
async function loadDue(
  deps: DeliverDeps,
  deliveryId: string,
): Promise<{ delivery: DueDelivery; number: number } | DeliverResult> {
  const delivery = await loadDelivery(deps.orm.em.fork(), deliveryId);
  if (!delivery) return { kind: 'done', status: 'failed', message: 'there is no such delivery' };
  if (delivery.open)
    return (await settle(deps, delivery.id, delivery.open)) ?? (await loadDue(deps, deliveryId));
  if (delivery.status !== 'pending')
    return { kind: 'done', status: delivery.status, message: `already ${delivery.status}` };
  if (delivery.endpoint.deleted || !delivery.endpoint.enabled) {
    await giveUp(deps, delivery);
    return {
      kind: 'done',
      status: 'failed',
      message: `the endpoint was ${delivery.endpoint.deleted ? 'deleted' : 'disabled'}`,
    };
  }
  const turn = await turnOf(deps, delivery);
  return typeof turn === 'number' ? { delivery, number: turn } : turn;
}

/** Ends an attempt that cannot be under way any more; or says for how long it may be. */
async function settle(
  deps: DeliverDeps,
  deliveryId: string,
  open: OpenAttempt,
): Promise<DeliverResult | undefined> {
  const leftMs = open.startedAt.getTime() + ATTEMPT_ENDS_AFTER_MS - deps.now().getTime();
  if (leftMs > 0)
    return { kind: 'later', delayMs: leftMs, message: `attempt ${open.number} may still be under way` };
  const endedAt = new Date(open.startedAt.getTime() + WEBHOOK_LIMITS.attemptMs);
  if (await endInterrupted(deps.orm.em.fork(), deliveryId, open, endedAt)) return undefined;
  const message = `attempt ${open.number} has ended at this moment`;
  return { kind: 'later', delayMs: LOOK_AGAIN_MS, message };
}

/** The number of the attempt that is due now, or what to do instead. */
async function turnOf(deps: DeliverDeps, delivery: DueDelivery): Promise<number | DeliverResult> {
  const { last } = delivery;
  const now = deps.now().getTime();
  if (!last) return waitsForResend(delivery, now) ?? (await waitsForEarlier(deps, delivery)) ?? 1;
  if (last.number >= deps.settings.webhookMaxAttempts) {
    await giveUp(deps, delivery);
    return { kind: 'done', status: 'failed', message: `all ${last.number} attempts are used up` };
  }
  const dueAt = last.finishedAt.getTime() + paced(deps, backoffAfterMs(last.number));
  if (now < dueAt)
    return {
      kind: 'later',
      delayMs: Math.max(1, dueAt - now),
      message: `attempt ${last.number + 1} is due in ${dueAt - now} ms`,
    };
  return last.number + 1;
}

async function giveUp(deps: DeliverDeps, delivery: DueDelivery): Promise<void> {
  await closeDelivery(deps.orm.em.fork(), deps, delivery);
  reportEnd(deps, delivery, 'failed');
}

function reportEnd(deps: DeliverDeps, delivery: DueDelivery, result: 'succeeded' | 'failed'): void {
  const lateMs = delivery.round === 1 ? deps.now().getTime() - delivery.createdAt.getTime() : undefined;
  deps.deliveryReport?.ended({ mode: delivery.mode, result, lateMs });
}

/**
 * When many deliveries are resent at once, their first attempts are
 * spread over some minutes, whatever starts their actors and when.
 */
function waitsForResend(delivery: DueDelivery, now: number): DeliverResult | undefined {
  const leftMs = delivery.round > 1 && delivery.nextAttemptAt ? delivery.nextAttemptAt.getTime() - now : 0;
  return leftMs > 0
    ? { kind: 'later', delayMs: leftMs, message: `this resend is due in ${leftMs} ms` }
    : undefined;
}

async function attempt(
  deps: DeliverDeps,
  delivery: DueDelivery,
  turn: { number: number; slot: Slot },
): Promise<DeliverResult> {
  const { number } = turn;
  let sent: { outcome: Outcome; lease: Lease };
  try {
    sent = await post(deps, delivery, turn);
  } catch (error) {
    if (error instanceof NoSlot) return waitsForSlot(deps, delivery);
    if (error instanceof NotOpen) {
      const message = `the delivery ended, or was resent, before attempt ${number} could begin`;
      return { kind: 'later', delayMs: LOOK_AGAIN_MS, message };
    }
    throw error;
  }
  const { outcome } = sent;
  const verdict = classify(outcome);
  const more = verdict === 'retry' && number < deps.settings.webhookMaxAttempts;
  const delayMs = paced(deps, backoffAfterMs(number));
  await recordEnd(deps, delivery, { number, ...sent, more, delayMs });
  if (!more) reportEnd(deps, delivery, verdict === 'succeeded' ? 'succeeded' : 'failed');
  const message = describeOutcome(outcome, hostOf(delivery.endpoint.url));
  if (verdict === 'succeeded') return { kind: 'done', status: 'succeeded', message };
  if (more) return { kind: 'retry', delayMs, message: `attempt ${number}: ${message}` };
  return { kind: 'done', status: 'failed', message: `attempt ${number}: ${message}` };
}

/**
 * One POST under a slot of the whole installation. Throws {@link NoSlot} when there
 * is none, and {@link NotOpen} when the delivery no longer wants this attempt.
 */
async function post(
  deps: DeliverDeps,
  delivery: DueDelivery,
  { number, slot }: { number: number; slot: Slot },
): Promise<{ outcome: Outcome; lease: Lease }> {
  const secrets = secretsOf(deps.secretBox, delivery.endpoint, deps.now());
  let lease: Lease | undefined;
  const outcome = await deps.transport.post({
    url: delivery.endpoint.url,
    body: delivery.body,
    headers: () =>
      buildHeaders({
        eventId: delivery.eventId,
        event: delivery.eventType,
        attempt: number,
        sentAt: deps.now(),
        body: delivery.body,
        secrets,
      }),
    onLookup: async () => {
      const taken = await beginAttempt(deps.orm.em.fork(), deps, delivery, {
        number,
        preferred: slot.number,
      });
      if (taken === 'over') throw new NotOpen('the delivery is no longer on its way');
      if (taken === 'full') throw new NoSlot('no free slot');
      lease = taken;
      if (number === 1 && delivery.round === 1)
        deps.deliveryReport?.begun({
          mode: delivery.mode,
          lateMs: deps.now().getTime() - delivery.createdAt.getTime(),
        });
    },
  });
  if (!lease) throw new Error('the transport sent an attempt without its row');
  return { outcome, lease };
}

/**
 * Writes the result of a POST that has happened. It is worth waiting for the database
 * for some time, because without the result the receiver gets the event once more.
 */
async function recordEnd(
  deps: Deps,
  delivery: DueDelivery,
  end: { number: number; outcome: Outcome; lease: Lease; more: boolean; delayMs: number },
): Promise<void> {
  const { number, outcome, lease } = end;
  for (let tries = 1; ; tries += 1) {
    try {
      const nextAttemptAt = end.more ? new Date(deps.now().getTime() + end.delayMs) : null;
      await endAttempt(deps.orm.em.fork(), deps, delivery, {
        number,
        outcome,
        lease,
        verdict: classify(outcome),
        nextAttemptAt,
      });
      return;
    } catch (error) {
      if (tries >= RECORD_TRIES) throw error;
      await pause(RECORD_PAUSE_MS);
    }
  }
}
