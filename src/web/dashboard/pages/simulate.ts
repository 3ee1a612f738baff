import { chainOf } from '../../../chains/index.ts';
import { SIMULATED_AMOUNT } from '../../../contract/deposit.ts';
import { ASSETS } from '../../../domain/assets.ts';
import { SIMULATED_OUTCOMES, type SimulatedOutcome } from '../../../domain/deposit.ts';
import { isUuid } from '../../../domain/ids.ts';
import { priceSimulation, simulateDeposit } from '../../../services/deposits/simulate.ts';
import { notFound } from '../../../services/refusal.ts';
import { html } from '../../html.ts';
import { exact, readBy, select, text } from '../fields.ts';
import { form } from '../form.ts';
import { emptyOf, heading, type LinkTo } from '../pieces.ts';
import { customerChoice, customerKnown, unknownCustomer } from './customers.ts';

/** A simulation asks for the price first. */
const PRICE_WAIT_MS = 2_000;
const MEMBERS = 'customer_id amount share payment_token outcome events network currency'.split(' ');
const TITLE = 'Simulate a deposit';
const BACK: LinkTo = ['/deposits', 'Deposits'];

/** What can arrive, each coin with its network: there is no other pair. */
const COINS = ASSETS.map(({ network, currency }) => ({
  network,
  currency,
  value: `${network}:${currency}`,
  label: `${currency} on ${chainOf(network).label}`,
}));
const USUAL = COINS.find(({ currency }) => currency === 'USDT')?.value;

const OUTCOMES: Readonly<Record<SimulatedOutcome, string>> = {
  completed: 'Completed: it counts',
  detected: 'Seen, and nothing more yet',
  confirming: 'Waiting for confirmations',
  failed: 'Failed: refused by the operator',
  settled: 'Completed and paid out to you',
  reorged: 'Failed: its block was replaced',
};
const OUTCOME_CHOICES = SIMULATED_OUTCOMES.map((value) => ({ value, label: OUTCOMES[value] }));

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

const FIELDS = [
  select('coin', 'What arrives', COINS, { usual: USUAL }),
  text('amount', 'Amount, in coins', ' inputmode="decimal" maxlength="40" autocomplete="off"', {
    usual: SIMULATED_AMOUNT,
    required: true,
  }),
  select('outcome', 'Where it ends', OUTCOME_CHOICES, { usual: SIMULATED_OUTCOMES[0] }),
  select('events', 'What your endpoints are told', ANNOUNCED, { usual: 'final' }),
  select('share', 'How much of a payment link', SHARES),
  text('payment_token', 'Token of a payment link', exact(64), {
    hint: 'Empty: the link is found by amount and age, as for real money.',
  }),
];

/** Makes a test deposit through the same tables and actor as real money, and goes on at its page. */
export const SIMULATE = form({
  path: '/simulate',
  only: 'test',
  guard: 'none',
  isTest: true,
  extraMs: PRICE_WAIT_MS,
  // The address may name the customer, the link and the amount.
  initial: (visit) => {
    const named = ['payment_token', 'amount'].flatMap((name) => {
      const value = visit.query[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    return { ...customerKnown(visit), ...Object.fromEntries(named) };
  },
  shows: async (visit, typed) => {
    const customer = await customerChoice(visit, typed);
    if (customer !== undefined)
      return {
        title: TITLE,
        back: BACK,
        text: 'Only the chain is replaced: the deposit, its events and what is sent to your endpoints are made as for real money.',
        fields: [customer, ...FIELDS],
        button: 'Simulate the deposit',
      };
    const none = emptyOf(visit, {
      title: 'There is no test customer yet',
      text: 'A deposit is one of a customer.',
      way: ['/customers/new', 'Make a customer'],
    });
    return { title: TITLE, body: html`${heading(visit, TITLE, BACK)}${none}` };
  },
  read: (visit, values) => {
    const coin = COINS.find(({ value }) => value === values['coin']);
    if (!coin) return { details: [{ path: 'coin', message: 'must be one of the list' }] };
    const { network, currency } = coin;
    // The amount of the form is always there: where a share is chosen, it is not what was meant.
    const amount = (values['share'] ?? '') === '' ? (values['amount'] ?? '') : '';
    return readBy(visit, visit.door.simulation, MEMBERS, { ...values, amount, network, currency });
  },
  prepare: async ({ deps }, input) => {
    if (!isUuid(input.customerId)) unknownCustomer(notFound('test customer'), input.customerId);
    return await priceSimulation(deps, input);
  },
  apply: async (tx, deps, { visit: { scope }, input, prepared: price }) => {
    const { merchantId } = scope;
    const made = await simulateDeposit(tx, deps, { merchantId, ...input, price });
    if (!made) return unknownCustomer(notFound('test customer'), input.customerId);
    return `/deposits/${made.deposit.id}`;
  },
});
