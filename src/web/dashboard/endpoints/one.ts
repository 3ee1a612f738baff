import type { EndpointView } from '../../../contract/endpoint.ts';
import type { Bounded } from '../../../services/lists/bounded.ts';
import { listDeliveries } from '../../../services/webhooks/reads.ts';
import { endpointHealth } from '../../../services/webhooks/shown/health.ts';
import { foreign, type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { copyable } from '../../parts/copyable.ts';
import { notice } from '../../parts/notice.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { actButton } from '../ask.ts';
import { factList } from '../facts.ts';
import { crumb, heading } from '../heading.ts';
import type { ReadPage, Visit } from '../visit.ts';
import { deliveryColumns } from './deliveries.ts';
import { eventNames } from './events.ts';
import { endpointBadge, lastAnswer } from './list.ts';
import { resendFailedCard } from './resend.ts';

/** Deliveries that the page of the endpoint itself shows. */
const LATEST = 5;

/** One endpoint: how it stands, what can be done with it, and what was sent to it last. */
export const ENDPOINT_PAGE: ReadPage = {
  path: '/endpoints/:id',
  show: async (visit) => {
    const { scope, params, door, to } = visit;
    const { endpoint: view, failed } = await endpointHealth(visit.deps, { ...scope, id: params['id'] ?? '' });
    const latest = await door.readList(scope.merchantId, (deps) =>
      listDeliveries(deps, { ...scope, id: view.id, page: { limit: LATEST } }),
    );
    const log = to(`/endpoints/${view.id}/deliveries`);
    return {
      title: 'Webhook endpoint',
      body: html`${crumb(to('/endpoints'), 'Webhook endpoints')}${heading(foreign(view.url))}
${standing(view)}
${card(facts(view, failed), { id: 'facts', title: html`The endpoint ${endpointBadge(view)}` })}
<div class="actions">${actions(visit, view)}</div>
${card(
  latest.rows.length === 0
    ? html`<p class="muted">Nothing was sent to it yet. Send a test event to try it.</p>`
    : html`${table('The latest deliveries', deliveryColumns(visit, 'endpoints'), latest.rows)}
<p><a href="${log}">Look at all deliveries</a></p>`,
  { id: 'latest', title: 'Deliveries' },
)}
${view.enabled && failed.count > 0 ? resendFailedCard(visit, view.id) : null}`,
    };
  },
};

function standing(view: EndpointView): Html | null {
  if (!view.enabled)
    return notice('bad', {
      title: 'Nothing is sent to this endpoint',
      text: html`${view.disabled_reason === null ? null : html`${foreign(view.disabled_reason)} `}What happens is kept as failed deliveries. Enable it when it answers again, then send what failed again.`,
    });
  if (view.consecutive_failures === 0) return null;
  return notice('warn', {
    title: `The last ${view.consecutive_failures === 1 ? 'attempt' : `${view.consecutive_failures} attempts`} failed`,
    text: 'Look at the answers below, and at your server. What failed for good can be sent again.',
  });
}

function facts(view: EndpointView, failed: Bounded): Html {
  return factList([
    ['Events', eventNames(view.events)],
    ['Description', view.description === null ? '–' : foreign(view.description)],
    ['Secret', `ends in …${view.secret_hint}`],
    ['Last answer', lastAnswer(view)],
    ['Failed deliveries', `${failed.at_least ? 'at least ' : ''}${failed.count}`],
    ['Made', time(view.created_at)],
    ['Changed', time(view.updated_at)],
    ['Id', copyable(view.id, { id: 'endpoint-id', name: 'id' })],
  ]);
}

function actions(visit: Visit, { id, enabled }: EndpointView): Html {
  const way = (path: string, label: string) =>
    html`<a class="button quiet" href="${visit.to(`/endpoints/${id}/${path}`)}">${label}</a>`;
  return html`${enabled ? actButton(visit, { path: `/endpoints/${id}/test`, label: 'Send a test event' }) : null}
${way('change', 'Change')}
${actButton(visit, enabled ? { path: `/endpoints/${id}/disable`, label: 'Disable' } : { path: `/endpoints/${id}/enable`, label: 'Enable' })}
${way('rotate', 'New secret')}
${way('delete', 'Delete')}`;
}
