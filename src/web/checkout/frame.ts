import type { PublicPaymentView } from '../../contract/payment-link.ts';
import { webAddress } from '../../domain/web-address.ts';
import { foreign, type Html, html } from '../html.ts';
import { card } from '../parts/card.ts';
import type { Visitor } from '../visitor.ts';
import { LANGS, type Words, wordsOf } from '../words/index.ts';
import { countdown } from './durations.ts';
import { ownQuery } from './own-query.ts';
import type { Required } from './progress.ts';
import { BRIEF, isPaid, type PayerState } from './state.ts';

/** Above everything, in stripes of its own: whoever sees a part of the page sees that it is a rehearsal. */
export function testBanner({ test }: Words): Html {
  return html`<p class="rehearsal" role="note" data-part="test">${test.title}</p>`;
}

/** More than this pushes what to send out of a phone's first screen; it then stands below. */
const SHORT = 60;
const isShort = (text: string): boolean => text.length <= SHORT && !/[\r\n]/.test(text);

/** Who asks for how much, and what for where that is short. */
export function summary({ merchant, description: what, amount_usd }: PublicPaymentView, words: Words): Html {
  return html`<header class="order">
<div>
<h1>${foreign(merchant.name)}</h1>
${what && isShort(what) ? html`<p class="muted description">${foreign(what)}</p>` : null}
</div>
<p class="asked"><span class="amount">${words.usd(amount_usd)}</span></p>
</header>`;
}

/** What a payment is for, where it takes more than a line. */
export function description({ description: what }: PublicPaymentView, words: Words): Html | null {
  if (!what || isShort(what)) return null;
  return card(html`<p class="description">${foreign(what)}</p>`, { id: 'what', title: words.description });
}

/** What a notice of a state is made of. */
export type StateNotice = {
  /** By which others know the state. */
  readonly status: string;
  readonly state: PayerState;
  /** The time that is left, where it counts. */
  readonly left?: Html | null;
  /**
   * The state that takes the most room of those that can be next. Its room is kept from the beginning, so
   * that nothing below moves under a finger when money is seen.
   */
  readonly room?: Room | undefined;
};

type Room = Pick<PayerState, 'title' | 'bar'> & { readonly texts: readonly (string | Html)[] };

/** The state, with the time that is left and how far the network is. What stays longest stands first. */
export function stateNotice({ status, state, left, room }: StateNotice): Html {
  const { tone, title, texts, bar } = state;
  return html`<div class="notice ${tone} state" id="state" data-status="${status}" data-say="${[`${title}.`, ...texts].join(' ')}">
<div id="now-${room ? 'open' : status}">
<strong>${title}</strong>
${left}
${texts.map((text) => html`<p>${text}</p>\n`)}${
  bar
    ? html`<p id="bar"><progress max="${bar.needed}" value="${bar.done}" aria-labelledby="bar-text"></progress>
<span id="bar-text">${bar.text}</span></p>
`
    : null
}</div>
${room ? kept(room) : null}</div>`;
}

function kept({ title, texts, bar }: NonNullable<StateNotice['room']>): Html {
  return html`<div class="room" aria-hidden="true"><strong>${title}</strong>${texts.map(
    (text) => html`<p>${text}</p>`,
  )}${bar && html`<p><progress></progress> <span>${bar.text}</span></p>`}</div>
`;
}

const DAY_MS = 86_400_000;

/** How long still, as a clock that counts down. */
export function timeLeft(view: PublicPaymentView, words: Words): Html {
  const { expires_at, server_time } = view;
  return html`<p id="left">${words.timeLeft} <time class="clock" datetime="${expires_at}" data-until="${expires_at}">${countdown(expires_at, server_time)}</time> <span class="until">(${untilWords(view, words)})</span></p>`;
}

/** What an open link may show next that takes the most room: a part is seen, and the rest still missing. */
export function roomOfOpen(view: PublicPaymentView, required: Required, words: Words): StateNotice['room'] {
  const [method] = view.methods;
  if (!method) return undefined;
  const needed = Math.max(...view.methods.map(({ network }) => required[network]));
  return {
    title: words.states.pending.title,
    texts: [
      html`${words.timeLeft} <span class="clock">0:00</span> <span class="until">(${untilWords(view, words)})</span>`,
      words.states.missing(`${'0'.repeat(BRIEF)} ${method.currency}`),
    ],
    bar: { done: 0, needed, text: words.confirmations.last(needed) },
  };
}

function untilWords({ expires_at, server_time }: PublicPaymentView, words: Words): string {
  const isToday = Date.parse(expires_at) - Date.parse(server_time) < DAY_MS;
  return words.until(isToday ? words.clock(expires_at) : words.dateTime(expires_at));
}

/**
 * A link back to the shop: after the payment, or instead of it. The host is
 * shown, so that the payer sees where it leads; nothing leads there by itself.
 */
export function wayBack(view: PublicPaymentView, { ways }: Words): Html | null {
  const paid = isPaid(view);
  const target = webAddress((paid ? view.success_url : view.cancel_url) ?? '');
  if (!target) return null;
  const look = paid ? html` class="button"` : null;
  return html`<p class="back no-print" id="back"><a href="${target.href}" rel="noopener noreferrer nofollow"${look}>${paid ? ways.onTo(target.host) : ways.backTo(target.host)}</a></p>`;
}

/** People who read slowly, or have the page read aloud, can stop it from loading again. */
export function refreshNote(
  visitor: Visitor,
  { seconds, onlyWithoutScript }: { readonly seconds: number; readonly onlyWithoutScript: boolean },
): Html {
  const { refresh: words } = wordsOf(visitor.lang);
  const other = ownQuery({ ...visitor, refresh: !visitor.refresh });
  const note = visitor.refresh
    ? html`<p>${words.every(seconds)} <a href="${other}">${words.stop}</a></p>`
    : html`<p><a href="${ownQuery(visitor)}">${words.now}</a> · <a href="${other}">${words.start}</a></p>`;
  return onlyWithoutScript ? html`<noscript>${note}</noscript>` : note;
}

/** The same page in the other languages, each called as those call it who read it. */
export function languages(visitor: Visitor): Html {
  const items = LANGS.map((lang) =>
    lang === visitor.lang
      ? html`<li aria-current="true">${wordsOf(lang).name}</li>\n`
      : html`<li><a href="${ownQuery({ ...visitor, lang })}" hreflang="${lang}" lang="${lang}">${wordsOf(lang).name}</a></li>\n`,
  );
  return html`<ul class="languages" aria-label="${wordsOf(visitor.lang).language}">
${items}</ul>`;
}
