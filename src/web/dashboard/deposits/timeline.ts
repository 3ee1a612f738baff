import type { StoryLine, StoryStep } from '../../../services/deposits/story/steps.ts';
import type { DepositStory } from '../../../services/deposits/story/story.ts';
import type { StoryEvent } from '../../../services/webhooks/shown/subject-events.ts';
import { foreign, type Html, html, plainText } from '../../html.ts';
import { amount } from '../../parts/amount.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { outcome } from '../endpoints/deliveries.ts';
import { depositBadge } from '../states.ts';
import type { Visit } from '../visit.ts';

type StateStep = Extract<StoryStep, { kind: 'state' }>;
type Moment = { readonly at: string; readonly shown: Html };

/**
 * Everything that has happened to a deposit in one list: each state and why, each movement of money, the
 * payout, and each time somebody was told. What happened within a second stands in the order of its cause.
 */
export function timeline(visit: Visit, { timeline: steps, events, is_cut: isCut }: DepositStory): Html {
  const moments = [...steps.map(stepOf), ...events.flatMap((event) => attemptsOf(visit, event))];
  const inOrder = moments.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
  const cut = notice('plain', {
    title: 'The oldest steps are not shown',
    text: 'There were too many of them.',
  });
  return html`${isCut ? cut : null}
<ol class="timeline">
${inOrder.map(({ at, shown }) => html`<li><span class="muted">${time(at)}</span><div>${shown}</div></li>\n`)}</ol>`;
}

function stepOf(step: StoryStep): Moment {
  switch (step.kind) {
    case 'state':
      return { at: step.at, shown: html`${depositBadge(step.state)} ${stateWords(step)}` };
    case 'posting':
      return {
        at: step.at,
        shown: html`<ul class="postings">${step.lines.map(line)}</ul>`,
      };
    case 'payout':
      return {
        at: step.at,
        shown: html`${step.words}${step.transaction_hash === null ? null : html`<br><span class="mono">${step.transaction_hash}</span>`}`,
      };
  }
}

/** What an account got, or gave where a minus stands. */
function line({ words, amount: units, currency }: StoryLine): Html {
  return html`<li>${amount(units.startsWith('-') ? units : `+${units}`, currency)} ${words}</li>`;
}

/** What it means that a deposit came into a state, and why: a decision of the operator's is named as one. */
export function stateWords({ words, reason, by_operator: byOperator }: StateStep): Html {
  if (!byOperator && reason === null) return html`${words}`;
  const by = byOperator ? 'The operator of this gateway decided it' : 'Because';
  return html`${words}<br>${by}${reason === null ? '.' : html`: ${foreign(reason)}`}`;
}

function attemptsOf({ to }: Visit, { id, event, deliveries }: StoryEvent): Moment[] {
  return deliveries.flatMap(({ url, attempts }) =>
    attempts.map((attempt) => ({
      at: attempt.started_at,
      shown: html`<a href="${to(`/events/${id}`)}">${event}</a> to ${foreign(hostOf(url))}: ${outcome(attempt)}`,
    })),
  );
}

/** Addresses of endpoints are long: whose server it is says enough here. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : plainText(url);
}
