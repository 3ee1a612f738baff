import { type DeliveryView, deliveryQuery, resendFailedBody } from '../../../contract/event.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../../domain/events.ts';
import { Refusal } from '../../../services/refusal.ts';
import { getEndpoint } from '../../../services/webhooks/endpoints.ts';
import { listDeliveries } from '../../../services/webhooks/reads.ts';
import { RESEND_BATCH, resendDelivery, resendFailed } from '../../../services/webhooks/resend.ts';
import type { StoryDelivery } from '../../../services/webhooks/shown/subject-events.ts';
import { foreign, type Html, html, plainText } from '../../html.ts';
import { time } from '../../parts/time.ts';
import { anyName, checked, select, text } from '../fields.ts';
import { actButton, type FormParts, form, formCard, hiddenFields, untouched } from '../form.ts';
import { list } from '../list.ts';
import { type ColumnOf, type LinkTo, nothing, type Rows, when } from '../pieces.ts';
import type { DashboardPage, Visit } from '../visit.ts';
import { DELIVERY } from './states.ts';

/** The names of all events, as the choices of a filter. */
export const EVENT_CHOICES = anyName([...EVENT_TYPES, TEST_EVENT]);

/** Where a resend leads back to: the page of what the delivery was sent to, or the event's. */
type Back = 'endpoints' | 'links' | 'events';

const LABELS: Readonly<Record<Back, string>> = {
  endpoints: 'Webhook endpoints',
  links: 'Payment links',
  events: 'Events',
};

type Log = { readonly url: string; readonly back: LinkTo; readonly below?: Html | null };

/** What was sent to an endpoint, or to the own webhook of a link: each delivery with its attempts. */
export function deliveryLog(path: string, logOf: (visit: Visit) => Promise<Log>): DashboardPage[] {
  const of = path.startsWith('/links') ? 'links' : 'endpoints';
  return list({
    path,
    title: 'Deliveries',
    noun: ['delivery', 'deliveries'],
    query: deliveryQuery,
    load: (deps, asked, { named }) => listDeliveries(deps, { ...asked, ...named }),
    rows: deliveryRows(of),
    filters: [select('status', 'State', DELIVERY.choices), select('event', 'Event', EVENT_CHOICES)],
    empty: ({ named }) => ({
      title: 'No deliveries',
      text: 'Every event that is sent to it stands here for some time, with each attempt.',
      way: [`/${of}/${named.id}`, of === 'links' ? 'The link' : 'The endpoint'],
    }),
    around: async (visit) => {
      const { url, ...log } = await logOf(visit);
      return { ...log, above: nothing(html`Sent to ${foreign(url)}`) };
    },
  });
}

type Delivered = DeliveryView & Partial<Pick<StoryDelivery, 'endpoint_deleted'>>;

function rowsOf<Row extends Delivered>(of: Back, to: readonly ColumnOf<Row>[], isBrief: boolean): Rows<Row> {
  const most = (row: Row) => (of === 'events' ? row.attempts.length : LISTED);
  const each: ColumnOf<Row> = { head: 'Attempts', cell: (row) => attempts(row, most(row)) };
  return {
    link: (row) => `/events/${row.event_id}`,
    columns: [
      { head: 'Event', cell: ({ event }) => html`<span class="whole">${event}</span>` },
      ...to,
      { head: 'Since', cell: (row) => time(row.created_at) },
      {
        head: 'State',
        cell: ({ status, next_attempt_at: next }) =>
          html`${DELIVERY.badge(status)}${when(next, (at) => html`<br>Next attempt ${time(at)}`)}`,
      },
      ...(isBrief ? [] : [each]),
      {
        head: 'Again',
        cell: ({ id, event, status, endpoint_deleted: gone }, visit) => {
          const act = { path: `/deliveries/${id}/resend`, label: 'Send again', name: `Send again: ${event}` };
          return status === 'pending' || gone ? '–' : actButton(visit, { ...act, hidden: { of } });
        },
      },
    ],
  };
}

/** What a list says of each delivery; `of` is where the log stands to which a resend leads back. */
export const deliveryRows = (of: Back): Rows<DeliveryView> => rowsOf(of, [], false);

/**
 * What is said of deliveries to several endpoints: `briefly` without each attempt. Nothing can be sent again
 * to an endpoint that is deleted.
 */
export const sentRows = (how: 'in full' | 'briefly'): Rows<StoryDelivery> =>
  rowsOf('events', [{ head: 'To', cell: receiver }], how === 'briefly');

/** Where it was sent; what no endpoint of the list has any more, or never had, is no link. */
function receiver(row: StoryDelivery, { to }: Visit): Html {
  const { url, endpoint_id: id, endpoint_deleted: gone, of_link: ofLink } = row;
  if (ofLink) return html`${shownUrl(url)}<br><span class="muted">The own webhook of the link</span>`;
  if (gone) return html`${shownUrl(url)}<br><span class="muted">Deleted since</span>`;
  return html`<a href="${to(`/endpoints/${id}`)}">${shownUrl(url)}</a>`;
}

/** Longer than the addresses that people give their servers. */
const LONGEST = 120;
const BEGINNING = 80;

/**
 * The address of an endpoint where many stand together. Of a very long one the middle is left out: whose
 * server it is comes first, and its end tells it from others that begin alike.
 */
export function shownUrl(url: string): Html {
  const shown = plainText(url);
  if (shown.length <= LONGEST) return foreign(shown);
  return foreign(`${shown.slice(0, BEGINNING)}…${shown.slice(BEGINNING - LONGEST + 1)}`);
}

/**
 * What is said where no delivery of an event of this time is found: those that are over are removed after a
 * while, and the event stays.
 */
export function noDeliveries({ deps }: Visit, at: string): string {
  const age = deps.now().getTime() - Date.parse(at);
  return age < deps.settings.webhookRetentionMs
    ? 'No endpoint was to be told.'
    : 'What was sent is not here any more: deliveries are kept for a limited time.';
}

/** Attempts in a list; the page of the event has more of them. */
const LISTED = 5;

function attempts({ attempts: all }: DeliveryView, most: number): Html {
  if (all.length === 0) return html`None yet`;
  const rounds = new Set(all.map(({ round }) => round)).size > 1 || all[0]?.round !== 1;
  const before = all.length > most ? nothing('The event has those before.') : null;
  return html`${before}<ol class="rows">${all
    .slice(-most)
    .map(
      ({ round, number, started_at: at, ...attempt }) =>
        html`<li>${rounds ? `Sending ${round}, attempt ${number}` : `Attempt ${number}`}: ${outcome(attempt)}<br>${time(at)}</li>\n`,
    )}</ol>`;
}

/** What came of an attempt; an error is in the words of the gateway and may name a stranger's host. */
export function outcome(
  attempt: Pick<DeliveryView['attempts'][number], 'status_code' | 'error' | 'duration_ms'>,
): Html {
  const { status_code: status, error, duration_ms: ms } = attempt;
  const took = when(ms, () => ` after ${ms} ms`);
  if (status !== null) return html`<strong>HTTP ${status}</strong>${took}`;
  // The words of an error that took its time say how long, too.
  if (error !== null)
    return html`<strong>${foreign(error)}</strong>${error.endsWith(`, ${ms} ms`) ? null : took}`;
  return html`on its way`;
}

/** Sends one finished delivery again: the same event, the same bytes. */
export const RESEND = form({
  path: '/deliveries/:id/resend',
  guard: 'none',
  byButton: true,
  shows: (_visit, { values }) => {
    const of = backOf(values['of']);
    return {
      title: 'Send a delivery again',
      back: [`/${of}`, LABELS[of]],
      text: 'The same event and the same bytes go out once more, with a new round of attempts.',
      fields: [hiddenFields({ of })],
      button: 'Send it again',
    };
  },
  read: (_visit, values) => ({ input: backOf(values['of']) }),
  apply: async (tx, deps, { visit, input: of }) => {
    const view = await resendDelivery(tx, deps, visit.named);
    return of === 'events' ? `/events/${view.event_id}` : `/${of}/${view.endpoint_id}/deliveries`;
  },
});

function backOf(given: string | undefined): Back {
  return given === 'links' || given === 'events' ? given : 'endpoints';
}

const AGAIN = { path: '/endpoints/:id/resend-failed', guard: 'none' } as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WEEK_MS = 7 * 24 * 3_600_000;

/** Sends everything again that failed at an endpoint since a day. */
export const RESEND_FAILED = form({
  ...AGAIN,
  byButton: true,
  shows: async ({ deps, named }) => againForm((await getEndpoint(deps, named)).id),
  read: (visit, { since = '' }) => {
    const day = since.trim();
    return checked(visit, resendFailedBody, { since: DAY.test(day) ? `${day}T00:00:00Z` : day });
  },
  apply: async (tx, deps, { visit: { named }, input: { since } }) => {
    const { resent } = await resendFailed(tx, deps, { ...named, since });
    if (resent === 0) throw new Refusal('INVALID', 'Nothing has failed there since that day.', 'since');
    return `/endpoints/${named.id}/deliveries?status=pending`;
  },
});

function againForm(id: string): FormParts {
  return {
    title: 'Send what failed again',
    back: [`/endpoints/${id}`, 'The endpoint'],
    text: `The same events and bytes, the oldest first, ten a second and at most ${RESEND_BATCH} at one go. What is on its way is left alone.`,
    fields: [text('since', 'What failed since this day (UTC)', ' type="date"', { required: true })],
    button: 'Send all of it again',
    look: 'quiet',
  };
}

/** A card with the form that sends everything again that failed since a day; a week ago is put in. */
export function resendFailedCard(visit: Visit): Html {
  const since = new Date(visit.deps.now().getTime() - WEEK_MS).toISOString().slice(0, 10);
  const shown = againForm(visit.named.id);
  const options = { id: 'resend-failed', title: shown.title };
  return formCard(visit, { ...untouched(visit), values: { since } }, AGAIN, { ...shown, card: options });
}
