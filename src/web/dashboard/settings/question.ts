import { type Html, type HtmlValue, html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { formHead, guardFields } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import type { Screen, Typed, Visit } from '../visit.ts';

/** One question with one button: what cannot be taken back is asked for on a page of its own. */
export type Question = {
  readonly title: string;
  readonly back: readonly [path: string, label: string];
  readonly path: string;
  /** What happens, before the button. */
  readonly text: HtmlValue;
  /** Fields beside those that every form has. */
  readonly fields?: Html;
  readonly button: string;
  /** Whether password and code are asked for. */
  readonly guarded: boolean;
  /** It makes nothing: who comes back to it and presses the button means it, as things are now. */
  readonly isSetting?: true;
};

/** The question as a page, or again with what was wrong. */
export function questionScreen(visit: Visit, typed: Typed, question: Question): Screen {
  const { title, back, path, text, fields, button, guarded, isSetting } = question;
  return {
    title,
    body: html`${crumb(visit.to(back[0]), back[1])}${heading(title)}
${card(html`<form method="post" action="${visit.to(path)}"${isSetting ? html` data-again` : null}>
${formHead(typed)}
${text}
${fields}
${guarded ? guardFields(visit, typed) : null}
<button type="submit">${button}</button>
</form>`)}`,
  };
}
