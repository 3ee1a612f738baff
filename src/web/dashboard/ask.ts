import { type Html, type HtmlValue, html } from '../html.ts';
import { card } from '../parts/card.ts';
import { formHead, guardFields, untouched } from './forms.ts';
import { crumb, heading } from './heading.ts';
import type { Screen, Typed, Visit } from './visit.ts';

/** What is asked before something is done, and what a button does that was refused. */
export type Question = {
  readonly title: string;
  /** What will be so afterwards, and what cannot be taken back. */
  readonly text: HtmlValue;
  /** What the button says. */
  readonly label: string;
  /** It takes something away. */
  readonly danger?: true;
  /** Where the form is posted to, without the mode. */
  readonly path: string;
  readonly back: { readonly path: string; readonly label: string };
  /** Whether password and code are asked for. */
  readonly guarded?: boolean;
  /** Members that the form posts besides. */
  readonly hidden?: Readonly<Record<string, string>>;
};

/** A page with one question and one button, with what was wrong where it was pressed before. */
export function askScreen(visit: Visit, typed: Typed, question: Question): Screen {
  const { title, text, label, danger, path, back, hidden, guarded } = question;
  return {
    title,
    body: html`${crumb(visit.to(back.path), back.label)}${heading(title)}
${card(html`<p>${text}</p>
<form method="post" action="${visit.to(path)}">
${formHead(typed)}${members(hidden)}
${guarded ? guardFields(visit, typed) : null}
<button type="submit"${danger ? html` class="danger"` : null}>${label}</button>
</form>`)}`,
  };
}

/**
 * A button that does one thing at once; `hidden` are members that its form posts. Who comes back
 * to its page and presses it means it: no key of an earlier look is kept for it.
 */
export function actButton(
  visit: Visit,
  { path, label, hidden, name }: Pick<Question, 'path' | 'label' | 'hidden'> & { readonly name?: string },
): Html {
  return html`<form method="post" action="${visit.to(path)}" data-again>${formHead(untouched(visit))}${members(hidden)}<button type="submit" class="quiet whole"${name === undefined ? null : html` aria-label="${name}"`}>${label}</button></form>`;
}

function members(hidden: Question['hidden'] = {}): Html[] {
  return Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}
