import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import type { Visitor } from '../visitor.ts';
import { wordsOf } from '../words/index.ts';
import { ownQuery } from './own-query.ts';

/**
 * A payment that is only played through, for links of the test mode. The key makes a double click one
 * payment; the address is relative to the page's own, whatever that begins with.
 */
export function simulation({ token }: PublicPaymentView, key: string, visitor: Visitor): Html {
  const { simulate } = wordsOf(visitor.lang).test;
  return card(
    html`<p class="muted">${simulate.text}</p>
<form class="shares" method="post" action="${token}/simulate${ownQuery(visitor)}">
<input type="hidden" name="key" value="${key}">
${visitor.network === undefined ? null : html`<input type="hidden" name="network" value="${visitor.network}">\n`}<button class="quiet" name="share" value="full">${simulate.all}</button>
<button class="quiet" name="share" value="half">${simulate.half}</button>
<button class="quiet" name="share" value="double">${simulate.more}</button>
</form>`,
    { id: 'simulate', title: simulate.title },
  );
}
