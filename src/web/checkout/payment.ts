import { chainOf } from '../../chains/index.ts';
import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { copyable, copyButton } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import { qrCode } from '../qr.ts';
import type { Visitor } from '../visitor.ts';
import type { Words } from '../words/index.ts';
import { usualMinutes } from './durations.ts';
import { ownQuery } from './own-query.ts';

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
    html`${view.methods.length > 1 ? networks(input) : null}
${whatAndWhere(input)}
${view.is_live ? warning(method, words) : notice('warn', words.test.warning)}
${view.is_live ? codes(method, words) : testCode(method, words)}
${details(method, words)}`,
    { id: 'pay', title: words.way.title },
  );
}

function networks({ view, method: chosen, visitor, words }: PaymentInput): Html {
  const items = view.methods.map((method) => {
    const current = method.network === chosen.network ? html` aria-current="true"` : null;
    return html`<li><a href="${ownQuery({ ...visitor, network: method.network })}"${current}><strong>${chainOf(method.network).label}</strong> <span>${costs(method, words)}</span></a></li>\n`;
  });
  return html`<ul class="ways" aria-label="${words.way.choose}">
${items}</ul>`;
}

/** "Fee: a few cents · under a minute". */
function costs({ network, required_confirmations }: Method, { way }: Words): string {
  const { transferFee, blockMs } = chainOf(network);
  return `${way.fee[transferFee]} · ${way.takes(usualMinutes(required_confirmations, blockMs))}`;
}

/** An amount with more characters than this is written smaller, to stay on one line of a phone. */
const BIG = 10;

function whatAndWhere({ view, method, words }: PaymentInput): Html {
  const { way, copy, copies } = words;
  const { label } = chainOf(method.network);
  return html`<dl class="send">
<dt>${way.send}</dt>
<dd class="copy"><span class="exact${method.amount.length > BIG ? ' long' : null}"><span class="mono" id="amount" data-part="amount">${method.amount}</span> ${method.currency}</span>${copyButton('amount', copies.amount, copy)}</dd>
<dt data-part="network">${view.is_live ? way.to(label) : way.testTo(label)}</dt>
<dd>${copyable(method.address, { id: 'address', name: copies.address, words: copy, shown: inGroups(method.address) })}</dd>
</dl>
${view.methods.length > 1 ? null : html`<p class="muted" id="costs">${costs(method, words)}</p>`}`;
}

/** How many characters of an address the eye takes at once. */
const GROUP = 4;

/**
 * An address in groups that can be compared, and that stay one text when it is copied or read aloud: the
 * space between them is drawn, and a line may end there.
 */
function inGroups(address: string): Html {
  const groups = Array.from({ length: Math.ceil(address.length / GROUP) }, (_, index) =>
    address.slice(index * GROUP, (index + 1) * GROUP),
  );
  return html`<span class="groups" data-part="address">${groups.map((group) => html`<span>${group}</span><wbr>`)}</span>`;
}

/** Where money gets lost: the wrong coin, the wrong network, a fee that is taken out of the amount. */
function warning({ network, currency, amount }: Method, { warnings }: Words): Html {
  return notice('warn', {
    title: warnings.title(currency, chainOf(network).label),
    text: html`<ul>
<li>${warnings.wrong(currency)}</li>
<li>${warnings.exchange(`${amount} ${currency}`)}</li>
<li>${warnings.coin(NATIVE_CURRENCY[network])}</li>
</ul>`,
  });
}

/**
 * The code of the address first, which every wallet reads; the one of the whole payment behind it, because
 * some wallets read only a part of that, and a few the wrong one.
 */
function codes({ network, currency, amount, address, payment_uri }: Method, { way }: Words): Html {
  const { label } = chainOf(network);
  return html`<figure id="code-${network}">
${qrCode(address, way.code(address, label))}
<figcaption class="muted">${way.codeCaption}</figcaption>
</figure>
<details id="whole-${network}">
<summary>${way.wholeCode}</summary>
${qrCode(payment_uri, way.wholeCodeLabel(`${amount} ${currency}`, address, label))}
<p class="muted">${way.wholeCodeCaption}</p>
<p><a class="button quiet" href="${payment_uri}">${way.openWallet}</a></p>
</details>`;
}

/** Stamped, so that no wallet reads it: what is sent there for real would not be credited. */
function testCode({ network, address }: Method, { way, test }: Words): Html {
  return html`<figure class="stamped" id="code-${network}">
${qrCode(address, way.code(address, chainOf(network).label))}
<span class="stamp">${test.mark}</span>
<figcaption class="muted">${test.code}</figcaption>
</figure>`;
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
