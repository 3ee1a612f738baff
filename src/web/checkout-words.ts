import type { PublicPaymentView } from '../contract/payment-link.ts';
import type { Network } from '../domain/assets.ts';

export type Headline = {
  readonly tone: 'info' | 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
};

/** Confirmations that a payment needs, by network. */
export type Required = Readonly<Record<Network, number>>;

type Transaction = PublicPaymentView['transactions'][number];

/** The state of the link in the payer's words. */
export function headline(view: PublicPaymentView, required: Required): Headline {
  switch (view.status) {
    case 'pending':
      return {
        tone: 'info',
        title: 'Waiting for your payment',
        text: `Nothing has arrived yet. ${rest(view)}`,
      };
    case 'processing':
      return { tone: 'info', title: 'Payment seen', text: processing(view, required) };
    case 'partially_paid':
      return { tone: 'warn', title: 'Part of the amount has arrived', text: rest(view) };
    case 'completed':
      return { tone: 'good', title: 'Paid', text: completed(view) };
    case 'expired':
      return { tone: 'bad', title: 'This payment link has expired', text: closed(view) };
    case 'cancelled':
      return { tone: 'bad', title: 'This payment link was cancelled', text: closed(view) };
  }
}

/** A transaction's progress: "3 of 15 confirmations", or what became of it. */
export function progress(row: Transaction, required: Required): string {
  if (row.status === 'failed') return 'Not counted';
  if (row.status === 'completed' || row.status === 'settled') return 'Confirmed';
  // The count goes on while finality is awaited; "17 of 15" would only confuse.
  const needed = required[row.network];
  return `${Math.min(row.confirmations, needed)} of ${plural(needed, 'confirmation')}`;
}

/** A time of the API in words that hold for every time zone of the reader: "2026-11-21 20:30 UTC". */
export function dateTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

/**
 * "42 minutes left", by the server's clock; rounded down, so that a payer is
 * never told of more time than there is.
 */
export function timeLeft(view: Pick<PublicPaymentView, 'expires_at' | 'server_time'>): string {
  const minutes = Math.floor((Date.parse(view.expires_at) - Date.parse(view.server_time)) / 60_000);
  if (minutes < 1) return 'Less than a minute left';
  if (minutes < 120) return `${plural(minutes, 'minute')} left`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${plural(hours, 'hour')} left` : `${plural(Math.floor(hours / 24), 'day')} left`;
}

const OVER =
  'The time to pay is over. A payment that was sent in time still counts once the network shows it.';

/** No network is watched at the moment, so nobody would see what is sent. */
const CLOSED_NOW =
  'This link cannot be paid at the moment. Do not send anything: try again later, or ask the shop.';

const isOver = (view: Pick<PublicPaymentView, 'server_time' | 'expires_at'>): boolean =>
  Date.parse(view.server_time) >= Date.parse(view.expires_at);

/**
 * What is left to send and until when. Without a way to pay, either the time is over and only what was sent
 * before is still waited for, or the link cannot be paid at the moment.
 */
function rest(view: PublicPaymentView): string {
  const [method] = view.methods;
  if (!method) return isOver(view) ? OVER : CLOSED_NOW;
  const missing = view.status === 'pending' ? '' : `${method.amount} ${method.currency} is still missing. `;
  return `${missing}${timeLeft(view)}.`;
}

function processing(view: PublicPaymentView, required: Required): string {
  const waiting = view.transactions.filter(({ status }) => status === 'detected' || status === 'confirming');
  // The slowest transaction decides when the payment is done.
  const [slowest] = [...waiting].sort((a, b) => a.confirmations - b.confirmations);
  const wait = slowest
    ? `It waits for the network: ${progress(slowest, required)}.`
    : 'It waits for the network.';
  if (view.methods.length > 0) return `${wait} ${rest(view)}`;
  // No way to pay is left: either enough was seen, or the time is over and it may not have been enough.
  return isOver(view) ? `${wait} ${OVER}` : `${wait} There is nothing to send now.`;
}

function completed(view: PublicPaymentView): string {
  const thanks = 'The payment is confirmed. Thank you.';
  return view.amount_status === 'overpaid'
    ? `${thanks} You sent more than was asked for: ask the shop about the difference.`
    : thanks;
}

function closed(view: PublicPaymentView): string {
  const arrived =
    view.amount_status === 'late' || view.transactions.some(({ status }) => status !== 'failed');
  return arrived
    ? 'Do not send more money for it. Something has arrived: ask the shop what becomes of it.'
    : 'Do not send money for it. The shop can make a new link.';
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
