import { type Html, type HtmlValue, html } from '../html.ts';

/** What a notice or a badge is about: neutral, something that goes on, good, to be looked at, wrong. */
export type Tone = 'plain' | 'info' | 'good' | 'warn' | 'bad';

/**
 * A sentence or two that must not be missed. The role `alert` is for what was wrong with something that the
 * reader just sent, and nothing else: it interrupts those who are read to. With `focus` the page begins
 * there: where nothing else that is wrong can have it.
 */
export function notice(
  tone: Tone,
  content: { readonly title: HtmlValue; readonly text?: HtmlValue },
  role: 'note' | 'alert' = 'note',
  { focus = false }: { readonly focus?: boolean } = {},
): Html {
  return html`<div class="notice ${tone}" role="${role}"${focus ? html` tabindex="-1" autofocus` : null}>
<strong>${content.title}</strong>
${content.text}
</div>`;
}
