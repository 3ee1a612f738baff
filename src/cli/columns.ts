import { confirmationsText } from '../domain/deposit.ts';
import { ageOf, type View, type ViewColumn } from './print.ts';

type Attempt = { number: number; started_at: string; status_code: number | null; error: string | null };
type Delivery = { id: string; status: string; url: string; attempts: readonly Attempt[] };

const attemptsOf = ({ attempts }: View) => attempts as readonly Attempt[];
const answerOf = (one: Attempt | undefined) => one?.status_code ?? one?.error;
const answersOf = (view: View): string =>
  attemptsOf(view)
    .map((one) => `${one.number}. ${one.started_at} ${answerOf(one) ?? 'no answer yet'}`)
    .join(', ');
const deliveriesOf = ({ deliveries }: View): string =>
  (deliveries as readonly Delivery[])
    .map((one) => `${one.id} to ${hostOf(one.url)}: ${one.status} (${answersOf(one)})`)
    .join(', ') || 'nobody had asked for it';

/** The host of a receiver: all of its URL that a list has room for. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'an unknown host');

const confirmations = (view: View): string =>
  confirmationsText(Number(view['confirmations']), Number(view['required_confirmations']));

const columns = (fields: string): ViewColumn[] => fields.split(', ');

/** The columns of a list by what is in it, in the order of their importance. */
export const COLUMNS: Readonly<Record<string, readonly ViewColumn[]>> = {
  deposit: [
    ...columns('id, status, amount currency, network, is_live'),
    ['CONF', confirmations],
    ['AGE', (view) => ageOf(String(view['detected_at']))],
    ['TRANSACTION', 'transaction_hash'],
    ...columns('merchant_id, customer_id, address, detected_at'),
  ],
  customer: columns('id, is_live, email, external_id, merchant_id, created_at, name'),
  payment_link: [
    ...columns('id, status'),
    ['PAID', 'paid_amount_usd'],
    ['OF', 'amount_usd'],
    ...columns('is_live, merchant_id, customer_id, expires_at, created_at, external_id'),
  ],
  endpoint: [
    'id',
    ['STATE', (view) => (view['enabled'] ? 'enabled' : 'disabled')],
    'is_live',
    ['FAILED', 'consecutive_failures'],
    ['LAST', 'last_status_code'],
    ...columns('merchant_id, last_delivery_at, url, events'),
    ['WHY', 'disabled_reason'],
  ],
  event: columns('id, event, is_live, timestamp, subject_id, merchant_id'),
  delivery: [
    ...columns('id, event, status'),
    ['TRIED', (view) => attemptsOf(view).length],
    'created_at',
    ['NEXT', 'next_attempt_at'],
    ['LAST ANSWER', (view) => answerOf(attemptsOf(view).at(-1))],
    ...columns('url, about, merchant_id'),
  ],
  payout: [
    ...columns('id, state, gross currency, network, is_live, created_at'),
    ['WAIT', ({ wait }) => (wait as { readonly code: string } | null)?.code],
    'destination',
    ['TRANSACTION', 'transaction_hash'],
    'merchant_id',
  ],
};

const EVENTS: readonly ViewColumn[] = ['event', 'id', 'at', ['DELIVERIES', deliveriesOf]];
const ADDRESSES: readonly ViewColumn[] = ['network', 'address', ['SINCE', 'created_at']];
const DEPOSITS = COLUMNS['deposit'] ?? [];

/** The lists within a view that are tables below its fields, by what it is a view of. */
export const LISTS_IN: Readonly<Record<string, Readonly<Record<string, readonly ViewColumn[]>>>> = {
  address: { addresses: ADDRESSES },
  customer: { addresses: ADDRESSES, deposits: DEPOSITS },
  payment_link: {
    transactions: columns('status, amount, network, confirmations, transaction_hash'),
    deposits: DEPOSITS,
    events: EVENTS,
  },
  deposit: {
    transitions: [['STATE', 'to'], ...columns('at, by, reason')],
    postings: [['POSTING', 'kind'], ...columns('account, amount currency')],
    events: EVENTS,
  },
  event: { deliveries: [...columns('id, status, url'), ['ATTEMPTS', answersOf]] },
  delivery: { attempts: columns('number, started_at, status_code, error') },
  payout: {
    transactions: [
      ...columns('purpose attempt, state, amount currency, fee'),
      ['BLOCK', 'block_number'],
      ['TRANSACTION', 'transaction_hash'],
      'refused',
    ],
  },
};
