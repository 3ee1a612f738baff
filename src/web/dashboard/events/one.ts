import { eventInFull } from '../../../services/webhooks/shown/event-reads.ts';
import { type Html, html, plainText } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { factList } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import type { Download, ReadPage, Visit } from '../visit.ts';
import { subjectOf } from './list.ts';
import { noDeliveries, sentColumns } from './sent.ts';

/** One event: the text that was signed, and whom it was sent to. */
export const EVENT_PAGE: ReadPage = {
  path: '/events/:id',
  show: async (visit) => {
    const { to } = visit;
    const { event, body, deliveries } = await read(visit);
    return {
      title: event.event,
      body: html`${crumb(to('/events'), 'Events')}${heading(event.event)}
${card(
  factList([
    ['About', subjectOf(visit, event)],
    ['Happened', time(event.timestamp)],
    ['Id, as in X-Webhook-Id', copyable(event.id, { id: 'event-id', name: 'id' })],
  ]),
  { id: 'facts', title: 'The event' },
)}
${card(signedBody(textOf(body), to(`/events/${event.id}/body.json`)), { id: 'body', title: 'The body that was signed' })}
${card(
  deliveries.length === 0
    ? html`<p class="muted">${noDeliveries(visit, event.timestamp)}</p>
<p><a href="${to('/endpoints')}">Look at the endpoints</a></p>`
    : table('Each with its attempts, the oldest first', sentColumns(visit, 'in full'), deliveries),
  { id: 'deliveries', title: 'Deliveries' },
)}`,
    };
  },
};

/** The very bytes: who checks a signature by hand needs them without a change. */
export const EVENT_BODY: Download = {
  path: '/events/:id/body.json',
  name: 'event.json',
  type: 'application/json',
  async *pieces(visit) {
    yield textOf((await read(visit)).body);
  },
};

function read({ door, scope, params }: Visit) {
  // Its deliveries may be many: it has its turn like a list.
  return door.readList(scope.merchantId, (deps) => eventInFull(deps, { ...scope, id: params['id'] ?? '' }));
}

function textOf(body: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}

/**
 * The body letter by letter. A customer's name may hold characters that turn the text around them: those are
 * written out, and it is said, because the text would not be the one that was signed.
 */
function signedBody(text: string, file: string): Html {
  const shown = [...text].map((letter) => (plainText(letter) === letter ? letter : escaped(letter))).join('');
  return html`<pre class="body" tabindex="0" role="group" aria-label="Body">${shown}</pre>
${shown === text ? null : html`<p>It holds characters that are not seen, or turn text around. Here they are written as \\u…; the file has them as they are.</p>`}
<p><a href="${file}" download>Download exactly these bytes</a></p>`;
}

function escaped(letter: string): string {
  return letter
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
