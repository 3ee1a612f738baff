import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { isOpenLink } from '../../domain/payment-link.ts';
import { html, plainText } from '../html.ts';
import type { Page, Script } from '../layout.ts';
import type { PayerPages, Visitor } from '../visitor.ts';
import { type Lang, wordsOf } from '../words/index.ts';
import { description, languages, refreshNote, stateNotice, summary, testBanner, wayBack } from './frame.ts';
import { payment } from './payment.ts';
import type { Required } from './progress.ts';
import { receipt, transactions } from './receipt.ts';
import { simulation } from './simulation.ts';
import { payerState } from './state.ts';
import { CHECKOUT_STYLE } from './style.ts';

/** Long enough to read and to copy, short enough to see the money arrive. */
const REFRESH_SECONDS = 15;

/** What makes the pages live where there is script. */
export type LiveParts = {
  /** Copies, shows the reader's own time. */
  readonly page: Script;
  /** Puts what changed into its place. */
  readonly live: Script;
  /** The idempotency key of a simulation: another one for each state of the link. */
  readonly simulationKey: (view: PublicPaymentView) => string;
};

/** All pages that a payer can be answered with. Without `parts` they run nothing and ask for nothing. */
export function payerPages(required: Required, parts?: LiveParts): PayerPages {
  return {
    render: (view, visitor) => checkoutPage(view, required, visitor, parts),
    unknown: ({ lang }) => failure(lang, 'unknown', 404),
    tooOften: ({ lang }) => failure(lang, 'tooOften', 429),
    unavailable: ({ lang }) => failure(lang, 'unavailable', 503),
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
  const method = view.methods.find(({ network }) => network === visitor.network) ?? view.methods[0];
  const chosen: Visitor = { ...visitor, network: method?.network ?? visitor.network };
  const state = payerState(view, required, words);
  const moves = canChange(view);
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
${stateNotice(view, state, words)}
${view.status === 'completed' ? wayBack(view, words) : null}
${method ? payment({ view, method, visitor: chosen, words }) : null}
${canSimulate ? simulation(view, parts.simulationKey(view), chosen) : null}
${view.status === 'completed' ? receipt(view, required, words) : transactions(view, required, words)}
${description(view, words)}
${view.status === 'completed' ? null : wayBack(view, words)}
<footer class="no-print">
${moves ? refreshNote(chosen, { seconds: REFRESH_SECONDS, onlyWithoutScript: parts !== undefined }) : null}
${languages(chosen)}
</footer>`,
  };
}

/** Nothing about an ended link changes any more, unless a payment of it is still on its way. */
function canChange({ status, transactions: rows }: PublicPaymentView): boolean {
  return isOpenLink(status) || rows.some((row) => WAITING_STATES.includes(row.status));
}

/**
 * The answers where there is no link to show: for a token that is unknown and for one that cannot exist the
 * same, to the byte; for an address that asks too often; while the database is unreachable. The last two try
 * again by themselves, because the payer may be waiting for a confirmation.
 */
function failure(lang: Lang, kind: 'unknown' | 'tooOften' | 'unavailable', status: number): Page {
  const { title, heading, text } = wordsOf(lang)[kind];
  return {
    status,
    title,
    lang,
    refreshSeconds: kind === 'unknown' ? undefined : REFRESH_SECONDS,
    body: html`<div class="card">
<h1>${heading}</h1>
<p>${text}</p>
</div>`,
  };
}
