import { OperatorError } from '../../../base/errors.ts';
import { Event } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import { MODES } from '../../../domain/assets.ts';
import { type AnyEventType, EVENT_TYPES, isoSeconds, TEST_EVENT } from '../../../domain/events.ts';
import { isUuid } from '../../../domain/ids.ts';
import type { Deps } from '../../../services/deps.ts';
import type { Pages } from '../../../services/find/found.ts';
import { requireKnownMerchant } from '../../../services/merchants/known.ts';
import { deliveriesOf } from '../../../services/webhooks/shown/subject-events.ts';

const ABOUT_SHOWN = 100;

export type EventFilters = {
  readonly merchant?: string;
  readonly about?: string;
  readonly type?: AnyEventType;
  readonly limit: number;
};

/**
 * Events of every merchant, newest first. Without a merchant they are read by their ids, which begin with
 * their time, so that only the newest months are read. Refuses an unknown merchant.
 */
export async function listAllEvents(deps: Deps, { merchant, about, type, limit }: EventFilters) {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchant);
  if (about !== undefined && !isUuid(about))
    throw new OperatorError(
      `${about.slice(0, 100)} is no id`,
      'Give the id of a deposit, a customer, a payment link or an endpoint',
    );
  const types = type === undefined ? [...EVENT_TYPES, TEST_EVENT] : [type];
  if (about === undefined && merchant !== undefined)
    return (await em.find(Event, { id: { $in: await newestOf(em, { merchant, types, limit }) } }))
      .toSorted((one, other) => (one.id < other.id ? 1 : -1))
      .map(viewOf);
  const where = {
    ...(about === undefined ? {} : { subjectId: about }),
    ...(merchant === undefined ? {} : { merchantId: merchant }),
    ...(type === undefined ? {} : { type }),
  };
  return (await em.find(Event, where, { limit, orderBy: { id: 'desc' } })).map(viewOf);
}

type OfMerchant = { readonly merchant: string; readonly types: readonly string[]; readonly limit: number };

/** The index has the events of a merchant, a mode and a type in order. */
async function newestOf(em: Em, { merchant, types, limit }: OfMerchant): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ id: string }>`
      select r.id from unnest(${[...MODES]}::text[]) as which(mode)
      cross join unnest(${[...types]}::text[]) as what(type)
      cross join lateral (select id, created_at from events where merchant_id = ${merchant}
        and mode = which.mode and type = what.type order by created_at desc, id desc limit ${limit}) r
      order by r.created_at desc, r.id desc limit ${limit}`,
  );
  return found.map(({ id }) => id);
}

/** The events about a subject, oldest first, with how its deliveries stand in words. */
export async function eventsAbout(em: Em, subjectId: string) {
  const found = await em.find(
    Event,
    { subjectId },
    { limit: ABOUT_SHOWN, orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const deliveries = await deliveriesOf(
    em,
    found.map(({ id }) => id),
  );
  return found.map((event) => {
    const own = deliveries.filter((delivery) => delivery.event_id === event.id);
    const said = own.map(({ status, url }) => `${status} to ${hostOf(url)}`).join(', ');
    return { ...viewOf(event), deliveries: said === '' ? 'nobody had asked for it' : said };
  });
}

/** One event as it was sent, with its deliveries and their attempts. Throws an OperatorError. */
export async function readEventInFull(deps: Deps, pages: Pages, id: string) {
  const em = deps.orm.em.fork();
  const event = isUuid(id) ? await em.findOne(Event, id) : null;
  if (!event)
    throw new OperatorError(
      `There is no event ${id.slice(0, 100)}`,
      'List them with "gateway event list --merchant ID"',
    );
  return {
    ...viewOf(event),
    body: Buffer.from(event.body).toString('utf8'),
    deliveries: await deliveriesOf(em, [event.id]),
    dashboard: pages.dashboard(event.mode, `/events/${event.id}`),
  };
}

function viewOf(event: Event) {
  return {
    id: event.id,
    event: event.type,
    merchant_id: event.merchantId,
    is_live: event.mode === 'live',
    about: event.subjectId,
    sequence: event.sequence,
    timestamp: isoSeconds(event.occurredAt),
  };
}

/** The host of a receiver: all of its URL that a list has room for. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an unknown host';
}
