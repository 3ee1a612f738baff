import { endpointChange, newEndpoint } from '../../../contract/endpoint.ts';
import { EVENT_TYPES, type EventType, isSubscribed, NAMED_EVENTS } from '../../../domain/events.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  updateEndpoint,
} from '../../../services/webhooks/endpoints.ts';
import { permitChange, permitEndpoint } from '../../../services/webhooks/permit.ts';
import { sendTestEvent } from '../../../services/webhooks/resend.ts';
import { foreign, html } from '../../html.ts';
import { boxes, checked, text, WEB } from '../fields.ts';
import { form } from '../form.ts';
import type { LinkTo } from '../pieces.ts';
import type { DashboardPage, Values } from '../visit.ts';

/** The way back to all endpoints. */
export const ALL_ENDPOINTS: LinkTo = ['/endpoints', 'Webhook endpoints'];

/** The way back to one of them. */
export const endpointWay = (id: string): LinkTo => [`/endpoints/${id}`, 'The endpoint'];

const ALL = '*';
const NAMES = [ALL, ...EVENT_TYPES] as const;

const MEANINGS: Readonly<Record<EventType, string>> = {
  'deposit.detected': 'money was seen, and does not count yet',
  'deposit.confirming': 'it is in a block, and waits for confirmations',
  'deposit.completed': 'it counts: credit your customer',
  'deposit.settled': 'it was paid out to you',
  'deposit.failed': 'it does not count',
  'customer.created': 'a customer was made',
  'payment.completed': 'a payment link is paid',
  'payment.partially_paid': 'a payment link is paid in part, and nothing more is on its way',
  'payment.late': 'money came for a payment link that had ended',
  'payment.expired': 'the time of a payment link is over',
  'payment.cancelled': 'a payment link was cancelled',
};

/** What is sent to an endpoint, in words. */
export function eventNames(events: readonly string[]): string {
  if (!events.includes(ALL)) return events.join(', ');
  return ['All common ones', ...alone(events)].join(', ');
}

/** The names that "*" does not stand for. */
function alone(events: readonly string[]): string[] {
  return events.filter((name) => name !== ALL && !isSubscribed([ALL], name));
}

/** The members of a form for an endpoint; the common events are one name. */
function membersOf({ url = '', description = '', ...values }: Values) {
  const named = NAMES.filter((name) => values[`events.${name}`] === 'on');
  return { url, description, events: named.includes(ALL) ? [ALL, ...alone(named)] : named };
}

/** The boxes of these events as a form would post them. */
const boxesOf = (events: readonly string[]): Values =>
  Object.fromEntries(events.map((name) => [`events.${name}`, 'on']));

/** What is asked for an endpoint, new or changed. */
const FIELDS = [
  text('url', 'Address', WEB, {
    hint: 'https, and a public host. A name that is not set up yet is taken too: send a test event once it is.',
    required: true,
  }),
  boxes(
    'events',
    'Events',
    NAMES.map((name) => ({
      value: name,
      label:
        name === ALL
          ? html`All common ones: each of these, but for ${NAMED_EVENTS.length} that are sent only where they are named`
          : html`<code>${name}</code>: ${MEANINGS[name]}${isSubscribed([ALL], name) ? '' : ' (only where it is named)'}`,
    })),
    { hint: 'What is sent to it.' },
  ),
  text('description', 'Description', ' maxlength="500"', 'For your own eyes'),
];

const NEW_ENDPOINT = form({
  path: '/endpoints/new',
  guard: 'live',
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  initial: () => boxesOf([ALL]),
  shows: () => ({ title: 'New endpoint', back: ALL_ENDPOINTS, fields: FIELDS, button: 'Register endpoint' }),
  read: (visit, values) => checked(visit, newEndpoint, membersOf(values)),
  prepare: async ({ deps, scope }, { url, events = [], description }) =>
    await permitEndpoint(deps, { ...scope, url, events, description: description || null }),
  apply: async (tx, deps, { prepared }) => {
    const { id, secret } = await createEndpoint(tx, deps, prepared);
    const said = 'Your server needs its secret to know that a message comes from here.';
    const items = [['Signing secret', secret]] as const;
    return { to: `/endpoints/${id}`, secrets: { title: 'The endpoint is registered', text: said, items } };
  },
});

const CHANGE = form({
  path: '/endpoints/:id/change',
  guard: 'live',
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  initial: async ({ deps, named }) => {
    const { url, description, events } = await getEndpoint(deps, named);
    return { url, description: description ?? '', ...boxesOf(events) };
  },
  shows: async ({ deps, named }) => {
    const { id } = await getEndpoint(deps, named);
    return { title: 'Change the endpoint', back: endpointWay(id), fields: FIELDS, button: 'Save' };
  },
  read: (visit, values) => checked(visit, endpointChange, membersOf(values)),
  prepare: async ({ deps, named }, { url, events, description }) => {
    const now = await getEndpoint(deps, named);
    // An address that stays is not looked up: one that is forbidden by now does not stop another change.
    const other = url === now.url ? undefined : url;
    return await permitChange(deps, { ...named, url: other, events, description: description || null });
  },
  apply: async (tx, deps, { prepared }) => `/endpoints/${(await updateEndpoint(tx, deps, prepared)).id}`,
});

const ROTATE = form({
  path: '/endpoints/:id/rotate',
  guard: 'live',
  shows: async ({ deps, named }) => ({
    title: 'Make a new secret?',
    back: endpointWay((await getEndpoint(deps, named)).id),
    text: 'It is shown once, right afterwards. Every message is signed with both secrets for 24 hours, so nothing is lost while your server changes over. Then the old one ends.',
    button: 'Make a new secret',
  }),
  apply: async (tx, deps, { visit: { named } }) => {
    const { id, secret } = await updateEndpoint(tx, deps, { ...named, rotateSecret: true });
    if (secret === undefined) throw new Error('a rotation made no secret');
    const said = 'The old one signs beside it for 24 hours. Give your server the new one within that time.';
    const items = [['Signing secret', secret]] as const;
    return { to: `/endpoints/${id}`, secrets: { title: 'The endpoint has a new secret', text: said, items } };
  },
});

const DELETE = form({
  path: '/endpoints/:id/delete',
  guard: 'live',
  shows: async ({ deps, named }) => {
    const { id, url } = await getEndpoint(deps, named);
    return {
      title: 'Delete this endpoint?',
      back: endpointWay(id),
      text: html`<p>Nothing is sent to ${foreign(url)} any more, also what is on its way and what failed. Its secret ends at once. This cannot be taken back. Events stay, and other endpoints get theirs.</p>`,
      button: 'Delete the endpoint',
      look: 'danger',
    };
  },
  apply: async (tx, deps, { visit }) => {
    await deleteEndpoint(tx, deps, visit.named);
    return ALL_ENDPOINTS[0];
  },
});

/** Lets an endpoint get events again and forgets why it got none, or stops what is sent to it. */
function switched(enabled: boolean): DashboardPage {
  const [verb, button, said] = enabled
    ? ['enable', 'Enable', 'Events are sent to it again. What failed before can be sent again from its page.']
    : [
        'disable',
        'Disable',
        'Nothing is sent to it until it is enabled again. What happens meanwhile is kept as failed deliveries.',
      ];
  return form({
    path: `/endpoints/:id/${verb}`,
    guard: 'live',
    byButton: true,
    shows: async ({ deps, named }) => {
      const { id } = await getEndpoint(deps, named);
      return {
        title: `${button} the endpoint`,
        back: endpointWay(id),
        text: said ?? '',
        button: button ?? '',
      };
    },
    apply: async (tx, deps, { visit: { named } }) =>
      `/endpoints/${(await updateEndpoint(tx, deps, { ...named, enabled })).id}`,
  });
}

const TEST = form({
  path: '/endpoints/:id/test',
  guard: 'none',
  isTest: true,
  byButton: true,
  shows: async ({ deps, named }) => ({
    title: 'Send a test event',
    back: endpointWay((await getEndpoint(deps, named)).id),
    text: 'It is sent like every other event, whatever the endpoint gets otherwise. It says that it is a test.',
    button: 'Send a test event',
  }),
  apply: async (tx, deps, { visit: { named } }) => {
    await sendTestEvent(tx, deps, named);
    return `/endpoints/${named.id}/deliveries`;
  },
});

/** What changes endpoints. */
export const ENDPOINT_FORMS = [NEW_ENDPOINT, CHANGE, ROTATE, DELETE, switched(true), switched(false), TEST];
