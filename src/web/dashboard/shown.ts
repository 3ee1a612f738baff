import { takeShown } from '../../services/access/signed-in/shown-once.ts';
import { html } from '../html.ts';
import { card } from '../parts/card.ts';
import { copyable } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import type { ReadPage, Secrets } from './visit.ts';

/** What a form has made and nobody can see again: shown to the sign-in that made it, this once. */
export const SHOWN_PAGE: ReadPage = {
  path: '/shown/:id',
  withoutSubscription: true,
  show: async (visit) => {
    // It would be taken away and shown to nobody.
    if (visit.ctx.method === 'HEAD') return { title: 'Shown once', body: html`` };
    const text = await takeShown(visit.deps, visit.owner, visit.params['id'] ?? '');
    if (text === undefined) return { status: 404, title: 'Shown already', body: gone(visit.to('')) };
    const { title, text: about, items, next } = JSON.parse(text) as Secrets;
    return {
      title,
      body: card(html`<h1>${title}</h1>
${notice('warn', { title: 'Copy it now: it is shown this once', text: about })}
<dl>${items.map(({ label, value }, index) => html`<dt>${label}</dt><dd>${copyable(value, { id: `secret-${index}`, name: label })}</dd>\n`)}</dl>
<p><a class="button" href="${next}">I have copied it</a></p>`),
    };
  },
};

function gone(overview: string) {
  return card(html`<h1>This was shown already</h1>
<p>A secret is shown once. If you did not copy it, make a new one and end the old one.</p>
<p><a href="${overview}">Go to the overview</a></p>`);
}
