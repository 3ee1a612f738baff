import { type DeliveryView, deliveryQuery } from '../../../contract/event.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../../domain/events.ts';
import { listDeliveries } from '../../../services/webhooks/reads.ts';
import { endpointHealth } from '../../../services/webhooks/shown/health.ts';
import { foreign, type Html, html } from '../../html.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField } from '../../parts/field.ts';
import type { Column } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { actButton } from '../ask.ts';
import { crumb } from '../heading.ts';
import { listScreen } from '../list.ts';
import { DELIVERY_STATUS_CHOICES, deliveryBadge } from '../states.ts';
import type { ReadPage, Screen, Visit } from '../visit.ts';
import { resendFailedCard } from './resend.ts';

/** Whose log it is: an endpoint's, or that of a payment link with a webhook address of its own. */
type Log = {
  readonly id: string;
  readonly url: string;
  readonly of: 'endpoints' | 'links';
  /** What the way back says. */
  readonly label: string;
};

/** What was sent to an endpoint: each delivery with its attempts. */
export const ENDPOINT_DELIVERIES_PAGE: ReadPage = {
  path: '/endpoints/:id/deliveries',
  show: async (visit) => {
    const { deps, scope, params } = visit;
    const { endpoint, failed } = await endpointHealth(deps, { ...scope, id: params['id'] ?? '' });
    const { id, url, enabled } = endpoint;
    const screen = await deliveriesScreen(visit, { id, url, of: 'endpoints', label: 'The endpoint' });
    return enabled && failed.count > 0
      ? { ...screen, body: html`${screen.body}${resendFailedCard(visit, id)}` }
      : screen;
  },
};

/** The log of one endpoint, with the filters of the API. */
export async function deliveriesScreen(visit: Visit, { id, url, of, label }: Log): Promise<Screen> {
  const screen = await listScreen(visit, {
    path: `/${of}/${id}/deliveries`,
    title: 'Deliveries',
    noun: ['delivery', 'deliveries'],
    query: deliveryQuery,
    load: (deps, asked) => listDeliveries(deps, { ...asked, id }),
    columns: () => deliveryColumns(visit, of),
    filters: (
      values,
      errors,
    ) => html`${selectField({ name: 'status', label: 'State', value: values['status'], error: errors['status'] }, DELIVERY_STATUS_CHOICES)}
${selectField({ name: 'event', label: 'Event', value: values['event'], error: errors['event'] }, EVENT_CHOICES)}`,
    empty: () =>
      emptyState(
        'No deliveries',
        'Every event that is sent to it stands here for some time, with each attempt.',
        {
          href: visit.to(`/${of}/${id}`),
          label,
        },
      ),
  });
  const top = html`${crumb(visit.to(`/${of}/${id}`), label)}<p class="muted">Sent to ${foreign(url)}</p>`;
  return { ...screen, body: html`${top}${screen.body}` };
}

const EVENT_CHOICES = [
  { value: '', label: 'Any' },
  ...[...EVENT_TYPES, TEST_EVENT].map((name) => ({ value: name, label: name })),
];

/** What a list says of each delivery; `of` is where the log stands to which a resend leads back. */
export function deliveryColumns(visit: Visit, of: Log['of'] | 'events'): readonly Column<DeliveryView>[] {
  return [
    {
      head: 'Event',
      cell: (row) => html`<a class="whole" href="${visit.to(`/events/${row.event_id}`)}">${row.event}</a>`,
    },
    { head: 'Since', cell: (row) => time(row.created_at) },
    { head: 'State', cell: (row) => stateOf(row) },
    {
      head: 'Attempts',
      cell: (row) => attempts(row, of === 'events' ? row.attempts.length : ATTEMPTS_LISTED),
    },
    {
      head: 'Again',
      cell: (row) =>
        row.status === 'pending'
          ? '–'
          : actButton(visit, {
              path: `/deliveries/${row.id}/resend`,
              label: 'Send again',
              name: `Send again: ${row.event}`,
              hidden: { of },
            }),
    },
  ];
}

function stateOf({ status, next_attempt_at: next }: DeliveryView): Html {
  return html`${deliveryBadge(status)}${next === null ? null : html`<br>Next attempt ${time(next)}`}`;
}

/** In a list; the page of the event has more of them. */
const ATTEMPTS_LISTED = 5;

function attempts({ attempts: all }: DeliveryView, most: number): Html {
  if (all.length === 0) return html`None yet`;
  const rounds = new Set(all.map(({ round }) => round)).size > 1 || all[0]?.round !== 1;
  const before = all.length > most ? html`<p class="muted">The event has those before.</p>` : null;
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
  const took = ms === null ? null : ` after ${ms} ms`;
  if (status !== null) return html`<strong>HTTP ${status}</strong>${took}`;
  // The words of an error that took its time say how long, too.
  if (error !== null)
    return html`<strong>${foreign(error)}</strong>${error.endsWith(`, ${ms} ms`) ? null : took}`;
  return html`on its way`;
}
