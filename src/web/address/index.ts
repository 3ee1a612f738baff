import type { AddressPageView } from '../../services/address-pages/view.ts';
import { failure, outages, REFRESH_SECONDS } from '../checkout/failure.ts';
import { languages, refreshNote, stateNotice, testBanner } from '../checkout/frame.ts';
import type { LiveParts } from '../checkout/index.ts';
import type { Required } from '../checkout/progress.ts';
import { CHECKOUT_STYLE } from '../checkout/style.ts';
import { pickedWay } from '../checkout/ways.ts';
import { foreign, html, plainText } from '../html.ts';
import type { Page } from '../layout.ts';
import type { PayerPages, Visitor } from '../visitor.ts';
import { wordsOf } from '../words/index.ts';
import { depositList, heightOf } from './deposits.ts';
import { type Chosen, simulation, whereTo } from './parts.ts';
import { addressState } from './state.ts';

/** All pages that a customer can be answered with. */
export function addressPagesOf(
  required: Required,
  parts: LiveParts<AddressPageView>,
): PayerPages<AddressPageView> {
  return {
    render: (view, visitor) => addressPage(view, required, visitor, parts),
    unknown: ({ lang }) => failure(lang, wordsOf(lang).address.unknown, 404),
    ...outages,
  };
}

/** A customer's permanent addresses, one for each network that is watched, and what has come to them. */
function addressPage(
  view: AddressPageView,
  required: Required,
  visitor: Visitor,
  parts: LiveParts<AddressPageView>,
): Page {
  const words = wordsOf(visitor.lang);
  const way = pickedWay(view.methods, visitor.network);
  const chosen: Visitor = { ...visitor, network: way?.network ?? visitor.network };
  const state = addressState(view, required, words);
  const shown: Chosen | undefined = way && { view, way, visitor: chosen };
  const note = { seconds: REFRESH_SECONDS, onlyWithoutScript: true };
  const heading = `${view.is_live ? '' : `${words.test.mark} · `}${words.address.title}`;
  return {
    title: `${heading} – ${plainText(view.merchant.name)}`,
    lang: visitor.lang,
    style: CHECKOUT_STYLE,
    refreshSeconds: visitor.refresh ? REFRESH_SECONDS : undefined,
    scripts: [parts.page, parts.live],
    connects: true,
    hasForm: shown !== undefined && !view.is_live,
    // What is below the list is put in anew when it grows, as on the checkout.
    body: html`${view.is_live ? null : testBanner(words)}
<header class="order">
<h1>${foreign(view.merchant.name)}</h1>
</header>
${stateNotice(state)}
${shown && whereTo(shown)}
${shown && !view.is_live ? simulation(shown, parts.simulationKey(view)) : null}
${depositList(view, required, chosen)}
<div id="below-${heightOf(view, chosen)}"><footer class="no-print">
${refreshNote(chosen, note)}
${languages(chosen)}
</footer>
</div>`,
  };
}
