import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { CREDITED_STATES, WAITING_STATES } from '../../domain/deposit.ts';
import { formatUnits, parseUnits } from '../../domain/money.ts';
import { isOpenLink, LINK_DECIMALS, neverCompletes } from '../../domain/payment-link.ts';
import { MAX_TRANSACTIONS_SHOWN } from '../../services/payment-links/present.ts';
import type { Tone } from '../parts/notice.ts';
import type { Words } from '../words/index.ts';
import { progressOf, type Required } from './progress.ts';

/** The state of a link in the payer's words, and what is shown of it beside them. */
export type PayerState = {
  readonly tone: Tone;
  readonly title: string;
  /** Sentences, the most important first. */
  readonly texts: readonly string[];
  /** The confirmations of the slowest payment on its way. */
  readonly bar?: { readonly done: number; readonly needed: number; readonly text: string };
  /** The time that is left to pay counts. */
  readonly counts: boolean;
};

/** An amount with more characters than this does not stay on one line of a phone. */
export const BRIEF = 8;
/** Whether an amount is shown large, and on one line with what is said of it. */
export const isBrief = (amount: string): boolean => amount.length <= BRIEF;

/**
 * What the payer has to know first. Exhaustive: each view of a link has exactly one state. Of an open link,
 * that money was sent for it and does not count comes before all else.
 */
export function payerState(view: PublicPaymentView, required: Required, words: Words): PayerState {
  const state = countedState(view, required, words);
  const failed = isOpenLink(view.status) ? failedPayments(view, words) : undefined;
  if (failed === undefined) return state;
  const title = view.status === 'pending' ? failed.title : state.title;
  return { ...state, tone: 'warn', title, texts: [failed.text, ...state.texts] };
}

/** What is said of money that was sent for the link and failed; undefined where none did. */
export function failedPayments(
  { transactions, currency }: Pick<PublicPaymentView, 'transactions' | 'currency'>,
  { states }: Words,
): { readonly title: string; readonly text: string } | undefined {
  const failed = transactions.filter(({ status }) => status === 'failed');
  const arrived = failed.filter(hasArrived);
  const shown = arrived.length > 0 ? arrived : failed;
  if (shown.length === 0) return undefined;
  const { title, text } = arrived.length > 0 ? states.held : states.replaced;
  const units = shown.reduce((sum, { amount }) => sum + parseUnits(amount, LINK_DECIMALS), 0n);
  return { title, text: text(`${formatUnits(units, LINK_DECIMALS)} ${currency}`) };
}

/** Only what is in no block any more is not with the shop, whatever else became of it. */
function hasArrived({ status, failure_code: code }: PublicPaymentView['transactions'][number]): boolean {
  return status !== 'failed' || code !== 'REORGED';
}

function countedState(view: PublicPaymentView, required: Required, words: Words): PayerState {
  const { states } = words;
  const [method] = view.methods;
  switch (view.status) {
    case 'completed':
      if (!isPaid(view)) return { tone: 'warn', ...takenBack(view, words), counts: false };
      return { tone: 'good', title: states.paid.title, texts: paidTexts(view, words), counts: false };
    case 'expired':
    case 'cancelled':
      return { ...closed(view, view.status, words), counts: false };
    case 'processing':
      return seen(view, required, words);
    case 'pending':
      return method === undefined
        ? withoutWay(view, words)
        : { tone: 'info', title: states.pending.title, texts: [], counts: true };
    case 'partially_paid':
      return method === undefined
        ? withoutWay(view, words)
        : { tone: 'warn', title: states.partial.title, texts: [missing(method, words)], counts: true };
  }
}

/**
 * Whether a completed link is paid still. It stays completed where a payment of it fails afterwards: what
 * then counts is less than any link takes.
 */
export function isPaid(
  view: Pick<PublicPaymentView, 'status' | 'amount_status' | 'amount_usd' | 'transactions'>,
): boolean {
  if (view.status !== 'completed' || view.amount_status === 'none') return false;
  if (view.amount_status !== 'underpaid') return true;
  const units = creditedUnits(view);
  return units === undefined || !neverCompletes(units, askedUnits(view));
}

function takenBack(view: PublicPaymentView, { states }: Words): Pick<PayerState, 'title' | 'texts'> {
  const amount = creditedAmount(view);
  const asked = `${formatUnits(askedUnits(view), LINK_DECIMALS)} ${view.currency}`;
  const { title, confirmed, text } = states.takenBack;
  return { title, texts: [...(amount === undefined ? [] : [confirmed(amount, asked)]), text] };
}

/** The coins that are credited to the link; undefined where not all of its transactions are in the view. */
export function creditedAmount(view: Pick<PublicPaymentView, 'transactions'>): string | undefined {
  const units = creditedUnits(view);
  return units === undefined ? undefined : formatUnits(units, LINK_DECIMALS);
}

/** "Arrived: 10 of 25 USDT.", while a part is missing; undefined where not all of it is in the view. */
export function arrivedSoFar(view: PublicPaymentView, { states }: Words): string | undefined {
  const arrived = creditedAmount(view);
  if (view.status !== 'partially_paid' || arrived === undefined) return undefined;
  return states.partial.arrived(arrived, `${formatUnits(askedUnits(view), LINK_DECIMALS)} ${view.currency}`);
}

/** True once nothing that is sent from now on counts. */
export function isOver(
  view: Pick<PublicPaymentView, 'server_time' | 'expires_at'>,
  now = Date.parse(view.server_time),
): boolean {
  return now >= Date.parse(view.expires_at);
}

/** Whoever pays in the last moment, or just after it, stays on the page for less than this. */
const AWAITED_MS = 3_600_000;

/**
 * Whether a link that was not paid ended so shortly before that what was sent for it may still come, too
 * late: its payer looks at the page. A cancelled one is taken as if its time had run to its end.
 */
export function isAwaited(
  view: Pick<PublicPaymentView, 'status' | 'server_time' | 'expires_at'>,
  now = Date.parse(view.server_time),
): boolean {
  const isUnpaid = view.status === 'expired' || view.status === 'cancelled';
  return isUnpaid && now < Date.parse(view.expires_at) + AWAITED_MS;
}

/**
 * An open link that offers no way to pay although money is missing: the time is over and only what was sent
 * before is waited for, or no network is watched at the moment, so that nobody would see what is sent.
 */
function withoutWay(view: PublicPaymentView, { states }: Words): PayerState {
  const { title, text } = isOver(view) ? states.over : states.unpayable;
  return { tone: 'warn', title, texts: [text], counts: false };
}

function seen(view: PublicPaymentView, required: Required, words: Words): PayerState {
  const { states } = words;
  const waiting = view.transactions.filter(({ status }) => WAITING_STATES.includes(status));
  const credited = view.transactions.filter(({ status }) => CREDITED_STATES.includes(status));
  // The one that needs the longest decides when the payment is done. Once all are, the bar stays full until
  // the link itself is.
  const [slowest] = (waiting.length > 0 ? waiting : credited)
    .map((row) => progressOf(row, required, words))
    .sort((a, b) => a.done / a.needed - b.done / b.needed);
  const shown = { tone: 'info', title: states.seen.title, ...(slowest && { bar: slowest }) } as const;
  const [method] = view.methods;
  // The bar takes the room of a long amount, which stands below anyway.
  const rest = method && (isBrief(method.amount) ? missing(method, words) : states.missing(undefined));
  if (rest) return { ...shown, texts: [rest], counts: true };
  // No way to pay is left: either enough was seen, or the time is over and it may not have been enough.
  const texts = isOver(view) ? [states.over.text] : [states.seenCovered, states.seen.wait];
  return { ...shown, texts, counts: false };
}

function missing(method: PublicPaymentView['methods'][number], { states }: Words): string {
  return states.missing(`${method.amount} ${method.currency}`);
}

function paidTexts(view: PublicPaymentView, { states: { paid } }: Words): readonly string[] {
  if (view.amount_status === 'underpaid') return [paid.thanks, paid.underpaid];
  if (view.amount_status !== 'overpaid') return [paid.thanks];
  const units = creditedUnits(view);
  const more = units === undefined ? 0n : units - askedUnits(view);
  return [
    paid.thanks,
    more > 0n ? paid.overpaidBy(`${formatUnits(more, LINK_DECIMALS)} ${view.currency}`) : paid.overpaid,
  ];
}

function closed(
  view: PublicPaymentView,
  status: 'expired' | 'cancelled',
  { states }: Words,
): Omit<PayerState, 'counts'> {
  if (view.amount_status === 'late')
    return { tone: 'warn', title: states.late.title, texts: [states.late.text] };
  // What came too late and was mined once more is late again only when it is confirmed.
  const arrived = [...view.transactions, ...view.late_transactions].some(hasArrived);
  return {
    tone: arrived ? 'warn' : 'bad',
    title: states[status].title,
    texts: [
      arrived ? states.somethingArrived : states.nothingArrived,
      ...(isAwaited(view) ? [states.awaited] : []),
    ],
  };
}

/** Whether more may count for the link than its view shows. */
export function isCutOff({ transactions }: Pick<PublicPaymentView, 'transactions'>): boolean {
  return transactions.filter(({ status }) => status !== 'failed').length >= MAX_TRANSACTIONS_SHOWN;
}

function creditedUnits(view: Pick<PublicPaymentView, 'transactions'>): bigint | undefined {
  if (isCutOff(view)) return undefined;
  return view.transactions
    .filter(({ status }) => CREDITED_STATES.includes(status))
    .reduce((sum, { amount }) => sum + parseUnits(amount, LINK_DECIMALS), 0n);
}

/** What is asked for, one coin for one dollar. */
function askedUnits(view: Pick<PublicPaymentView, 'amount_usd'>): bigint {
  return parseUnits(view.amount_usd.toFixed(2), LINK_DECIMALS);
}
