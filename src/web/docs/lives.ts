import { type DepositState, FIRST_STATES, TRANSITIONS } from '../../domain/deposit.ts';
import { LINK_TRANSITIONS, type LinkStatus } from '../../domain/payment-link.ts';
import { type Html, html } from '../html.ts';
import { drawStates } from './drawing.ts';

type Life = {
  readonly draw: () => Html;
  readonly first: readonly string[];
  readonly transitions: Readonly<Record<string, readonly string[]>>;
};

/** Whose states are drawn, by the guide in which the drawing stands. */
export const LIVES: Readonly<Record<string, Life>> = {
  deposits: {
    first: FIRST_STATES,
    transitions: TRANSITIONS,
    draw: () =>
      drawStates<DepositState>({
        name: 'deposit',
        title: 'The states of a deposit. The table below has the same steps in words.',
        transitions: TRANSITIONS,
        first: FIRST_STATES,
        happy: ['detected', 'confirming', 'completed', 'settled'],
        places: {
          detected: { x: 70, y: 60 },
          confirming: { x: 70, y: 150 },
          completed: { x: 70, y: 240 },
          settled: { x: 70, y: 330 },
          failed: { x: 270, y: 150 },
        },
        height: 360,
      }),
  },
  'payment-links': {
    first: ['pending'],
    transitions: LINK_TRANSITIONS,
    draw: () =>
      drawStates<LinkStatus>({
        name: 'link',
        title: 'The states of a payment link. The table below has the same steps in words.',
        transitions: LINK_TRANSITIONS,
        first: ['pending'],
        happy: ['pending', 'processing', 'completed'],
        places: {
          pending: { x: 160, y: 60 },
          processing: { x: 62, y: 150 },
          cancelled: { x: 278, y: 120 },
          partially_paid: { x: 278, y: 270 },
          completed: { x: 80, y: 380 },
          expired: { x: 210, y: 380 },
        },
        height: 410,
      }),
  },
};

/**
 * The life of what a guide is about: drawn, and each step in words. Steps and arrows are those of the domain;
 * `diagram` is the guide's own description in Mermaid, from which the words are taken.
 */
export function lifeOf(guide: string, diagram: string): Html | undefined {
  const life = LIVES[guide];
  if (!life) return undefined;
  const words = new Map(stepsOf(diagram).map(({ from, to, when }) => [`${from} ${to}`, when]));
  const steps = [
    ...life.first.map((to) => ['[*]', to] as const),
    ...Object.entries(life.transitions).flatMap(([from, next]) => next.map((to) => [from, to] as const)),
  ];
  return html`<figure>${life.draw()}</figure>
<table>
<thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">When</th></tr></thead>
<tbody>
${steps.map(([from, to]) => html`<tr><td>${from === '[*]' ? '' : html`<code>${from}</code>`}</td><td><code>${to}</code></td><td>${words.get(`${from} ${to}`) ?? ''}</td></tr>\n`)}</tbody>
</table>
`;
}

/** The steps that a state diagram in Mermaid names; `[*]` stands for the beginning. */
export function stepsOf(diagram: string): { from: string; to: string; when: string }[] {
  return [...diagram.matchAll(/^[ \t]*(\S+) --> (\S+?)(?:: (.+))?$/gm)].map(
    ([, from = '', to = '', when = '']) => ({
      from,
      to,
      when,
    }),
  );
}
