/**
 * Markup that is safe to send as it is. Only `html` and `raw`
 * make it, so text that was not escaped cannot pass for it.
 */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
  toString(): string {
    return this.markup;
  }
}

/**
 * What a template takes: texts and numbers are escaped,
 * lists are joined, null, undefined and false are nothing.
 */
export type HtmlValue = string | number | bigint | Html | readonly HtmlValue[] | null | undefined | false;

/**
 * A template that escapes every value, for text and for attributes between double quotes
 * alike. An attribute without quotes, or one that runs code (`href`, `style`, `on…`), needs
 * a value that was checked for that purpose: escaping alone does not make a URL harmless.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0] ?? '';
  for (const [index, value] of values.entries()) markup += render(value) + (strings[index + 1] ?? '');
  return new Html(markup);
}

/**
 * Takes markup as it is. For our own constants only: never for anything that came
 * with a request or is stored in a database.
 */
export function raw(markup: string): Html {
  return new Html(markup);
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"'`]/g, (character) => ESCAPED[character] ?? '');
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Control characters, and characters that force the direction of text: with
 * them a text can look like another one.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * The text of a stranger without characters that only serve to deceive. Tabs and line
 * feeds stay; lone surrogates become U+FFFD.
 */
export function plainText(text: string): string {
  return text.toWellFormed().replace(DECEPTIVE, '');
}

/** The text of a stranger as an element whose direction does not affect the text around it. */
export function foreign(text: string): Html {
  return html`<bdi>${plainText(text)}</bdi>`;
}
