import {
  type AddressPageView,
  MAX_DEPOSITS_SHOWN,
  type ShownDeposit,
} from '../../services/address-pages/view.ts';
import { ownQuery } from '../checkout/own-query.ts';
import { progressOf, type Required, whyFailed } from '../checkout/progress.ts';
import { type TransactionRow, transactionRows } from '../checkout/receipt.ts';
import { type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import type { Visitor } from '../visitor.ts';
import { type Words, wordsOf } from '../words/index.ts';

/** So many are shown until the visitor wants more. */
const FIRST = 10;

function shownDeposits({ deposits }: AddressPageView, { all }: Visitor): readonly ShownDeposit[] {
  return all ? deposits : deposits.slice(0, FIRST);
}

/**
 * What makes the list taller, for the ids of what it would move: the script puts that in anew.
 */
export function heightOf(view: AddressPageView, visitor: Visitor): string {
  const shown = shownDeposits(view, visitor);
  return `${shown.length}-${shown.filter(({ status }) => status === 'failed').length}`;
}

/** What came so far, newest first, and what became of it. */
export function depositList(view: AddressPageView, required: Required, visitor: Visitor): Html {
  const words = wordsOf(visitor.lang);
  const shown = shownDeposits(view, visitor);
  const body =
    shown.length === 0
      ? html`<p class="muted">${words.address.none}</p>`
      : html`${transactionRows(
          shown.map((row) => rowOf(row, required, words)),
          words,
        )}
${more(view, shown.length, visitor)}`;
  const failed = shown.filter(({ status }) => status === 'failed').length;
  const list = html`<div id="list-${failed}">${body}</div>`;
  return card(list, { id: 'deposits', title: words.address.deposits });
}

function rowOf(deposit: ShownDeposit, required: Required, words: Words): TransactionRow {
  return {
    ...deposit,
    text: progressOf(deposit, required, words).text,
    at: deposit.detected_at,
    ...whyFailed(deposit, words),
  };
}

function more(view: AddressPageView, shown: number, visitor: Visitor): Html | null {
  const { address } = wordsOf(visitor.lang);
  if (shown < view.deposits.length)
    return html`<p id="more"><a class="button quiet" href="${ownQuery({ ...visitor, all: true })}">${address.more}</a></p>`;
  return view.more_deposits
    ? html`<p class="muted" id="more">${address.newestOnly(MAX_DEPOSITS_SHOWN)}</p>`
    : null;
}
