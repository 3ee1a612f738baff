import type { Em } from '../../db/orm.ts';
import { run, type Statement, sql } from '../../db/sql.ts';
import { fitted, MAX_REASON } from '../../domain/text.ts';
import { describeOutcome, type Outcome, type Verdict } from '../../domain/webhook.ts';
import type { Deps } from '../deps.ts';
import type { Lease } from './lease.ts';
import type { DueDelivery, OpenAttempt } from './load.ts';

const GONE = 410;
const GONE_DELIVERIES = 3;
const GONE_FOR_MS = 60 * 60_000;
const FAILING_FOR_MS = 5 * 24 * 60 * 60_000;

export type AttemptEnd = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
  /** When the next attempt is due, or null when there is none. */
  readonly nextAttemptAt: Date | null;
  readonly lease: Lease;
};

/**
 * Writes how an attempt ended, what that means for the delivery, and the
 * endpoint's health, and gives the slot back, in one statement. A slot whose
 * lease ran out meanwhile may belong to another attempt by now and is left alone.
 */
export async function endAttempt(em: Em, deps: Deps, delivery: DueDelivery, end: AttemptEnd): Promise<void> {
  const { outcome } = end;
  const now = deps.now();
  const statusCode = outcome.kind === 'response' ? outcome.status : null;
  const error =
    end.verdict === 'succeeded'
      ? null
      : fitted(describeOutcome(outcome, hostOf(delivery.endpoint.url)), MAX_REASON);
  const body = outcome.kind === 'response' ? outcome.bodyText.replaceAll('\0', '').slice(0, 4096) : null;
  const open = end.nextAttemptAt !== null;
  const status = end.verdict === 'succeeded' ? 'succeeded' : open ? 'pending' : 'failed';
  const { endpoint, id, round } = delivery;
  await run(
    em,
    sql`with a as (
       update webhook_attempts set finished_at = ${now}, status_code = ${statusCode}, error = ${error},
         response_body = ${body},
         duration_ms = ${Math.round(outcome.durationMs)}
       where delivery_id = ${id} and round = ${round} and number = ${end.number}
     ), d as (
       update webhook_deliveries set status = ${status}, next_attempt_at = ${end.nextAttemptAt},
         finished_at = ${open ? null : now}
       where id = ${id} and round = ${round} and status = 'pending'
     ), s as (
       update webhook_slots set held_until = '-infinity'
       where owner_id = ${endpoint.slotOwner} and slot = ${end.lease.slot}
         and held_until = ${end.lease.token}::timestamptz
     )
     ${health(endpoint.id, { ok: end.verdict === 'succeeded', ended: !open, statusCode, now })}`,
  );
}

const IS_GONE = sql`v.ended and v.gone and w.gone_count + 1 >= ${GONE_DELIVERIES}
  and coalesce(w.gone_since <= v.gone_before, false)`;
const IS_FAILING = sql`v.ended and not v.ok and coalesce(w.failing_since <= v.failing_before, false)`;

/**
 * Updates the health of the endpoint. Failed attempts are counted and dated one by one; 410 is counted by
 * delivery, because an attempt that is tried again says nothing final yet. Only the end of a delivery
 * disables the endpoint: three in a row that ended with 410 over at least an hour, or one that failed after
 * five days without any success. So one hiccup after a quiet week costs no merchant an event. A success
 * within the same second as the last one changes nothing that anybody sees, and must not queue for the row.
 */
function health(
  endpointId: string,
  end: { ok: boolean; ended: boolean; statusCode: number | null; now: Date },
): Statement<unknown> {
  const { ok, ended, statusCode, now } = end;
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  return sql`update webhook_endpoints w set
       last_delivery_at = v.at, last_status_code = v.status_code,
       consecutive_failures = case when v.ok then 0 else w.consecutive_failures + 1 end,
       failing_since = case when v.ok then null else coalesce(w.failing_since, v.at) end,
       gone_count = case when not v.ended then w.gone_count when v.gone then w.gone_count + 1 else 0 end,
       gone_since = case when not v.ended then w.gone_since when v.gone then coalesce(w.gone_since, v.at) end,
       enabled = w.enabled and not (${IS_GONE}) and not (${IS_FAILING}),
       disabled_reason = case when not w.enabled then w.disabled_reason
         when ${IS_GONE} then 'it answered 410 Gone for an hour or more'
         when ${IS_FAILING} then 'every delivery failed for five days'
         else w.disabled_reason end
     from (select ${now}::timestamptz as at, ${statusCode}::int as status_code, ${ok}::boolean as ok,
       ${ended}::boolean as ended,
             ${statusCode === GONE}::boolean as gone, ${before(GONE_FOR_MS)}::timestamptz as gone_before,
             ${before(FAILING_FOR_MS)}::timestamptz as failing_before) v
     where w.id = ${endpointId} and (not v.ok or w.consecutive_failures > 0 or w.failing_since is not null
       or w.gone_count > 0
       or w.last_status_code is distinct from v.status_code
       or coalesce(date_trunc('second', w.last_delivery_at) < date_trunc('second', v.at), true))`;
}

/**
 * Ends an attempt whose end was never written (a crash between the POST and its record):
 * it counts as sent. Returns false when its end was written meanwhile, by a process that
 * had only stood still: then what was known of the delivery no longer holds.
 */
export async function endInterrupted(
  em: Em,
  deliveryId: string,
  { round, number }: OpenAttempt,
  endedAt: Date,
): Promise<boolean> {
  const ended = await run(
    em,
    sql`update webhook_attempts
     set finished_at = ${endedAt}, error = 'interrupted before its result was written; it may have arrived'
     where delivery_id = ${deliveryId} and round = ${round} and number = ${number}
       and finished_at is null`,
  );
  return ended > 0;
}

/**
 * Closes a delivery as failed without a further attempt: its attempts are used up, or its endpoint is gone.
 */
export async function closeDelivery(em: Em, deps: Deps, delivery: DueDelivery): Promise<void> {
  await run(
    em,
    sql`update webhook_deliveries set status = 'failed', next_attempt_at = null, finished_at = ${deps.now()}
     where id = ${delivery.id} and round = ${delivery.round} and status = 'pending'`,
  );
}

/** The host of a stored URL, for messages. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'an invalid URL';
  }
}
