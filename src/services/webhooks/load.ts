import type { EarlierSecret } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import { idsOfMoment, isUuid } from '../../domain/ids.ts';
import type { SealBox } from '../deps.ts';
import { openedIfKnown } from '../secrets/sealed.ts';

/** Everything one attempt needs, read in one query. */
export type DueDelivery = {
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly round: number;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly eventId: string;
  readonly eventType: string;
  readonly subjectId: string;
  /** The number of the event among those of its subject. */
  readonly sequence: number;
  readonly body: Buffer;
  readonly endpoint: {
    readonly id: string;
    /**
     * The owner by whom connections are counted: the endpoint, or
     * all payment links of the merchant that name the same URL.
     */
    readonly slotOwner: string;
    readonly url: string;
    readonly enabled: boolean;
    readonly deleted: boolean;
    readonly secretSealed: Buffer;
    readonly earlierSecrets: readonly EarlierSecret[];
  };
  /** An attempt without a result, of this sending or an earlier one: it is under way or was interrupted. */
  readonly open: OpenAttempt | undefined;
  /** The newest attempt of this sending, if there is one and nothing is open. */
  readonly last: { readonly number: number; readonly finishedAt: Date } | undefined;
};

export type OpenAttempt = { readonly round: number; readonly number: number; readonly startedAt: Date };

/** The row as the database writes it; the times are texts. */
type Row = Pick<
  DueDelivery,
  | 'id'
  | 'status'
  | 'round'
  | 'merchantId'
  | 'mode'
  | 'eventId'
  | 'eventType'
  | 'subjectId'
  | 'sequence'
  | 'body'
> &
  Omit<DueDelivery['endpoint'], 'id'> & {
    endpointId: string;
    nextAttemptAt: string | null;
    createdAt: string;
    attempt: { round: number; number: number; startedAt: string; finishedAt: string | null } | null;
  };

/**
 * Every payment link has an endpoint of its own, so a shop's links are counted
 * together by what they have in common: the URL without its query, in one mode.
 */
const SLOT_OWNER = sql`case when w.payment_link_id is null then w.id
  else md5(w.merchant_id::text || w.mode || split_part(w.url, '?', 1))::uuid end`;

/**
 * Reads a delivery with its event, its endpoint and the attempt that decides what
 * comes next: an open one, else the newest. Undefined for an unknown id.
 */
export async function loadDelivery(em: Em, deliveryId: string): Promise<DueDelivery | undefined> {
  if (!isUuid(deliveryId)) return undefined;
  const [first, last] = idsOfMoment(deliveryId);
  const row = await firstRow(
    em,
    sql<Row>`select d.id, d.status, d.round, d.next_attempt_at, d.created_at, d.event_id, d.event_type,
       e.subject_id, e.sequence, e.body, e.merchant_id, e.mode,
       w.id as endpoint_id, ${SLOT_OWNER} as slot_owner, w.url, w.enabled,
         w.deleted_at is not null as deleted, w.secret_sealed, w.earlier_secrets,
       a.attempt
     from webhook_deliveries d
     join events e on e.id = d.event_id and e.id between ${first} and ${last}
     join webhook_endpoints w on w.id = d.endpoint_id
     left join lateral (
       select json_build_object('round', round, 'number', number, 'startedAt', started_at,
           'finishedAt', finished_at) as attempt
         from webhook_attempts where delivery_id = ${deliveryId} and (round = d.round or finished_at is null)
         order by finished_at is null desc, round desc, number desc limit 1
     ) a on true
     where d.id = ${deliveryId}`,
  );
  return row && dueDelivery(row);
}

function dueDelivery({
  endpointId,
  slotOwner,
  url,
  enabled,
  deleted,
  secretSealed,
  earlierSecrets,
  attempt,
  ...delivery
}: Row): DueDelivery {
  const finishedAt = attempt?.finishedAt ?? null;
  return {
    ...delivery,
    nextAttemptAt: delivery.nextAttemptAt === null ? null : new Date(delivery.nextAttemptAt),
    createdAt: new Date(delivery.createdAt),
    endpoint: { id: endpointId, slotOwner, url, enabled, deleted, secretSealed, earlierSecrets },
    open:
      attempt && finishedAt === null
        ? { round: attempt.round, number: attempt.number, startedAt: new Date(attempt.startedAt) }
        : undefined,
    last:
      attempt && finishedAt !== null
        ? { number: attempt.number, finishedAt: new Date(finishedAt) }
        : undefined,
  };
}

/**
 * The secrets that sign this attempt: the current one first, then those that were
 * replaced within the last 24 hours, the newest first. One that was replaced because
 * no key opens it any more is left out; throws when the current one does not open.
 */
export function secretsOf(box: SealBox, endpoint: DueDelivery['endpoint'], now: Date): string[] {
  const earlier = endpoint.earlierSecrets.filter(({ until }) => new Date(until) > now);
  const known = earlier.flatMap(
    ({ sealed }) => openedIfKnown(box, Buffer.from(sealed, 'base64'), endpoint.id) ?? [],
  );
  return [box.open(endpoint.secretSealed, endpoint.id), ...known];
}
