import { chainOf } from '../chains/index.ts';
import type { PublicPaymentView } from '../contract/payment-link.ts';
import { isOpenLink } from '../domain/payment-link.ts';
import { webAddress } from '../domain/web-address.ts';
import { dateTime, headline, progress, type Required, timeLeft } from './checkout-words.ts';
import { foreign, type Html, html, plainText } from './html.ts';
import type { Page } from './layout.ts';
import { qrCode } from './qr.ts';

/** Long enough to read and to copy, short enough to see the money arrive. */
const REFRESH_SECONDS = 15;

type Method = PublicPaymentView['methods'][number];

export type CheckoutChoice = {
  /** The network that the payer picked; an unknown one counts as none. */
  readonly network?: string | undefined;
  /** False once the payer stopped the page from loading itself again. */
  readonly refresh: boolean;
};

/**
 * The payer's page of a payment link: what to pay and where while it is open, and how it ended afterwards.
 */
export function checkoutPage(view: PublicPaymentView, required: Required, choice: CheckoutChoice): Page {
  const open = isOpenLink(view.status);
  const method = view.methods.find(({ network }) => network === choice.network) ?? view.methods[0];
  const chosen = { network: method?.network, refresh: choice.refresh };
  return {
    title: `${headline(view, required).title} – ${plainText(view.merchant.name)}`,
    refreshSeconds: open && choice.refresh ? REFRESH_SECONDS : undefined,
    body: html`${view.is_live ? null : TEST_BANNER}
${summary(view)}
${state(view, required)}
${method ? payment(view, method, choice.refresh) : null}
${transactions(view, required)}
${wayBack(view)}
${open ? refreshNote(chosen) : null}`,
  };
}

/** The answer for a token that is unknown and for one that cannot exist: the same, to the byte. */
export const UNKNOWN_LINK: Page = {
  status: 404,
  title: 'Payment link not found',
  body: html`<div class="card">
<h1>There is no such payment link</h1>
<p>Check that the address is complete, or ask the shop for a new link.</p>
</div>`,
};

/** The answer for an address that asks too often. */
export const TOO_OFTEN: Page = {
  status: 429,
  title: 'One moment, please',
  refreshSeconds: REFRESH_SECONDS,
  body: html`<div class="card">
<h1>Too many requests come from your network</h1>
<p>This page tries again by itself. Nothing that you have sent is lost.</p>
</div>`,
};

/**
 * The answer while the database is unreachable. The page tries again by itself, because
 * the payer may be waiting for a confirmation.
 */
export const UNAVAILABLE: Page = {
  status: 503,
  title: 'Not available at the moment',
  refreshSeconds: REFRESH_SECONDS,
  body: html`<div class="card">
<h1>This page is not available at the moment</h1>
<p>It tries again by itself. Nothing that you have sent is lost.</p>
</div>`,
};

const TEST_BANNER = html`<div class="notice warn" role="note">
<strong>Test mode</strong>
This link is a rehearsal. Do not send real money: it would not be credited.
</div>`;

function summary(view: PublicPaymentView): Html {
  return html`<div class="card">
<h1>${foreign(view.merchant.name)}</h1>
<p class="amount">${view.amount_usd.toFixed(2)} USD</p>
${view.description ? html`<p class="description">${foreign(view.description)}</p>` : null}
</div>`;
}

function state(view: PublicPaymentView, required: Required): Html {
  const { tone, title, text } = headline(view, required);
  return html`<div class="notice ${tone}" data-status="${view.status}">
<strong>${title}</strong>
${text}
</div>`;
}

function payment(view: PublicPaymentView, method: Method, refresh: boolean): Html {
  const { currency, address } = method;
  const name = chainOf(method.network).label;
  return html`<section class="card" aria-labelledby="how">
<h2 id="how">How to pay</h2>
${view.methods.length > 1 ? networks(view.methods, method, refresh) : null}
<dl>
<dt>Send exactly</dt>
<dd><span class="mono" data-part="amount">${method.amount}</span> ${currency}</dd>
<dt>On the network</dt>
<dd data-part="network">${name}</dd>
<dt>To this address</dt>
<dd class="mono" data-part="address">${address}</dd>
<dt>Before</dt>
<dd>${dateTime(view.expires_at)} (${timeLeft(view).toLowerCase()})</dd>
</dl>
${qrCode(method.payment_uri, `QR code for ${method.amount} ${currency} to ${address} on ${name}`)}
<div class="notice warn" role="note">
<strong>Send only ${currency} on ${name}</strong>
Any other coin, or ${currency} on another network, may be lost.
</div>
${method.contract_address ? html`<p class="muted">${currency} contract: <span class="mono" data-part="contract">${method.contract_address}</span></p>` : null}
<p class="muted">This amount must arrive in full: what your wallet or exchange takes for sending comes on top. It counts after ${method.required_confirmations} confirmations.</p>
</section>`;
}

function networks(methods: readonly Method[], chosen: Method, refresh: boolean): Html {
  const items = methods.map(({ network }) => {
    const current = network === chosen.network ? html` aria-current="true"` : null;
    return html`<li><a href="${ownQuery(network, refresh)}"${current}>${chainOf(network).label}</a></li>\n`;
  });
  return html`<ul class="choice" aria-label="Choose the network">
${items}</ul>`;
}

function transactions(view: PublicPaymentView, required: Required): Html | null {
  if (view.transactions.length === 0) return null;
  const rows = view.transactions.map(
    (row) => html`<li>
<div>${row.amount} USDT on ${chainOf(row.network).label}</div>
<div class="muted">${progress(row, required)}</div>
<div class="mono" data-part="transaction">${row.transaction_hash}</div>
</li>
`,
  );
  return html`<section class="card" aria-labelledby="seen">
<h2 id="seen">${view.transactions.length === 1 ? 'Transaction' : 'Transactions'}</h2>
<ul class="rows">
${rows}</ul>
</section>`;
}

/**
 * A link back to the shop: after the payment, or instead of it. The host is
 * shown, so that the payer sees where it leads.
 */
function wayBack(view: PublicPaymentView): Html | null {
  const paid = view.status === 'completed';
  const target = webAddress((paid ? view.success_url : view.cancel_url) ?? '');
  if (!target) return null;
  const look = paid ? html` class="button"` : null;
  return html`<p><a href="${target.href}" rel="noopener noreferrer nofollow"${look}>${paid ? 'Continue to' : 'Back to'} ${target.host}</a></p>`;
}

/** People who read slowly, or have the page read aloud, can stop it from loading again. */
function refreshNote({ network, refresh }: CheckoutChoice): Html {
  const other = ownQuery(network, !refresh);
  return refresh
    ? html`<footer><p>This page refreshes itself every ${REFRESH_SECONDS} seconds. <a href="${other}">Stop refreshing</a></p></footer>`
    : html`<footer><p><a href="${ownQuery(network, false)}">Refresh now</a> · <a href="${other}">Refresh by itself</a></p></footer>`;
}

/**
 * A link to this same page with the payer's choices: a query alone keeps
 * whatever address the page was reached by.
 */
function ownQuery(network: string | undefined, refresh: boolean): string {
  return `?${new URLSearchParams({ ...(network === undefined ? {} : { network }), ...(refresh ? {} : { refresh: 'off' }) })}`;
}
