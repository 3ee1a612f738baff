import { chainOf } from '../../chains/index.ts';
import { NATIVE_CURRENCY, SIMULATED_COINS } from '../../domain/assets.ts';
import type { AddressPageView, AddressWay } from '../../services/address-pages/view.ts';
import { ownQuery } from '../checkout/own-query.ts';
import { addressCode, addressText, costsAlone, networks, testCode } from '../checkout/ways.ts';
import { type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { copyable } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import type { Visitor } from '../visitor.ts';
import { type Words, wordsOf } from '../words/index.ts';

/** An address that money can be sent to, and who looks at it. */
export type Chosen = {
  readonly view: AddressPageView;
  readonly way: AddressWay;
  readonly visitor: Visitor;
};

/** What may be sent where, in the order in which a payer needs it. */
export function whereTo({ view, way, visitor }: Chosen): Html {
  const words = wordsOf(visitor.lang);
  const { address: says, test } = words;
  const { label } = chainOf(way.network);
  const testWarning = { title: test.warning.title, text: says.testWarning };
  return card(
    html`${networks(view.methods, way, visitor)}
<dl class="send">
<dt data-part="network">${view.is_live ? says.yours(label) : says.testYours(label)}</dt>
<dd>${addressText(way.address, words)}</dd>
</dl>
${costsAlone(view.methods, words)}
${view.is_live ? warning(way, words) : notice('warn', testWarning)}
${view.is_live ? liveCode(way, words) : testCode(way, words)}
${details(way, words)}`,
    { id: 'pay', title: says.title },
  );
}

/** Where money gets lost: the wrong coin, the wrong network, too little of it. */
function warning(way: AddressWay, words: Words): Html {
  const { warnings, address: says } = words;
  const taken = listed(way, words);
  const least = leastOf(way, words);
  return notice('warn', {
    title: warnings.title(taken, chainOf(way.network).label),
    text: html`<ul>
<li>${warnings.wrong(taken)}</li>
${least === undefined ? null : html`<li data-part="least">${says.least(least)}</li>\n`}<li>${warnings.coin(NATIVE_CURRENCY[way.network])}</li>
</ul>`,
  });
}

/** "USDT or BNB". */
function listed({ currencies }: AddressWay, { address }: Words): string {
  return currencies.map(({ currency }) => currency).join(` ${address.or} `);
}

/** "1 USDT or 0.001 BNB"; undefined where every amount is credited. */
function leastOf({ currencies }: AddressWay, { address }: Words): string | undefined {
  const amounts = currencies.flatMap(({ currency, minimum }) =>
    minimum === null ? [] : [`${minimum} ${currency}`],
  );
  return amounts.length === 0 ? undefined : amounts.join(` ${address.or} `);
}

function liveCode(way: AddressWay, words: Words): Html {
  const { address: says, way: of } = words;
  return html`${addressCode(way, words, says.codeCaption)}
<p id="wallet-${way.network}"><a class="button quiet" href="${way.address_uri}">${of.openWallet}</a></p>
<p class="muted">${says.walletCaption}</p>`;
}

function details({ network, contract_address, required_confirmations }: AddressWay, words: Words): Html {
  const { details: says, address, copy, copies } = words;
  const shown = html`<span data-part="contract">${contract_address}</span>`;
  return html`<details id="details-${network}">
<summary>${address.details}</summary>
<dl>
<dt>${address.permanent.title}</dt>
<dd>${address.permanent.text}</dd>
<dt>${says.contract('USDT')}</dt>
<dd>${copyable(contract_address, { id: 'contract', name: copies.contract, words: copy, shown })}</dd>
<dt>${says.counts}</dt>
<dd>${says.confirmations(required_confirmations)}</dd>
</dl>
</details>`;
}

/**
 * A deposit that is only played through, for test customers. The key makes a double click one deposit; the
 * address is relative to the page's own, whatever that begins with.
 */
export function simulation({ view, way, visitor }: Chosen, key: string): Html {
  const { address, test } = wordsOf(visitor.lang);
  const buttons = way.currencies.map(
    ({ currency }) =>
      html`<button class="quiet" name="currency" value="${currency}">${address.receive(`${SIMULATED_COINS[currency]} ${currency}`)}</button>\n`,
  );
  return card(
    html`<p class="muted">${test.simulate.text}</p>
<form class="shares" method="post" action="${view.token}/simulate${ownQuery(visitor)}">
<input type="hidden" name="key" value="${key}">
<input type="hidden" name="network" value="${way.network}">
${buttons}</form>`,
    { id: 'simulate', title: test.simulate.title },
  );
}
