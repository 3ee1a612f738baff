import { listQuery } from '../../../contract/common.ts';
import type { EndpointView } from '../../../contract/endpoint.ts';
import { listEndpoints } from '../../../services/webhooks/endpoints.ts';
import { type Html, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { emptyState } from '../../parts/empty.ts';
import { time } from '../../parts/time.ts';
import { listScreen } from '../list.ts';
import type { ReadPage } from '../visit.ts';
import { shownUrl } from './address.ts';
import { eventNames } from './events.ts';

/** Every endpoint that events are sent to. */
export const ENDPOINTS_PAGE: ReadPage = {
  path: '/endpoints',
  show: (visit) =>
    listScreen(visit, {
      path: '/endpoints',
      title: 'Webhook endpoints',
      noun: ['endpoint', 'endpoints'],
      query: listQuery({}),
      load: listEndpoints,
      columns: ({ to }) => [
        {
          head: 'Address',
          cell: (row: EndpointView) => html`<a href="${to(`/endpoints/${row.id}`)}">${shownUrl(row.url)}</a>`,
        },
        { head: 'Events', cell: ({ events }) => eventNames(events) },
        { head: 'State', cell: endpointBadge },
        { head: 'Last answer', cell: lastAnswer },
      ],
      actions: ({ to }) => html`<a class="button" href="${to('/endpoints/new')}">New endpoint</a>`,
      empty: ({ to }) =>
        emptyState(
          'No endpoints yet',
          'An endpoint is an address of your server. It is told of every deposit, signed, so that you can credit your customer.',
          { href: to('/endpoints/new'), label: 'Register the first one' },
        ),
    }),
};

/** Whether events are sent to an endpoint, and whether it takes them. */
export function endpointBadge(view: EndpointView): Html {
  if (!view.enabled) return badge('bad', view.disabled_reason === null ? 'Disabled' : 'Disabled by itself');
  return view.consecutive_failures > 0 ? badge('warn', 'Failing') : badge('good', 'Enabled');
}

/** What an endpoint answered last, and when. */
export function lastAnswer(view: EndpointView): Html {
  if (view.last_delivery_at === null) return html`Nothing sent yet`;
  const status = view.last_status_code === null ? 'No answer' : `HTTP ${view.last_status_code}`;
  return html`${status}, ${time(view.last_delivery_at)}`;
}
