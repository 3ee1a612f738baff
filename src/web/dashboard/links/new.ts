import { chainOf } from '../../../chains/index.ts';
import { newPaymentLink, usdCents } from '../../../contract/payment-request.ts';
import { formatUnits } from '../../../domain/money.ts';
import { LINK_LIMITS } from '../../../domain/payment-link.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import {
  amountTooSmall,
  createPaymentLink,
  permitPaymentLink,
} from '../../../services/payment-links/index.ts';
import { payableNetworks } from '../../../services/payment-links/networks.ts';
import { type Html, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { selectField, textArea, textField } from '../../parts/field.ts';
import { notice } from '../../parts/notice.ts';
import { customerFields, customerKnown, unknownCustomer } from '../customer-choice.ts';
import { fieldsBy } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';

const PATH = '/links/new';

const MEMBERS = [
  'email',
  'customer_id',
  'amount_usd',
  'description',
  'external_id',
  'network',
  'expires_in',
  'success_url',
  'cancel_url',
  'webhook_url',
] as const;

/** How long a link may be paid, in seconds. */
const TIMES = [
  [900, '15 minutes'],
  [LINK_LIMITS.defaultExpiresInSeconds, '1 hour'],
  [6 * 3_600, '6 hours'],
  [24 * 3_600, '1 day'],
  [3 * 24 * 3_600, '3 days'],
  [LINK_LIMITS.maxExpiresInSeconds, '7 days'],
] as const;

/** The form for a new payment link; its address may name the customer. */
export const NEW_LINK_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => screen(visit, { ...untouched(visit), values: customerKnown(visit) }),
};

/** Makes a payment link, and goes on at its page with the address to be copied. */
export const NEW_LINK_FORM = form({
  path: PATH,
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  fields: (visit, values) => {
    const found = fieldsBy(newPaymentLink, MEMBERS, { expires_in: secondsOf })(visit, values);
    const own = ownDetails(visit, values);
    if (own.length === 0) return found;
    const others = 'details' in found ? found.details : [];
    return { details: [...own, ...others.filter(({ path }) => own.every((one) => one.path !== path))] };
  },
  prepare: async ({ deps, scope, door, ctx }, input) => {
    const { customerId, email, amountCents, description, currency, network } = input;
    const { success_url: successUrl, cancel_url: cancelUrl, webhook_url: webhookUrl } = input;
    const { external_id: externalId, expires_in: expiresInS } = input;
    const terms = { amountCents, description, currency, network, externalId, expiresInS };
    const urls = { successUrl, cancelUrl, webhookUrl, publicUrl: door.publicUrl(ctx) };
    return await permitPaymentLink(deps, { ...scope, customerId, email, ...terms, ...urls });
  },
  apply: async (tx, deps, { visit: { to }, prepared }) => {
    const { link, webhookSecret } = await createPaymentLink(tx, deps, prepared).catch((error: unknown) =>
      unknownCustomer(error, prepared.customerId),
    );
    const next = to(`/links/${link.id}`);
    if (link.webhook_url === null) return { to: next };
    return {
      to: next,
      secrets: {
        title: 'The payment link is made',
        text: 'Its secret signs what is sent to its own webhook address. Your server needs it to know that a message comes from here.',
        items: [
          { label: 'Webhook secret of this link', value: webhookSecret },
          { label: 'Address for the payer', value: link.url },
        ],
      },
    };
  },
  again: async (visit, typed) => screen(visit, typed),
});

/** A choice of seconds is a text in a form and a number in the API. */
function secondsOf(text: string): unknown {
  return /^\d{1,7}$/.test(text) ? Number.parseInt(text, 10) : text;
}

/** What the API says in words for programs, or only once all else is right. */
function ownDetails({ deps }: Visit, values: Typed['values']): { path: string; message: string }[] {
  const typed = (name: string) => values[name]?.trim() ?? '';
  const [email, id, amount] = [typed('email'), typed('customer_id'), typed('amount_usd')];
  const none = email || id ? undefined : 'Give an email, or our id of a customer.';
  const who = email && id ? 'Give an email or an id, not both.' : none;
  const cents = usdCents.safeParse(amount);
  const small = cents.success ? amountTooSmall(deps, cents.data)?.message : undefined;
  const much = amount === '' ? 'is required' : small;
  const found = Object.entries({ email: who, amount_usd: much });
  return found.flatMap(([path, message]) => (message === undefined ? [] : [{ path, message }]));
}

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const { to, deps, mode } = visit;
  const { values, errors } = typed;
  const at = (name: string) => ({ name, value: values[name], error: errors[name] });
  const networks = payableNetworks(deps.settings, mode, null);
  const least = formatUnits(deps.settings.payments.minimumCents, 2);
  return {
    title: 'New payment link',
    body: html`${crumb(to('/links'), 'Payment links')}${heading('New payment link')}
${networks.length === 0 ? NOTHING_WATCHED : null}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
${await customerFields(visit, typed)}
${textField({ ...at('amount_usd'), label: 'Amount in USD', hint: `At least ${least}. It is paid in USDT, one for one.`, required: true }, ' inputmode="decimal" maxlength="20" autocomplete="off"')}
${textArea({ ...at('description'), label: 'Description', hint: 'The payer reads it.' }, ' rows="3" maxlength="500"')}
${textField({ ...at('external_id'), label: 'Your own reference', hint: 'An order number, say. The payer does not see it.' }, ' maxlength="255"')}
${networkField(networks, typed)}
${selectField(
  {
    ...at('expires_in'),
    label: 'Can be paid for',
    value: values['expires_in'] ?? `${LINK_LIMITS.defaultExpiresInSeconds}`,
  },
  TIMES.map(([seconds, label]) => ({ value: `${seconds}`, label })),
)}
<details${URLS.some((name) => values[name]) ? html` open` : null}><summary>Where the payer goes on, and who is told</summary>
${textField({ ...at('success_url'), label: 'Address after the payment', hint: 'The payer is sent there when it is paid.' }, WEB)}
${textField({ ...at('cancel_url'), label: 'Address instead of paying' }, WEB)}
${textField({ ...at('webhook_url'), label: 'Webhook address of this link alone', hint: 'Gets payment.completed of this link, beside your endpoints. https, and a public host.' }, WEB)}
</details>
<button type="submit">Create payment link</button>
</form>`)}`,
  };
}

const WEB = ' type="url" maxlength="2048" spellcheck="false"';
const URLS = ['success_url', 'cancel_url', 'webhook_url'] as const;

const NOTHING_WATCHED = notice('warn', {
  title: 'No network is watched at the moment',
  text: 'A link that is made now cannot be paid until the operator of this gateway watches one.',
});

/** Where only one network can pay, there is nothing to choose. */
function networkField(networks: ReturnType<typeof payableNetworks>, { values, errors }: Typed): Html | null {
  if (networks.length < 2 && errors['network'] === undefined) return null;
  return selectField(
    {
      name: 'network',
      label: 'Network',
      hint: 'On which network it can be paid.',
      value: values['network'],
      error: errors['network'],
    },
    [
      { value: '', label: 'Any: the payer chooses' },
      ...networks.map((network) => ({ value: network, label: chainOf(network).label })),
    ],
  );
}
