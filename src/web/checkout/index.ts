import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { type Html, html, plainText } from '../html.ts';
import type { Page, Script } from '../layout.ts';
import type { PayerPages, Visitor } from '../visitor.ts';
import { wordsOf } from '../words/index.ts';
import { failure, outages, REFRESH_SECONDS } from './failure.ts';
import { isLive } from './followed.ts';
import {
  description,
  languages,
  refreshNote,
  roomOfOpen,
  stateNotice,
  summary,
  testBanner,
  timeLeft,
  wayBack,
} from './frame.ts';
import { type PaymentInput, payment } from './payment.ts';
import type { Required } from './progress.ts';
import { lateTransactions, receipt, transactions } from './receipt.ts';
import { simulation } from './simulation.ts';
import { arrivedSoFar, isPaid, payerState } from './state.ts';
import { CHECKOUT_STYLE } from './style.ts';
import { pickedWay } from './ways.ts';

/** What makes the pages live where there is script. */
export type LiveParts<View = PublicPaymentView> = {
  /** Copies, shows the reader's own time. */
  readonly page: Script;
  /** Puts what changed into its place. */
  readonly live: Script;
  /** The idempotency key of a simulation: another one for each state of what is shown. */
  readonly simulationKey: (view: View) => string;
};

/** All pages that a payer can be answered with. Without `parts` they run nothing and ask for nothing. */
export function payerPages(required: Required, parts?: LiveParts): PayerPages {
  return {
    render: (view, visitor) => checkoutPage(view, required, visitor, parts),
    unknown: ({ lang }) => failure(lang, wordsOf(lang).unknown, 404),
    ...outages,
  };
}

/**
 * The payer's page of a payment link: what to pay and where while it is open, and how it ended afterwards.
 * The most important first: on a phone it is read without scrolling.
 */
export function checkoutPage(
  view: PublicPaymentView,
  required: Required,
  visitor: Visitor,
  parts?: LiveParts,
): Page {
  const words = wordsOf(visitor.lang);
  const method = pickedWay(view.methods, visitor.network);
  const chosen: Visitor = { ...visitor, network: method?.network ?? visitor.network };
  const state = payerState(view, required, words);
  const moves = isLive(view);
  const canSimulate = parts !== undefined && !view.is_live && method !== undefined;
  return {
    title: `${view.is_live ? '' : `${words.test.mark} · `}${state.title} – ${plainText(view.merchant.name)}`,
    lang: visitor.lang,
    style: CHECKOUT_STYLE,
    refreshSeconds: moves && visitor.refresh ? REFRESH_SECONDS : undefined,
    scripts: parts && (moves ? [parts.page, parts.live] : [parts.page]),
    connects: parts !== undefined && moves,
    hasForm: canSimulate,
    body: html`${view.is_live ? null : testBanner(words)}
${summary(view, words)}
${stateNotice({
  status: view.status,
  state,
  left: state.counts ? timeLeft(view, words) : null,
  room: state.counts ? roomOfOpen(view, required, words) : undefined,
})}
${isPaid(view) ? wayBack(view, words) : null}
${method ? wayOf({ view, method, visitor: chosen, words }) : null}
${canSimulate ? simulation(view, parts.simulationKey(view), chosen) : null}
${below(view, required, chosen, parts !== undefined)}`,
  };
}

/**
 * The way to pay; folded where money was sent that does not count, so that nobody pays twice by habit. What
 * is below the minimum pays nothing twice, and a stranger may have sent it.
 */
function wayOf(input: PaymentInput): Html {
  const { view, words } = input;
  const isSent = view.transactions.some(
    ({ status, failure_code: code }) => status === 'failed' && code !== 'BELOW_MINIMUM',
  );
  if (!isSent) return payment(input);
  return html`<details id="anyway">
<summary>${words.states.anyway}</summary>
${payment(input)}
</details>`;
}

/**
 * What stands below the way to pay. Where that goes, or grows by a payment, what is below is put in anew by
 * the script, by another id, and nothing that stays slides away under a finger.
 */
function below(view: PublicPaymentView, required: Required, visitor: Visitor, withScript: boolean): Html {
  const words = wordsOf(visitor.lang);
  const paid = isPaid(view);
  const way = view.methods.length > 0 ? 'open' : 'ended';
  const seen = paid ? receipt(view, required, words) : transactions(view, required, words);
  const arrived = arrivedSoFar(view, words) === undefined ? 'all' : 'part';
  const rows = `${view.transactions.length}-${view.late_transactions.length}-${arrived}`;
  const note = { seconds: REFRESH_SECONDS, onlyWithoutScript: withScript };
  return html`<div id="seen-${paid ? 'paid' : way}">${seen}</div>
<div id="below-${paid ? 'paid' : way}-${rows}">${lateTransactions(view, required, words)}
${description(view, words)}
${paid ? null : wayBack(view, words)}
<footer class="no-print">
${isLive(view) ? refreshNote(visitor, note) : null}
${languages(visitor)}
</footer>
</div>`;
}
