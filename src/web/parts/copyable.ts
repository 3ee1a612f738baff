import { type Html, html, plainText } from '../html.ts';

/** What a button for copying says, and what is said after it has copied. */
export type CopyWords = { readonly copy: string; readonly copied: string };

export const COPY_WORDS: CopyWords = { copy: 'Copy', copied: 'Copied' };

/**
 * A value that people copy: one text that is selected as a whole, with a button where there is script.
 * `name` says of the value what it is, for those who only hear the button; `id` is unique in the page.
 */
export function copyable(value: string, { id, name, words = COPY_WORDS, shown }: CopyableOptions): Html {
  return html`<span class="copy"><span class="mono" id="${id}">${shown ?? plainText(value)}</span>${copyButton(id, name, words)}</span>`;
}

export type CopyableOptions = {
  readonly id: string;
  readonly name: string;
  readonly words?: CopyWords;
  /** Other markup of the very same text. */
  readonly shown?: Html;
};

/** The button alone, for the value in the element with that id. */
export function copyButton(id: string, name: string, words: CopyWords = COPY_WORDS): Html {
  return html`<button type="button" class="quiet" data-copy="${id}" data-copied="${words.copied}" aria-label="${words.copy}: ${name}">${words.copy}</button>`;
}
