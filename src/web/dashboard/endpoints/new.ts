import type { z } from 'zod';
import { newEndpoint } from '../../../contract/endpoint.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import { createEndpoint } from '../../../services/webhooks/endpoints.ts';
import { type PermittedEndpoint, permitEndpoint } from '../../../services/webhooks/permit.ts';
import { type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { textField } from '../../parts/field.ts';
import { checked } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { guardedWhenLive, guardFieldsWhenLive } from '../settings/guarded.ts';
import type { ReadPage, Screen, Typed, Visit } from '../visit.ts';
import { boxesOf, checkedEvents, eventBoxes } from './events.ts';

const PATH = '/endpoints/new';

/** The form for a new endpoint. */
export const NEW_ENDPOINT_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => screen(visit, { ...untouched(visit), values: boxesOf(['*']) }),
};

/** Registers an endpoint, and shows its secret this once. */
export const NEW_ENDPOINT_FORMS = guardedWhenLive<z.output<typeof newEndpoint>, PermittedEndpoint>({
  path: PATH,
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  fields: (visit, values) => {
    const { url = '', description = '' } = values;
    return checked(visit, newEndpoint, { url, description, events: checkedEvents(values) });
  },
  prepare: async ({ deps, scope }, { url, events = [], description }) =>
    await permitEndpoint(deps, { ...scope, url, events, description: description || null }),
  apply: async (tx, deps, { visit: { to }, prepared }) => {
    const { id, secret } = await createEndpoint(tx, deps, prepared);
    return { to: to(`/endpoints/${id}`), secrets: newSecret(secret) };
  },
  again: async (visit, typed) => screen(visit, typed),
});

/** What a person has to know of a secret that was just made. */
function newSecret(secret: string) {
  return {
    title: 'The endpoint is registered',
    text: 'Your server needs its secret to know that a message comes from here.',
    items: [{ label: 'Signing secret', value: secret }],
  };
}

function screen(visit: Visit, typed: Typed): Screen {
  const { to } = visit;
  return {
    title: 'New endpoint',
    body: html`${crumb(to('/endpoints'), 'Webhook endpoints')}${heading('New endpoint')}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
${endpointFields(typed)}
${guardFieldsWhenLive(visit, typed)}
<button type="submit">Register endpoint</button>
</form>`)}`,
  };
}

/** What is asked for an endpoint, new or changed. */
export function endpointFields(typed: Typed): Html {
  const { values, errors } = typed;
  const at = (name: string) => ({ name, value: values[name], error: errors[name] });
  return html`${textField({ ...at('url'), label: 'Address', hint: 'https, and a public host. A name that is not set up yet is taken too: send a test event once it is.', required: true }, ' type="url" maxlength="2048" spellcheck="false"')}
${eventBoxes(typed)}
${textField({ ...at('description'), label: 'Description', hint: 'For your own eyes' }, ' maxlength="500"')}`;
}
