import { eventQuery } from '../../../contract/event.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../../domain/events.ts';
import { type EventRow, listEvents } from '../../../services/webhooks/shown/event-reads.ts';
import { type Html, html } from '../../html.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField } from '../../parts/field.ts';
import { time } from '../../parts/time.ts';
import { createdFields, exactField } from '../filters.ts';
import { listScreen, type Values } from '../list.ts';
import type { ReadPage, Visit } from '../visit.ts';

const TYPES = [...EVENT_TYPES, TEST_EVENT] as const;

/** Every event, whether an endpoint was to be told of it or not. */
export const EVENTS_PAGE: ReadPage = {
  path: '/events',
  show: (visit) =>
    listScreen(visit, {
      path: '/events',
      title: 'Events',
      noun: ['event', 'events'],
      query: eventQuery,
      load: listEvents,
      columns: ({ to }) => [
        {
          head: 'Event',
          cell: (row: EventRow) => html`<a href="${to(`/events/${row.id}`)}">${row.event}</a>`,
        },
        { head: 'About', cell: (row) => subjectOf({ to }, row) },
        { head: 'Happened', end: true, cell: (row) => time(row.timestamp) },
      ],
      filters,
      csv: '/events.csv',
      empty: ({ to }) =>
        emptyState(
          'No events yet',
          'Whatever happens to deposits, links and customers stands here, as it is told to your endpoints.',
          {
            href: to('/endpoints'),
            label: 'Look at the endpoints',
          },
        ),
    }),
};

function filters(values: Values, errors: Values): Html {
  const names = TYPES.map((name) => ({ value: name, label: name }));
  return html`${selectField({ name: 'type', label: 'Event', value: values['type'], error: errors['type'] }, [{ value: '', label: 'Any' }, ...names])}
${exactField({ name: 'subject_id', label: 'Id of what it is about', most: 36 }, values, errors)}
${createdFields(values, errors)}`;
}

const SUBJECTS: readonly (readonly [begins: string, path: string, label: string])[] = [
  ['deposit.', '/deposits', 'The deposit'],
  ['payment.', '/links', 'The payment link'],
  ['customer.', '/customers', 'The customer'],
  ['webhook.', '/endpoints', 'The endpoint'],
];

/** A link to what an event is about. */
export function subjectOf({ to }: Pick<Visit, 'to'>, { event, subject_id: id }: EventRow): Html {
  const [, path, label] = SUBJECTS.find(([begins]) => event.startsWith(begins)) ?? [];
  return path === undefined
    ? html`<span class="mono">${id}</span>`
    : html`<a href="${to(`${path}/${id}`)}">${label}</a>`;
}
