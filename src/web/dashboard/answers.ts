import type { Context } from 'koa';
import { html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { card } from '../parts/card.ts';
import { copyable } from '../parts/copyable.ts';
import { notice } from '../parts/notice.ts';
import type { Problem } from './door.ts';
import { bannersOf, DASHBOARD_STYLE, frameOf } from './frame.ts';
import type { Screen, Secrets, Visit } from './visit.ts';

/** Answers with a page inside the frame of the dashboard. */
export function sendScreen(visit: Visit, screen: Screen): void {
  const { ctx, door, mode, standing } = visit;
  const { scripts } = door;
  sendPage(ctx, {
    status: screen.status ?? 200,
    title: `${screen.title} – ${standing.merchantName}${mode === 'test' ? ' (test mode)' : ''}`,
    frame: frameOf(visit),
    body: html`${bannersOf(visit)}
${screen.body}`,
    style: DASHBOARD_STYLE,
    hasForm: true,
    ...(scripts.length > 0 ? { scripts } : {}),
  });
}

/** What a person reads of a refusal, by its code; the sentence of the refusal itself for every other one. */
const WORDS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  NOT_FOUND: [
    'There is nothing here',
    'It does not exist, or it belongs to the other mode. Look for it in a list.',
  ],
  METHOD_NOT_ALLOWED: ['This page cannot be used like that', 'Go back, and use the page that you came from.'],
  SUBSCRIPTION_REQUIRED: [
    'Your subscription is not active',
    'Money that arrives is still taken and kept for you. Ask the operator of this gateway to renew it.',
  ],
  CSRF: [
    'This did not come from a page of ours',
    'Nothing was changed. Open the page again, and send it from there.',
  ],
  RATE_LIMITED: ['That was too often', 'Wait a moment, then load the page again.'],
  UNAVAILABLE: ['Not available at the moment', 'Nothing is lost. Load the page again in a few seconds.'],
  INTERNAL: [
    'Something went wrong on our side',
    'Nothing is wrong with what you did. Try again, or tell the operator.',
  ],
};

/** Answers with a page that says what is wrong and what to do: in the frame where somebody is signed in. */
export function sendProblem(ctx: Context, visit: Visit | undefined, problem: Problem): void {
  ctx.set(problem.headers);
  ctx.state['code'] = problem.code;
  const [title, text] = WORDS[problem.code] ?? ['That is not possible', problem.message];
  const body = card(html`<h1>${title}</h1>
<p>${text}</p>
${visit === undefined ? null : html`<p><a href="${visit.to('')}">Go to the overview</a></p>`}`);
  const { status } = problem;
  if (visit) sendScreen(visit, { status, title, body });
  else sendPage(ctx, { status, title, body });
}

/** What a form has made and nobody can see again: it stands in the answer to it, and is kept nowhere. */
export function secretsOf({ title, text, items }: Secrets, next: string): Screen {
  return {
    title,
    body: card(html`<h1>${title}</h1>
${notice('warn', { title: 'Copy it now: it is shown this once', text })}
<dl>${items.map(([label, value], index) => html`<dt>${label}</dt><dd>${copyable(value, { id: `secret-${index}`, name: label })}</dd>\n`)}</dl>
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
