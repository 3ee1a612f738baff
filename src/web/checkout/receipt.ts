import { chainOf } from '../../chains/index.ts';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { CREDITED_STATES, type DepositState } from '../../domain/deposit.ts';
import { LINK_CURRENCY } from '../../domain/payment-link.ts';
import { MAX_LATE_SHOWN } from '../../services/payment-links/present.ts';
import { foreign, type Html, html } from '../html.ts';
import { amount } from '../parts/amount.ts';
import { badge } from '../parts/badge.ts';
import { card } from '../parts/card.ts';
import { copyable } from '../parts/copyable.ts';
import type { Tone } from '../parts/notice.ts';
import type { Words } from '../words/index.ts';
import { progressOf, type Required, whyFailed } from './progress.ts';
import { arrivedSoFar, creditedAmount, isCutOff } from './state.ts';

/** What was paid to whom and when, to be kept: it says everything without what stands around it. */
export function receipt(view: PublicPaymentView, required: Required, words: Words): Html {
  const { receipt: says } = words;
  const received = creditedAmount(view);
  const paidOn = view.paid_network && chainOf(view.paid_network).label;
  return card(
    html`<dl>
<dt>${says.from}</dt>
<dd>${foreign(view.merchant.name)}</dd>
${view.description ? html`<dt>${says.purpose}</dt>\n<dd class="description">${foreign(view.description)}</dd>\n` : null}<dt>${says.asked}</dt>
<dd><span class="amount">${words.usd(view.amount_usd)}</span></dd>
${received === undefined ? null : html`<dt>${says.received}</dt>\n<dd data-part="received">${amount(received, view.currency)}</dd>\n`}${paidOn ? html`<dt>${says.network}</dt>\n<dd>${paidOn}</dd>\n` : null}${view.completed_at ? html`<dt>${says.time}</dt>\n<dd><time datetime="${view.completed_at}" data-local>${words.dateTime(view.completed_at)}</time></dd>\n` : null}</dl>
${rowsOf(view, required, words)}
<p class="muted no-print">${says.keep}</p>`,
    { id: 'receipt', title: says.title },
  );
}

/** The payments that were seen, each with what became of it; null where there are none. */
export function transactions(view: PublicPaymentView, required: Required, words: Words): Html | null {
  if (view.transactions.length === 0) return null;
  const arrived = arrivedSoFar(view, words);
  // Below the rows, which it would move.
  const sum = arrived === undefined ? null : html`\n<p id="arrived">${arrived}</p>`;
  return card(html`${rowsOf(view, required, words)}${sum}`, {
    id: 'seen',
    title: words.transactions.title(view.transactions.length),
  });
}

/** What came too late, which its payer can show the shop; null where nothing did. */
export function lateTransactions(
  { late_transactions: rows }: PublicPaymentView,
  required: Required,
  words: Words,
): Html | null {
  if (rows.length === 0) return null;
  const { late, tooLate, notCounted, firstLate } = words.transactions;
  // What was confirmed may still vanish with its block, or be refused by the operator.
  const shown = rows.map((row) => ({
    ...row,
    currency: LINK_CURRENCY,
    ...(CREDITED_STATES.includes(row.status)
      ? { text: tooLate, tone: 'warn' as const, why: notCounted }
      : { text: progressOf(row, required, words).text }),
  }));
  const more = rows.length < MAX_LATE_SHOWN ? null : html`\n<p class="muted">${firstLate(rows.length)}</p>`;
  return card(html`${transactionRows(shown, words, 'late')}${more}`, {
    id: 'late',
    title: late(rows.length),
  });
}

function rowsOf(view: PublicPaymentView, required: Required, words: Words): Html {
  const { transactions: rows } = view;
  const shown = rows.map((row) => ({
    ...row,
    currency: LINK_CURRENCY,
    text: progressOf(row, required, words).text,
    ...whyFailed(row, words),
  }));
  return html`${transactionRows(shown, words)}${isCutOff(view) ? html`\n<p class="muted">${words.transactions.firstOnly(rows.length)}</p>` : null}`;
}

/** A payment as a row shows it; `text` says how far it is. */
export type TransactionRow = Pick<
  PublicPaymentView['transactions'][number],
  'transaction_hash' | 'network' | 'amount' | 'status'
> & {
  readonly currency: string;
  readonly text: string;
  /** When it was seen, where that is shown. */
  readonly at?: string;
  /** Why it was not counted. */
  readonly why?: string;
  /** Where the state of its deposit does not say it. */
  readonly tone?: Tone;
};

/**
 * Payments with what became of each. A row's place names it, so that news change it where it stands; `kind`
 * tells the rows of one list from those of another one on the page.
 */
export function transactionRows(rows: readonly TransactionRow[], words: Words, kind?: 'late'): Html {
  const prefix = kind === undefined ? '' : `${kind}-`;
  const { transactions: says, copy, copies } = words;
  const items = rows.map((row, index) => {
    const id = `${prefix}transaction-${index + 1}`;
    const shown = copyable(row.transaction_hash, {
      id,
      name: copies.transaction(index + 1),
      words: copy,
      shown: html`<span data-part="transaction">${row.transaction_hash}</span>`,
    });
    return html`<li id="${prefix}row-${index + 1}">
<div>${says.amountOn(`${row.amount} ${row.currency}`, chainOf(row.network).label)}</div>
${row.at === undefined ? null : html`<div><time class="muted" datetime="${row.at}" data-local>${words.dateTime(row.at)}</time></div>\n`}<div>${badge(row.tone ?? toneOf(row.status), row.text)}</div>
${row.why === undefined ? null : html`<div class="muted">${row.why}</div>\n`}<div>${shown}</div>
</li>
`;
  });
  return html`<ul class="rows">
${items}</ul>`;
}

function toneOf(status: DepositState): Tone {
  if (status === 'failed') return 'bad';
  return CREDITED_STATES.includes(status) ? 'good' : 'info';
}
