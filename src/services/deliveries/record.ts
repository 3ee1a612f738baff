import type { Em } from '../../db/orm.ts';
import { describeOutcome, type Outcome, type Verdict } from '../../domain/webhook.ts';
import type { Deps } from '../deps.ts';
import type { DueDelivery } from './load.ts';

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
};

/** Writes the row of an attempt before anything is looked up or sent. The key makes sure that no number is used twice. */
export async function beginAttempt(em: Em, deps: Deps, delivery: DueDelivery, number: number): Promise<void> {
  await em.execute('insert into webhook_attempts (delivery_id, round, number, started_at) values (?, ?, ?, ?)', [
    ...[delivery.id, delivery.round, number, deps.now()],
  ]);
}

/** Writes how an attempt ended, what that means for the delivery, and the endpoint's health, in one statement. */
export async function endAttempt(em: Em, deps: Deps, delivery: DueDelivery, end: AttemptEnd): Promise<void> {
  const { outcome } = end;
  const now = deps.now();
  const statusCode = outcome.kind === 'response' ? outcome.status : null;
  const error = end.verdict === 'succeeded' ? null : describeOutcome(outcome, hostOf(delivery.endpoint.url)).slice(0, 290);
  const body = outcome.kind === 'response' ? outcome.bodyText.replaceAll('\0', '').slice(0, 4096) : null;
  const open = end.nextAttemptAt !== null;
  const status = end.verdict === 'succeeded' ? 'succeeded' : open ? 'pending' : 'failed';
  await em.execute(
    `with a as (
       update webhook_attempts set finished_at = ?, status_code = ?, error = ?, response_body = ?, duration_ms = ?
       where delivery_id = ? and round = ? and number = ?
     ), d as (
       update webhook_deliveries set status = ?, next_attempt_at = ?, finished_at = ? where id = ? and round = ? and status = 'pending'
     )
     ${HEALTH_SQL}`,
    [
      ...[now, statusCode, error, body, Math.round(outcome.durationMs), delivery.id, delivery.round, end.number],
      ...[status, end.nextAttemptAt, open ? null : now, delivery.id, delivery.round],
      ...healthParams({ ok: end.verdict === 'succeeded', gone: statusCode === GONE, statusCode, now, endpointId: delivery.endpoint.id }),
    ],
  );
}

/** Health of the endpoint: counts failures in a row and disables it by the two rules (410 for an hour, or nothing but failures for five days). */
const HEALTH_SQL = `update webhook_endpoints set
       last_delivery_at = ?, last_status_code = ?,
       consecutive_failures = case when ?::boolean then 0 else consecutive_failures + 1 end,
       failing_since = case when ?::boolean then null else coalesce(failing_since, ?::timestamptz) end,
       gone_count = case when ?::boolean then gone_count + 1 else 0 end,
       gone_since = case when ?::boolean then coalesce(gone_since, ?::timestamptz) else null end,
       enabled = enabled and not (?::boolean and gone_count + 1 >= ${GONE_DELIVERIES} and coalesce(gone_since <= ?::timestamptz, false))
                         and not (not ?::boolean and coalesce(failing_since <= ?::timestamptz, false)),
       disabled_reason = case
         when enabled and ?::boolean and gone_count + 1 >= ${GONE_DELIVERIES} and coalesce(gone_since <= ?::timestamptz, false) then 'it answered 410 Gone for more than an hour'
         when enabled and not ?::boolean and coalesce(failing_since <= ?::timestamptz, false) then 'every delivery failed for five days'
         else disabled_reason end
     where id = ?`;

function healthParams(health: { ok: boolean; gone: boolean; statusCode: number | null; now: Date; endpointId: string }): unknown[] {
  const { ok, gone, statusCode, now, endpointId } = health;
  const goneBefore = new Date(now.getTime() - GONE_FOR_MS);
  const failingBefore = new Date(now.getTime() - FAILING_FOR_MS);
  return [
    now,
    statusCode,
    ok,
    ok,
    now,
    gone,
    gone,
    now,
    gone,
    goneBefore,
    ok,
    failingBefore,
    gone,
    goneBefore,
    ok,
    failingBefore,
    endpointId,
  ];
}

/** Ends an attempt whose end was never written (a crash between the POST and its record): it counts as sent. */
export async function endInterrupted(em: Em, delivery: DueDelivery, number: number, endedAt: Date): Promise<void> {
  await em.execute(
    `update webhook_attempts set finished_at = ?, error = 'interrupted before its result was written; it may have arrived'
     where delivery_id = ? and round = ? and number = ? and finished_at is null`,
    [endedAt, delivery.id, delivery.round, number],
  );
}

/** Closes a delivery as failed without a further attempt: its attempts are used up, or its endpoint is gone. */
export async function closeDelivery(em: Em, deps: Deps, delivery: DueDelivery): Promise<void> {
  await em.execute(
    `update webhook_deliveries set status = 'failed', next_attempt_at = null, finished_at = ? where id = ? and round = ? and status = 'pending'`,
    [...[deps.now(), delivery.id, delivery.round]],
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
