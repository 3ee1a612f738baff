import { resendFailedBody } from '../../../contract/event.ts';
import { Refusal } from '../../../services/refusal.ts';
import { RESEND_BATCH, resendDelivery, resendFailed } from '../../../services/webhooks/resend.ts';
import { type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { textField } from '../../parts/field.ts';
import { askScreen } from '../ask.ts';
import { checked } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type Typed, type Visit } from '../visit.ts';
import { endpointOf } from './change.ts';

/** Where a resend leads back to: the page of what the delivery was sent to, or the event's. */
type Back = 'endpoints' | 'links' | 'events';

/** Sends one finished delivery again: the same event, the same bytes. */
export const RESEND_FORM = form({
  path: '/deliveries/:id/resend',
  fields: (_visit, values) => ({ input: backOf(values['of']) }),
  apply: async (tx, deps, { visit: { scope, params, to }, input }) => {
    const view = await resendDelivery(tx, deps, { ...scope, id: params['id'] ?? '' });
    if (input === 'events') return { to: to(`/events/${view.event_id}`) };
    return { to: to(`/${input}/${view.endpoint_id}/deliveries`) };
  },
  again: async (visit, typed) => {
    const of = backOf(typed.values['of']);
    return askScreen(visit, typed, {
      title: 'Send a delivery again',
      text: 'The same event and the same bytes go out once more, with a new round of attempts.',
      label: 'Send it again',
      path: `/deliveries/${visit.params['id']}/resend`,
      back: { path: `/${of}`, label: LABELS[of] },
      hidden: { of },
    });
  },
});

const LABELS: Readonly<Record<Back, string>> = {
  endpoints: 'Webhook endpoints',
  links: 'Payment links',
  events: 'Events',
};

function backOf(text: string | undefined): Back {
  return text === 'links' || text === 'events' ? text : 'endpoints';
}

/** Sends everything again that failed at an endpoint since a day. */
export const RESEND_FAILED_FORM = form({
  path: '/endpoints/:id/resend-failed',
  fields: (visit, { since = '' }) => checked(visit, resendFailedBody, { since: startOf(since.trim()) }),
  apply: async (tx, deps, { visit: { scope, params, to }, input: { since } }) => {
    const id = params['id'] ?? '';
    const { resent } = await resendFailed(tx, deps, { ...scope, id, since });
    if (resent === 0) throw new Refusal('INVALID', 'Nothing has failed there since that day.', 'since');
    return { to: to(`/endpoints/${id}/deliveries`, { status: 'pending' }) };
  },
  again: async (visit, typed) => {
    const { id } = await endpointOf(visit);
    return {
      title: 'Send what failed again',
      body: html`${crumb(visit.to(`/endpoints/${id}`), 'The endpoint')}${heading('Send what failed again')}
${card(resendFailedFields(visit, id, typed))}`,
    };
  },
});

const WEEK_MS = 7 * 24 * 3_600_000;

/** A card with the form that sends everything again that failed since a day; a week ago is put in. */
export function resendFailedCard(visit: Visit, id: string): Html {
  const since = new Date(visit.deps.now().getTime() - WEEK_MS).toISOString().slice(0, 10);
  const typed = { ...untouched(visit), values: { since } };
  return card(resendFailedFields(visit, id, typed), { id: 'resend-failed', title: 'Send what failed again' });
}

function resendFailedFields({ to }: Visit, id: string, typed: Typed): Html {
  const { values, errors } = typed;
  return html`<form method="post" action="${to(`/endpoints/${id}/resend-failed`)}">
${formHead(typed)}
<p>The same events and bytes, the oldest first, ten a second and at most ${RESEND_BATCH} at one go. What is on its way is left alone.</p>
${textField({ name: 'since', label: 'What failed since this day (UTC)', value: values['since'], error: errors['since'], required: true }, ' type="date"')}
<button type="submit" class="quiet">Send all of it again</button>
</form>`;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function startOf(text: string): string {
  return DAY.test(text) ? `${text}T00:00:00Z` : text;
}
