import { listQuery } from '../../../contract/common.ts';
import type { EndpointView } from '../../../contract/endpoint.ts';
import type { Bounded } from '../../../services/lists/bounded.ts';
import { listEndpoints } from '../../../services/webhooks/endpoints.ts';
import { listDeliveries } from '../../../services/webhooks/reads.ts';
import { endpointHealth } from '../../../services/webhooks/shown/health.ts';
import { foreign, type Html, type HtmlValue, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { actButton } from '../form.ts';
import { list } from '../list.ts';
import { actionsOf, copyOf, facts, nothing, tableOf, textOf, when } from '../pieces.ts';
import type { DashboardPage, Visit } from '../visit.ts';
import {
  deliveryLog,
  deliveryRows,
  RESEND,
  RESEND_FAILED,
  resendFailedCard,
  shownUrl,
} from './deliveries.ts';
import { ALL_ENDPOINTS, ENDPOINT_FORMS, endpointWay, eventNames } from './endpoint-forms.ts';

const ENDPOINTS = list({
  path: ALL_ENDPOINTS[0],
  title: ALL_ENDPOINTS[1],
  noun: ['endpoint', 'endpoints'],
  query: listQuery({}),
  load: listEndpoints,
  rows: {
    link: ({ id }: EndpointView) => `/endpoints/${id}`,
    columns: [
      { head: 'Address', cell: ({ url }) => shownUrl(url) },
      { head: 'Events', cell: ({ events }) => eventNames(events) },
      { head: 'State', cell: endpointBadge },
      { head: 'Last answer', cell: lastAnswer },
    ],
  },
  actions: [{ path: '/endpoints/new', label: 'New endpoint' }],
  empty: {
    title: 'No endpoints yet',
    text: 'An endpoint is an address of your server. It is told of every deposit, signed, so that you can credit your customer.',
    way: ['/endpoints/new', 'Register the first one'],
  },
});

/** Whether events are sent to an endpoint, and whether it takes them. */
function endpointBadge(view: EndpointView): Html {
  if (!view.enabled) return badge('bad', view.disabled_reason === null ? 'Disabled' : 'Disabled by itself');
  return view.consecutive_failures > 0 ? badge('warn', 'Failing') : badge('good', 'Enabled');
}

/** What an endpoint answered last, and when. */
export function lastAnswer({ last_delivery_at: at, last_status_code: code }: EndpointView): HtmlValue {
  const status = code === null ? 'No answer' : `HTTP ${code}`;
  return when(at, (iso) => html`${status}, ${time(iso)}`, 'Nothing sent yet');
}

/** Deliveries that the page of the endpoint itself shows. */
const LATEST = 5;

const ENDPOINT = detail({
  path: '/endpoints/:id',
  back: ALL_ENDPOINTS,
  load: async ({ deps, named, inTurn }) => {
    const { endpoint, failed } = await endpointHealth(deps, named);
    const ofEndpoint = { ...named, page: { limit: LATEST } };
    const { rows } = await inTurn((turn) => listDeliveries(turn, ofEndpoint));
    return { view: endpoint, failed, rows };
  },
  title: 'Webhook endpoint',
  heading: ({ view }) => foreign(view.url),
  sections: ({ view, failed, rows }, visit) => [
    standing(view),
    { id: 'facts', title: html`The endpoint ${endpointBadge(view)}`, body: about(view, failed) },
    html`<div class="actions">${actions(visit, view)}</div>`,
    {
      id: 'latest',
      title: 'Deliveries',
      body:
        rows.length === 0
          ? nothing('Nothing was sent to it yet. Send a test event to try it.')
          : html`${tableOf(visit, 'The latest deliveries', deliveryRows('endpoints'), rows)}
<p><a href="${visit.to(`/endpoints/${view.id}/deliveries`)}">Look at all deliveries</a></p>`,
    },
    view.enabled && failed.count > 0 ? resendFailedCard(visit) : null,
  ],
});

function standing({
  enabled,
  disabled_reason: reason,
  consecutive_failures: failures,
}: EndpointView): Html | null {
  if (!enabled)
    return notice('bad', {
      title: 'Nothing is sent to this endpoint',
      text: html`${when(reason, (why) => html`${foreign(why)} `)}What happens is kept as failed deliveries. Enable it when it answers again, then send what failed again.`,
    });
  if (failures === 0) return null;
  return notice('warn', {
    title: `The last ${failures === 1 ? 'attempt' : `${failures} attempts`} failed`,
    text: 'Look at the answers below, and at your server. What failed for good can be sent again.',
  });
}

function about(view: EndpointView, failed: Bounded): Html {
  return facts([
    ['Events', eventNames(view.events)],
    ['Description', textOf(view.description, '–')],
    ['Secret', `ends in …${view.secret_hint}`],
    ['Last answer', lastAnswer(view)],
    ['Failed deliveries', `${failed.at_least ? 'at least ' : ''}${failed.count}`],
    ['Made', time(view.created_at)],
    ['Changed', time(view.updated_at)],
    ['Id', copyOf(view.id, 'endpoint-id', 'id')],
  ]);
}

function actions(visit: Visit, { id, enabled }: EndpointView): HtmlValue {
  const way = (verb: string, label: string) =>
    actionsOf(visit, [{ path: `/endpoints/${id}/${verb}`, label, quiet: true }]);
  const act = (verb: string, label: string) => actButton(visit, { path: `/endpoints/${id}/${verb}`, label });
  return [
    enabled && act('test', 'Send a test event'),
    way('change', 'Change'),
    enabled ? act('disable', 'Disable') : act('enable', 'Enable'),
    way('rotate', 'New secret'),
    way('delete', 'Delete'),
  ];
}

const LOG = deliveryLog('/endpoints/:id/deliveries', async (visit) => {
  const { endpoint, failed } = await endpointHealth(visit.deps, visit.named);
  const below = endpoint.enabled && failed.count > 0 ? resendFailedCard(visit) : null;
  return { url: endpoint.url, back: endpointWay(endpoint.id), below };
});

/** Webhook endpoints and what is sent to them. */
export const ENDPOINT_PAGES: readonly DashboardPage[] = [
  ...ENDPOINTS,
  ENDPOINT,
  ...LOG,
  ...ENDPOINT_FORMS,
  RESEND,
  RESEND_FAILED,
];
