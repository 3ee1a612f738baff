import type { StoryDelivery } from '../../../services/webhooks/shown/subject-events.ts';
import { type Html, html } from '../../html.ts';
import type { Column } from '../../parts/table.ts';
import { shownUrl } from '../endpoints/address.ts';
import { deliveryColumns } from '../endpoints/deliveries.ts';
import type { Visit } from '../visit.ts';

/**
 * What is said of deliveries to several endpoints: `briefly` without each attempt. Nothing can be sent again
 * to an endpoint that is deleted.
 */
export function sentColumns(visit: Visit, how: 'in full' | 'briefly'): readonly Column<StoryDelivery>[] {
  const [event, ...more] = deliveryColumns(visit, 'events');
  const to: Column<StoryDelivery> = { head: 'To', cell: (row) => receiver(visit, row) };
  const rest = more
    .filter(({ head }) => how === 'in full' || head !== 'Attempts')
    .map((column) => (column.head === 'Again' ? { ...column, cell: whileItIsThere(column) } : column));
  return [...(event ? [event] : []), to, ...rest];
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

function whileItIsThere({ cell }: Column<StoryDelivery>): Column<StoryDelivery>['cell'] {
  return (row) => (row.endpoint_deleted ? '–' : cell(row));
}

/** Where it was sent; what no endpoint of the list has any more, or never had, is no link. */
function receiver(
  { to }: Visit,
  { url, endpoint_id: id, endpoint_deleted: gone, of_link: ofLink }: StoryDelivery,
): Html {
  if (ofLink) return html`${shownUrl(url)}<br><span class="muted">The own webhook of the link</span>`;
  if (gone) return html`${shownUrl(url)}<br><span class="muted">Deleted since</span>`;
  return html`<a href="${to(`/endpoints/${id}`)}">${shownUrl(url)}</a>`;
}
