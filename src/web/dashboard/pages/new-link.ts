import { chainOf } from '../../../chains/index.ts';
import { newPaymentLink, usdCents } from '../../../contract/payment-request.ts';
import type { Network } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { LINK_LIMITS } from '../../../domain/payment-link.ts';
import { WEBHOOK_LIMITS } from '../../../domain/webhook.ts';
import {
  amountTooSmall,
  createPaymentLink,
  permitPaymentLink,
} from '../../../services/payment-links/index.ts';
import { payableNetworks } from '../../../services/payment-links/networks.ts';
import { html } from '../../html.ts';
import { notice } from '../../parts/notice.ts';
import { area, drawn, type FieldOf, readBy, select, text, WEB } from '../fields.ts';
import { form } from '../form.ts';
import type { Typed, Values, Visit } from '../visit.ts';
import { customerFields, customerKnown, unknownCustomer } from './customers.ts';

const MEMBERS =
  'email customer_id amount_usd description external_id network expires_in success_url cancel_url webhook_url';

/** How long a link may be paid, in seconds. */
const TIMES = [
  [900, '15 minutes'],
  [LINK_LIMITS.defaultExpiresInSeconds, '1 hour'],
  [6 * 3_600, '6 hours'],
  [24 * 3_600, '1 day'],
  [3 * 24 * 3_600, '3 days'],
  [LINK_LIMITS.maxExpiresInSeconds, '7 days'],
] as const;

/** Makes a payment link, and goes on at its page with the address to be copied. */
export const NEW_LINK = form({
  path: '/links/new',
  guard: 'none',
  extraMs: WEBHOOK_LIMITS.saveLookupMs,
  initial: customerKnown,
  shows: async (visit, typed) => {
    const networks = payableNetworks(visit.deps.settings, visit.mode, null);
    return {
      title: 'New payment link',
      back: ['/links', 'Payment links'],
      above: networks.length === 0 ? NOTHING_WATCHED : null,
      fields: [...(await customerFields(visit, typed)), ...ownFields(visit, networks, typed)],
      button: 'Create payment link',
    };
  },
  read: (visit, values) => {
    const found = readBy(visit, newPaymentLink, MEMBERS.split(' '), values, { expires_in: secondsOf });
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
  apply: async (tx, deps, { prepared }) => {
    const { link, webhookSecret } = await createPaymentLink(tx, deps, prepared).catch((error: unknown) =>
      unknownCustomer(error, prepared.customerId),
    );
    const to = `/links/${link.id}`;
    if (link.webhook_url === null) return to;
    const said =
      'Its secret signs what is sent to its own webhook address. Your server needs it to know that a message comes from here.';
    const items = [
      ['Webhook secret of this link', webhookSecret],
      ['Address for the payer', link.url],
    ] as const;
    return { to, secrets: { title: 'The payment link is made', text: said, items } };
  },
});

/** A choice of seconds is a text in a form and a number in the API. */
function secondsOf(given: string): unknown {
  return /^\d{1,7}$/.test(given) ? Number.parseInt(given, 10) : given;
}

/** What the API says in words for programs, or only once all else is right. */
function ownDetails({ deps }: Visit, values: Values): { path: string; message: string }[] {
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

function ownFields({ deps }: Visit, networks: readonly Network[], typed: Typed) {
  const least = formatUnits(deps.settings.payments.minimumCents, 2);
  const amountHint = `At least ${least}. It is paid in USDT, one for one.`;
  const choices = networks.map((network) => ({ value: network, label: chainOf(network).label }));
  // Where only one network can pay, there is nothing to choose.
  const isChosen = networks.length > 1 || typed.errors['network'] !== undefined;
  return [
    text('amount_usd', 'Amount in USD', ' inputmode="decimal" maxlength="20" autocomplete="off"', {
      hint: amountHint,
      required: true,
    }),
    area('description', 'Description', ' rows="3" maxlength="500"', 'The payer reads it.'),
    text('external_id', 'Your own reference', ' maxlength="255"', {
      hint: 'An order number, say. The payer does not see it.',
    }),
    isChosen
      ? select('network', 'Network', [{ value: '', label: 'Any: the payer chooses' }, ...choices], {
          hint: 'On which network it can be paid.',
        })
      : null,
    select(
      'expires_in',
      'Can be paid for',
      TIMES.map(([seconds, label]) => ({ value: `${seconds}`, label })),
      { usual: `${LINK_LIMITS.defaultExpiresInSeconds}` },
    ),
    html`<details${URLS.some(({ name }) => typed.values[name]) ? html` open` : null}><summary>Where the payer goes on, and who is told</summary>
${drawn(URLS, typed)}
</details>`,
  ];
}

const URLS: readonly FieldOf[] = [
  text('success_url', 'Address after the payment', WEB, 'The payer is sent there when it is paid.'),
  text('cancel_url', 'Address instead of paying', WEB),
  text('webhook_url', 'Webhook address of this link alone', WEB, {
    hint: 'Gets payment.completed of this link, beside your endpoints. https, and a public host.',
  }),
];

const NOTHING_WATCHED = notice('warn', {
  title: 'No network is watched at the moment',
  text: 'A link that is made now cannot be paid until the operator of this gateway watches one.',
});
