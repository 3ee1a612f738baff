import type { z } from 'zod';
import { endpointChange } from '../../../contract/endpoint.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import { getEndpoint, updateEndpoint } from '../../../services/webhooks/endpoints.ts';
import { type PermittedChange, permitChange } from '../../../services/webhooks/permit.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { checked } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { guardedWhenLive, guardFieldsWhenLive } from '../settings/guarded.ts';
import type { ReadPage, Screen, Typed, Visit } from '../visit.ts';
import { boxesOf, checkedEvents } from './events.ts';
import { endpointFields } from './new.ts';

const PATH = '/endpoints/:id/change';

/** The form with what an endpoint is now. */
export const CHANGE_ENDPOINT_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => {
    const { url, description, events } = await endpointOf(visit);
    const values = { url, description: description ?? '', ...boxesOf(events) };
    return screen(visit, { ...untouched(visit), values });
  },
};

/** Changes the address, the events and the description of an endpoint. */
export const CHANGE_ENDPOINT_FORMS = guardedWhenLive<z.output<typeof endpointChange>, PermittedChange>({
  path: PATH,
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  fields: (visit, values) => {
    const { url = '', description = '' } = values;
    return checked(visit, endpointChange, { url, description, events: checkedEvents(values) });
  },
  prepare: async (visit, { url, events, description }) => {
    const now = await endpointOf(visit);
    // An address that stays is not looked up: one that is forbidden by now does not stop another change.
    const other = url === now.url ? undefined : url;
    const { deps, scope } = visit;
    return await permitChange(deps, {
      ...scope,
      id: now.id,
      url: other,
      events,
      description: description || null,
    });
  },
  apply: async (tx, deps, { visit: { to }, prepared }) => {
    const { id } = await updateEndpoint(tx, deps, prepared);
    return { to: to(`/endpoints/${id}`) };
  },
  again: async (visit, typed) => {
    await endpointOf(visit);
    return screen(visit, typed);
  },
});

/** The endpoint that the address names. Throws the NOT_FOUND of the API. */
export function endpointOf({ deps, scope, params }: Visit) {
  return getEndpoint(deps, { ...scope, id: params['id'] ?? '' });
}

function screen(visit: Visit, typed: Typed): Screen {
  const { to, params } = visit;
  const here = `/endpoints/${params['id']}`;
  return {
    title: 'Change an endpoint',
    body: html`${crumb(to(here), 'The endpoint')}${heading('Change the endpoint')}
${card(html`<form method="post" action="${to(`${here}/change`)}">
${formHead(typed)}
${endpointFields(typed)}
${guardFieldsWhenLive(visit, typed)}
<button type="submit">Save</button>
</form>`)}`,
  };
}
