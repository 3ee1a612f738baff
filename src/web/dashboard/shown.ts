import { html } from '../html.ts';
import { card } from '../parts/card.ts';
import { copyable } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import type { Screen, Secrets } from './visit.ts';

/** What a form has made and nobody can see again: it stands in the answer to it, and is kept nowhere. */
export function secretsOf({ title, text, items }: Secrets, next: string): Screen {
  return {
    title,
    body: card(html`<h1>${title}</h1>
${notice('warn', { title: 'Copy it now: it is shown this once', text })}
<dl>${items.map(({ label, value }, index) => html`<dt>${label}</dt><dd>${copyable(value, { id: `secret-${index}`, name: label })}</dd>\n`)}</dl>
<p><a class="button" href="${next}">I have copied it</a></p>`),
  };
}

/**
 * The answer to the same form when it is sent again: it makes no second secret. Whether the first answer
 * reached anybody is not known.
 */
export function shownBefore(next: string): Screen {
  return {
    title: 'Done already',
    body: card(html`<h1>This was done already</h1>
<p>A secret is shown once, in the first answer. If that did not reach you, or you did not copy it, make a new one and end the old one.</p>
<p><a class="button" href="${next}">Go on</a></p>`),
  };
}
