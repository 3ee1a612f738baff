import { eventQuery } from '../../../contract/event.ts';
import { type EventRow, eventInFull, listEvents } from '../../../services/webhooks/shown/event-reads.ts';
import { type Html, html, plainText } from '../../html.ts';
import { time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { BY_DAY, exact, select, text } from '../fields.ts';
import { list } from '../list.ts';
import { copyOf, facts, nothing, tableOf } from '../pieces.ts';
import type { DashboardPage, Visit } from '../visit.ts';
import { EVENT_CHOICES, noDeliveries, sentRows } from './deliveries.ts';

const EVENTS = list({
  path: '/events',
  title: 'Events',
  noun: ['event', 'events'],
  query: eventQuery,
  load: listEvents,
  rows: {
    link: ({ id }: EventRow) => `/events/${id}`,
    columns: [
      { head: 'Event', cell: ({ event }) => event },
      { head: 'About', cell: subjectOf },
      { head: 'Happened', end: true, cell: (row) => time(row.timestamp) },
    ],
  },
  filters: [
    select('type', 'Event', EVENT_CHOICES),
    text('subject_id', 'Id of what it is about', exact(36)),
    ...BY_DAY,
  ],
  csv: (input) => ({ list: 'events', input }),
  empty: {
    title: 'No events yet',
    text: 'Whatever happens to deposits, links and customers stands here, as it is told to your endpoints.',
    way: ['/endpoints', 'Look at the endpoints'],
  },
});

const SUBJECTS: readonly (readonly [begins: string, path: string, label: string])[] = [
  ['deposit.', '/deposits', 'The deposit'],
  ['payment.', '/links', 'The payment link'],
  ['customer.', '/customers', 'The customer'],
  ['webhook.', '/endpoints', 'The endpoint'],
];

/** A link to what an event is about. */
function subjectOf({ event, subject_id: id }: EventRow, { to }: Visit): Html {
  const [, path, label] = SUBJECTS.find(([begins]) => event.startsWith(begins)) ?? [];
  return path === undefined
    ? html`<span class="mono">${id}</span>`
    : html`<a href="${to(`${path}/${id}`)}">${label}</a>`;
}

// Its deliveries may be many: it has its turn like a list.
const read = ({ named, inTurn }: Visit) => inTurn((deps) => eventInFull(deps, named));

const EVENT = detail({
  path: '/events/:id',
  back: ['/events', 'Events'],
  load: read,
  title: ({ event }) => event.event,
  sections: ({ event, body, deliveries }, visit) => [
    {
      id: 'facts',
      title: 'The event',
      body: facts([
        ['About', subjectOf(event, visit)],
        ['Happened', time(event.timestamp)],
        ['Id, as in X-Webhook-Id', copyOf(event.id, 'event-id', 'id')],
      ]),
    },
    {
      id: 'body',
      title: 'The body that was signed',
      body: signedBody(textIn(body), visit.to(`/events/${event.id}/body.json`)),
    },
    {
      id: 'deliveries',
      title: 'Deliveries',
      body:
        deliveries.length === 0
          ? html`${nothing(noDeliveries(visit, event.timestamp))}
<p><a href="${visit.to('/endpoints')}">Look at the endpoints</a></p>`
          : tableOf(visit, 'Each with its attempts, the oldest first', sentRows('in full'), deliveries),
    },
  ],
});

/** The very bytes: who checks a signature by hand needs them without a change. */
const EVENT_BODY: DashboardPage = {
  path: '/events/:id/body.json',
  file: {
    name: 'event.json',
    type: 'application/json',
    async *pieces(visit) {
      yield textIn((await read(visit)).body);
    },
  },
};

function textIn(body: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}

/**
 * The body letter by letter. A customer's name may hold characters that turn the text around them: those are
 * written out, and it is said, because the text would not be the one that was signed.
 */
function signedBody(body: string, file: string): Html {
  const shown = [...body].map((letter) => (plainText(letter) === letter ? letter : escaped(letter))).join('');
  return html`<pre class="body" tabindex="0" role="group" aria-label="Body">${shown}</pre>
${shown === body ? null : html`<p>It holds characters that are not seen, or turn text around. Here they are written as \\u…; the file has them as they are.</p>`}
<p><a href="${file}" download>Download exactly these bytes</a></p>`;
}

function escaped(letter: string): string {
  const units = letter.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}

/** Everything that happened, as it was told. */
export const EVENT_PAGES: readonly DashboardPage[] = [...EVENTS, EVENT, EVENT_BODY];
