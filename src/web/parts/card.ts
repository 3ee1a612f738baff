import { type Html, type HtmlValue, html } from '../html.ts';

/** What a card has besides its content. */
export type CardOptions = {
  /** The card's own id; where it has a title, the card is a region with that name. */
  readonly id?: string;
  readonly title?: HtmlValue;
};

/** A piece of a page on a surface of its own. With a title it is a landmark that carries it. */
export function card(body: HtmlValue, { id, title }: CardOptions = {}): Html {
  if (title === undefined)
    return html`<div class="card"${id === undefined ? null : html` id="${id}"`}>
${body}
</div>`;
  if (id === undefined) throw new Error('a card with a title needs an id, for the name of its region');
  return html`<section class="card" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`;
}
