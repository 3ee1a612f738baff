import { type Html, type HtmlValue, html } from '../html.ts';
import { type CardOptions, card } from '../parts/card.ts';
import { notice } from '../parts/notice.ts';
import { CODE, drawn, type FieldOf, PRESENT_PASSWORD, secret } from './fields.ts';
import { heading, type LinkTo, pathOf } from './pieces.ts';
import type {
  DashboardPage,
  Done,
  FormChange,
  FormPost,
  Guard,
  Reading,
  Screen,
  Typed,
  Values,
  Visit,
} from './visit.ts';

/** The member that carries the key under which a form takes effect once. */
export const ONCE = 'once';

/** A form: what it shows, what its members mean, and what it does. A path's `:id` is that of its own page. */
export type FormOf<Input, Prepared> = Omit<FormPost<Input, Prepared>, 'read' | 'apply' | 'again'> & {
  readonly path: string;
  readonly only?: DashboardPage['only'];
  /** A button of another page sends it: it is shown only where that was refused. */
  readonly byButton?: true;
  /** What stands in its fields at first. */
  readonly initial?: (visit: Visit) => Values | Promise<Values>;
  /** The form, or another page where there is nothing to send. Throws NOT_FOUND where nothing ever was. */
  readonly shows: (visit: Visit, typed: Typed) => FormParts | Screen | Promise<FormParts | Screen>;
  /** What its members mean; a form without this says nothing but that it was sent. */
  readonly read?: (visit: Visit, values: Values) => Reading<Input>;
  readonly apply: (...change: Parameters<FormPost<Input, Prepared>['apply']>) => Promise<Done | string>;
};

/** How a form looks, or a question with one button. */
export type FormParts = {
  readonly title: string;
  readonly back: LinkTo;
  /** Stands before the card. */
  readonly above?: Html | null;
  readonly card?: CardOptions;
  /** What will be so afterwards, and what cannot be taken back. */
  readonly text?: HtmlValue;
  readonly fields?: readonly (FieldOf | Html | null | undefined)[];
  readonly button: string;
  readonly look?: 'danger' | 'quiet';
  /** It makes nothing: who comes back to it and presses the button means it, as things are now. */
  readonly isSetting?: true;
};

/** A page with a form, whose POST is guarded and carried out by the router. */
export function form<Input = undefined, Prepared = undefined>(
  described: FormOf<Input, Prepared>,
): DashboardPage {
  const { path, only, byButton, initial, shows: _shows, read, apply, ...rest } = described;
  const again = (visit: Visit, typed: Typed) => formScreen(visit, typed, described);
  const post: FormPost<Input, Prepared> = {
    ...rest,
    read: read ?? (() => ({ input: undefined as Input })),
    apply: async (tx, deps, change: FormChange<Input, Prepared>) => {
      const done = await apply(tx, deps, change);
      return typeof done === 'string' ? { to: done } : done;
    },
    again,
  };
  const show = async (visit: Visit) =>
    await again(visit, { ...untouched(visit), values: (await initial?.(visit)) ?? {} });
  // What the members mean was checked where the form is described.
  return { path, only, show: byButton ? undefined : show, post: post as unknown as FormPost };
}

/** A form that nobody has typed into yet. */
export function untouched(visit: Visit): Typed {
  return { values: {}, errors: {}, problem: undefined, once: visit.deps.newId() };
}

type Drawn = Pick<FormOf<never, never>, 'path' | 'guard'>;

/** A form as a page, or the page that it shows instead. */
export async function formScreen(
  visit: Visit,
  typed: Typed,
  described: Drawn & Pick<FormOf<never, never>, 'shows'>,
): Promise<Screen> {
  const shown = await described.shows(visit, typed);
  if ('body' in shown) return shown;
  const { title, back, above } = shown;
  return {
    title,
    body: html`${heading(visit, title, back)}${above}\n${formCard(visit, typed, described, shown)}`,
  };
}

/** A form as a card, which another page may have too. */
export function formCard(visit: Visit, typed: Typed, { path, guard }: Drawn, shown: FormParts): Html {
  const { text, fields = [], button, look, isSetting, card: options } = shown;
  return card(
    html`<form method="post" action="${visit.to(pathOf(path, visit))}"${isSetting ? html` data-again` : null}>
${formHead(typed)}
${typeof text === 'string' ? html`<p>${text}</p>` : text}
${drawn(fields, typed)}
${isGuarded(visit, guard) ? proofFields(visit, typed) : null}
<button type="submit"${look === undefined ? null : html` class="${look}"`}>${button}</button>
</form>`,
    options,
  );
}

/** Whether a form asks for the password in the mode of the page. */
export function isGuarded({ mode }: Visit, guard: Guard): boolean {
  return guard === 'live' ? mode === 'live' : guard !== 'none';
}

/**
 * What each form begins with: what is wrong with it as a whole, and the key under which it counts once. The
 * page of a refused form begins at its first wrong field, or here where no field is wrong.
 */
function formHead({ problem, errors, once }: Typed): Html {
  const focus = Object.keys(errors).length === 0;
  return html`${problem === undefined ? null : notice('bad', { title: problem }, 'alert', { focus })}
<input type="hidden" name="${ONCE}" value="${once}">`;
}

/** The password again, and the code, where it was not given within ten minutes. */
function proofFields({ standing }: Visit, typed: Typed): Html | null {
  if (standing.steppedUpUntil) return null;
  const password = secret('confirm_password', 'Your password', PRESENT_PASSWORD);
  const code = secret('confirm_code', 'Code from your authenticator app', CODE);
  return html`<fieldset>
<legend>Confirm that it is you</legend>
${drawn([password, standing.usesTotp ? code : null], typed)}
</fieldset>`;
}

/** What a button does: a form without a page of its own. */
export type Act = {
  readonly path: string;
  readonly label: string;
  readonly name?: string;
  /** Members that its form posts. */
  readonly hidden?: Values;
};

/**
 * A button that does one thing at once. Who comes back to its page and presses it means it: no key of an
 * earlier look is kept for it.
 */
export function actButton(visit: Visit, { path, label, hidden = {}, name }: Act): Html {
  return html`<form method="post" action="${visit.to(path)}" data-again>${formHead(untouched(visit))}${hiddenFields(hidden)}<button type="submit" class="quiet whole"${name === undefined ? null : html` aria-label="${name}"`}>${label}</button></form>`;
}

/** Members that a form posts besides. */
export function hiddenFields(members: Values): Html {
  const inputs = Object.entries(members).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}
