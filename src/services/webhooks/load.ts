import type { EarlierSecret } from '../../db/entities/webhooks/webhook-endpoint.ts';
import type { Em } from '../../db/orm.ts';
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
  readonly body: Buffer;
  readonly endpoint: {
    readonly id: string;
    /** Whose connections are counted: the endpoint's, or those of all payment links of the merchant that name the same URL. */
    readonly slotOwner: string;
    readonly url: string;
    readonly enabled: boolean;
    readonly deleted: boolean;
    readonly secretSealed: Buffer;
    readonly earlierSecrets: readonly EarlierSecret[];
  };
  /** The newest attempt of this round, if there is one. */
  readonly last: { readonly number: number; readonly startedAt: Date; readonly finishedAt: Date | null } | undefined;
};

type Row = {
  id: string;
  status: DueDelivery['status'];
  round: number;
  next_attempt_at: string | Date | null;
  created_at: string | Date;
  event_id: string;
  merchant_id: string;
  mode: Mode;
  event_type: string;
  body: Buffer;
  endpoint_id: string;
  slot_owner: string;
  url: string;
  enabled: boolean;
  deleted: boolean;
  secret_sealed: Buffer;
  earlier_secrets: readonly EarlierSecret[];
  number: number | null;
  started_at: string | Date | null;
  finished_at: string | Date | null;
};

/**
 * Every payment link has an endpoint of its own, so a shop's links are held together by what they have in common: the URL less its query, in one mode.
 * A question mark written out here would be taken for a parameter.
 */
const SLOT_OWNER = `case when w.payment_link_id is null then w.id else md5(w.merchant_id::text || w.mode || split_part(w.url, chr(63), 1))::uuid end`;

/** Reads a delivery with its event, endpoint and newest attempt. Undefined for an unknown id. */
export async function loadDelivery(em: Em, deliveryId: string): Promise<DueDelivery | undefined> {
  if (!isUuid(deliveryId)) return undefined;
  const rows = await em.execute<Row[]>(
    `select d.id, d.status, d.round, d.next_attempt_at, d.created_at, d.event_id, d.event_type, e.body, e.merchant_id, e.mode, w.id as endpoint_id, ${SLOT_OWNER} as slot_owner, w.url, w.enabled, w.deleted_at is not null as deleted,
       w.secret_sealed, w.earlier_secrets, a.number, a.started_at, a.finished_at
     from webhook_deliveries d
     join events e on e.id = d.event_id and e.id between ? and ?
     join webhook_endpoints w on w.id = d.endpoint_id
     left join lateral (select number, started_at, finished_at from webhook_attempts where delivery_id = ? and round = d.round order by number desc limit 1) a on true
     where d.id = ?`,
    [...idsOfMoment(deliveryId), deliveryId, deliveryId],
  );
  const row = rows[0];
  return row ? fromRow(row) : undefined;
}

function fromRow(row: Row): DueDelivery {
  return {
    ...{
      id: row.id,
      status: row.status,
      round: row.round,
      merchantId: row.merchant_id,
      mode: row.mode,
      eventId: row.event_id,
      eventType: row.event_type,
      body: row.body,
    },
    nextAttemptAt: dateOf(row.next_attempt_at),
    createdAt: new Date(row.created_at),
    endpoint: {
      ...{ id: row.endpoint_id, slotOwner: row.slot_owner, url: row.url, enabled: row.enabled, deleted: row.deleted },
      secretSealed: row.secret_sealed,
      earlierSecrets: row.earlier_secrets,
    },
    last:
      row.number === null || row.started_at === null
        ? undefined
        : { number: row.number, startedAt: new Date(row.started_at), finishedAt: dateOf(row.finished_at) },
  };
}

const dateOf = (value: string | Date | null): Date | null => (value === null ? null : new Date(value));

/**
 * The secrets that sign this attempt: the current one first, then those that were replaced within the last 24 hours, the newest first. One
 * that was replaced because no key opens it any more is left out; throws where the current one does not open.
 */
export function secretsOf(box: SealBox, endpoint: DueDelivery['endpoint'], now: Date): string[] {
  const earlier = endpoint.earlierSecrets.filter(({ until }) => new Date(until) > now);
  const known = earlier.flatMap(({ sealed }) => openedIfKnown(box, Buffer.from(sealed, 'base64'), endpoint.id) ?? []);
  return [box.open(endpoint.secretSealed, endpoint.id), ...known];
}
