import { chainOf } from '../../chains/index.ts';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { copyable, copyButton } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import { keptQrCode } from '../qr.ts';
import type { Visitor } from '../visitor.ts';
import type { Words } from '../words/index.ts';
import { isBrief } from './state.ts';
import { addressCode, addressText, costsAlone, networks, testCode } from './ways.ts';

type Method = PublicPaymentView['methods'][number];

/** A link that can be paid, and the way of paying it that was chosen. */
export type PaymentInput = {
  readonly view: PublicPaymentView;
  readonly method: Method;
  readonly visitor: Visitor;
  readonly words: Words;
};

/** What to send where, in the order in which a payer needs it. */
export function payment(input: PaymentInput): Html {
  const { view, method, words } = input;
  return card(
    html`${networks(view.methods, method, input.visitor)}
${whatAndWhere(input)}
${view.is_live ? warning(method, words) : notice('warn', words.test.warning)}
${view.is_live ? codes(method, words) : testCode(method, words)}
${details(method, words)}`,
    { id: 'pay', title: words.way.title },
  );
}

/** An amount that changes is another element: what stands beside it comes anew with it, and moves nothing. */
function whatAndWhere({ view, method, words }: PaymentInput): Html {
  const { way, copy, copies } = words;
  const { label } = chainOf(method.network);
  return html`<dl class="send">
<dt>${way.send}</dt>
<dd class="copy"><span class="exact${isBrief(method.amount) ? null : ' long'}" id="exact-${method.amount}"><span class="mono" id="amount" data-part="amount">${method.amount}</span> ${method.currency}</span>${copyButton('amount', copies.amount, copy)}</dd>
<dt data-part="network">${view.is_live ? way.to(label) : way.testTo(label)}</dt>
<dd>${addressText(method.address, words)}</dd>
</dl>
${costsAlone(view.methods, words)}`;
}

/** Where money gets lost: the wrong coin, the wrong network, a fee that is taken out of the amount. */
function warning({ network, currency }: Method, { warnings }: Words): Html {
  return notice('warn', {
    title: warnings.title(currency, chainOf(network).label),
    text: html`<ul>
<li>${warnings.wrong(currency)}</li>
<li>${warnings.exchange}</li>
<li>${warnings.coin(NATIVE_CURRENCY[network])}</li>
</ul>`,
  });
}

/**
 * The code of the address first, which every wallet reads; the one of the whole payment behind it, because
 * some wallets read only a part of that, and a few the wrong one.
 */
function codes(method: Method, words: Words): Html {
  const { network, currency, amount, address, payment_uri } = method;
  const { way } = words;
  const { label } = chainOf(network);
  return html`${addressCode(method, words, way.codeCaption)}
<details id="whole-${network}">
<summary>${way.wholeCode}</summary>
${keptQrCode(payment_uri, way.wholeCodeLabel(`${amount} ${currency}`, address, label))}
<p class="muted">${way.wholeCodeCaption}</p>
<p><a class="button quiet" href="${payment_uri}">${way.openWallet}</a></p>
</details>`;
}

function details(method: Method, { details: words, copy, copies }: Words): Html {
  const { currency, amount, least_amount, contract_address, required_confirmations } = method;
  const least = `${least_amount} ${currency}`;
  return html`<details id="details-${method.network}">
<summary>${words.title}</summary>
<dl>
<dt>${words.amount}</dt>
<dd>${least_amount === amount ? words.nothingTolerated : words.tolerated(least)}</dd>
<dt>${words.contract(currency)}</dt>
<dd>${copyable(contract_address, {
    id: 'contract',
    name: copies.contract,
    words: copy,
    shown: html`<span data-part="contract">${contract_address}</span>`,
  })}</dd>
<dt>${words.counts}</dt>
<dd>${words.confirmations(required_confirmations)}</dd>
</dl>
</details>`;
}
