import { chainOf } from '../../../chains/index.ts';
import { SIMULATED_AMOUNT } from '../../../contract/deposit.ts';
import { ASSETS } from '../../../domain/assets.ts';
import { SIMULATED_OUTCOMES, type SimulatedOutcome } from '../../../domain/deposit.ts';
import { isUuid } from '../../../domain/ids.ts';
import { priceSimulation, simulateDeposit } from '../../../services/deposits/simulate.ts';
import { notFound } from '../../../services/refusal.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { emptyState } from '../../parts/empty.ts';
import { selectField, textField } from '../../parts/field.ts';
import { customerChoice, customerKnown, unknownCustomer } from '../customer-choice.ts';
import { fieldsBy } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';

const PATH = '/simulate';
/** A simulation asks for the price first. */
const PRICE_WAIT_MS = 2_000;
const MEMBERS = 'customer_id amount share payment_token outcome events network currency'.split(' ');

/** What can arrive, each coin with its network: there is no other pair. */
const COINS = ASSETS.map(({ network, currency }) => ({
  network,
  currency,
  value: `${network}:${currency}`,
  label: `${currency} on ${chainOf(network).label}`,
}));
const USUAL = COINS.find(({ currency }) => currency === 'USDT')?.value;

/** The form for a test deposit; its address may name the customer, the link and the amount. */
export const SIMULATE_PAGE: ReadPage = {
  path: PATH,
  only: 'test',
  show: async (visit) => {
    const named = ['payment_token', 'amount'].flatMap((name) => {
      const value = visit.query[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    const values = { ...customerKnown(visit), ...Object.fromEntries(named) };
    return await screen(visit, { ...untouched(visit), values });
  },
};

/** Makes a test deposit through the same tables and actor as real money, and goes on at its page. */
export const SIMULATE_FORM = form({
  path: PATH,
  only: 'test',
  isTest: true,
  extraMs: PRICE_WAIT_MS,
  fields: (visit, values) => {
    const coin = COINS.find(({ value }) => value === values['coin']);
    if (!coin) return { details: [{ path: 'coin', message: 'must be one of the list' }] };
    const { network, currency } = coin;
    // The amount of the form is always there: where a share is chosen, it is not what was meant.
    const amount = (values['share'] ?? '') === '' ? values['amount'] : undefined;
    return fieldsBy(visit.door.simulation, MEMBERS)(visit, {
      ...values,
      amount: amount ?? '',
      network,
      currency,
    });
  },
  prepare: async ({ deps }, input) => {
    if (!isUuid(input.customerId)) unknownCustomer(notFound('test customer'), input.customerId);
    return await priceSimulation(deps, input);
  },
  apply: async (tx, deps, { visit: { scope, to }, input, prepared: price }) => {
    const { merchantId } = scope;
    const made = await simulateDeposit(tx, deps, { merchantId, ...input, price });
    if (!made) return unknownCustomer(notFound('test customer'), input.customerId);
    return { to: to(`/deposits/${made.deposit.id}`) };
  },
  again: screen,
});

const OUTCOMES: Readonly<Record<SimulatedOutcome, string>> = {
  completed: 'Completed: it counts',
  detected: 'Seen, and nothing more yet',
  confirming: 'Waiting for confirmations',
  failed: 'Failed: refused by the operator',
  settled: 'Completed and paid out to you',
  reorged: 'Failed: its block was replaced',
};

const SHARES = [
  { value: '', label: 'The amount above' },
  { value: 'full', label: 'All that is missing' },
  { value: 'half', label: 'Half of what is missing' },
  { value: 'double', label: 'Twice what is missing' },
];

const ANNOUNCED = [
  { value: 'final', label: 'The last state alone' },
  { value: 'full', label: 'Every state on the way' },
];

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const { to } = visit;
  const { values, errors } = typed;
  const at = (name: string, usual?: string) => ({
    name,
    value: values[name] ?? usual,
    error: errors[name],
  });
  const title = 'Simulate a deposit';
  const top = html`${crumb(to('/deposits'), 'Deposits')}${heading(title)}`;
  const customer = await customerChoice(visit, typed);
  if (customer === undefined)
    return {
      title,
      body: html`${top}${emptyState('There is no test customer yet', 'A deposit is one of a customer.', { href: to('/customers/new'), label: 'Make a customer' })}`,
    };
  return {
    title,
    body: html`${top}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
<p>Only the chain is replaced: the deposit, its events and what is sent to your endpoints are made as for real money.</p>
${customer}
${selectField({ ...at('coin', USUAL), label: 'What arrives' }, COINS)}
${textField({ ...at('amount', SIMULATED_AMOUNT), label: 'Amount, in coins', required: true }, ' inputmode="decimal" maxlength="40" autocomplete="off"')}
${selectField(
  { ...at('outcome', SIMULATED_OUTCOMES[0]), label: 'Where it ends' },
  SIMULATED_OUTCOMES.map((value) => ({ value, label: OUTCOMES[value] })),
)}
${selectField({ ...at('events', 'final'), label: 'What your endpoints are told' }, ANNOUNCED)}
${selectField({ ...at('share'), label: 'How much of a payment link' }, SHARES)}
${textField({ ...at('payment_token'), label: 'Token of a payment link', hint: 'Empty: the link is found by amount and age, as for real money.' }, ' maxlength="64" spellcheck="false" autocapitalize="none"')}
<button type="submit">Simulate the deposit</button>
</form>`)}`,
  };
}
