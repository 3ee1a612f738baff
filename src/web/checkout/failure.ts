import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import type { Failing, PayerPages } from '../visitor.ts';
import { type Lang, type Words, wordsOf } from '../words/index.ts';
import { refreshNote } from './frame.ts';

/** Long enough to read and to copy, short enough to see the money arrive. */
export const REFRESH_SECONDS = 15;

/**
 * The answers where nothing can be shown, which are the same for every kind of page: for an address that asks
 * too often, and while the database is unreachable. They try again by themselves, because the payer may be
 * waiting for a confirmation.
 */
export const outages: Pick<PayerPages, 'tooOften' | 'unavailable'> = {
  tooOften: (visitor) => again(visitor, 'tooOften', 429),
  unavailable: (visitor) => again(visitor, 'unavailable', 503),
};

/**
 * A page that says why there is nothing to see: for a token that is unknown and for one that cannot exist the
 * same, to the byte.
 */
export function failure(
  lang: Lang,
  { title, heading, text, more = null }: Words['unknown'] & { readonly more?: Html | null },
  status: number,
): Page {
  return {
    status,
    title,
    lang,
    refreshSeconds: undefined,
    body: html`<div class="card">
<h1>${heading}</h1>
<p>${text}</p>
${more}</div>`,
  };
}

/** A form's answer cannot be loaded again; every other one is, until its reader stops that. */
function again(visitor: Failing, why: 'tooOften' | 'unavailable', status: number): Page {
  const { lang } = visitor;
  const words = wordsOf(lang)[why];
  if (!('refresh' in visitor)) return failure(lang, words, status);
  const more = refreshNote(visitor, { seconds: REFRESH_SECONDS, onlyWithoutScript: false });
  const refreshSeconds = visitor.refresh ? REFRESH_SECONDS : undefined;
  return { ...failure(lang, { ...words, more }, status), refreshSeconds };
}
