import { type Html, html } from '../html.ts';

/** Where a state stands in the drawing: the middle of its box. */
export type Place = { readonly x: number; readonly y: number };

export type Drawing<State extends string> = {
  /** Unique in the page. */
  readonly name: string;
  readonly title: string;
  /**
   * The table of the domain: which state may follow which. Every arrow is drawn from it, and none besides.
   */
  readonly transitions: Readonly<Record<State, readonly State[]>>;
  readonly first: readonly State[];
  /** The way that is hoped for; its arrows are stronger. */
  readonly happy: readonly State[];
  readonly places: Readonly<Record<State, Place>>;
  readonly height: number;
};

const WIDTH = 340;
const BOX = { width: 120, height: 40 };
const BIRTH_LENGTH = 26;
/** Two arrows between the same two states lie this far from the line between their middles. */
const APART = 7;

/**
 * The states and the steps between them as a drawing, made from the table that the program itself obeys. It
 * is as wide as a phone, so that it is read there without being moved.
 */
export function drawStates<State extends string>(drawing: Drawing<State>): Html {
  const { name, title, first, places, height } = drawing;
  const states = Object.keys(places) as State[];
  const arrows = states.flatMap((from) => drawing.transitions[from].map((to) => arrow(drawing, from, to)));
  return html`<svg class="states" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${name}-title">
<title id="${name}-title">${title}</title>
<defs><marker id="${name}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker></defs>
${first.map((state) => birth(name, places[state], state))}
${arrows}
${states.map((state) => box(state, places[state], drawing.transitions[state].length === 0))}</svg>
`;
}

function birth(name: string, { x, y }: Place, state: string): Html {
  const top = y - BOX.height / 2;
  return html`<g class="happy" data-from="" data-to="${state}"><circle cx="${x}" cy="${top - BIRTH_LENGTH}" r="5"/><line x1="${x}" y1="${top - BIRTH_LENGTH}" x2="${x}" y2="${top}" marker-end="url(#${name}-tip)"/></g>\n`;
}

function box(state: string, { x, y }: Place, final: boolean): Html {
  const { width, height } = BOX;
  return html`<g class="state${final ? ' final' : ''}"><rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="8"/><text x="${x}" y="${y}">${state}</text></g>\n`;
}

function arrow<State extends string>(drawing: Drawing<State>, from: State, to: State): Html {
  const { places, transitions, happy, name } = drawing;
  const both = transitions[to].includes(from);
  const [a, b] = shifted(places[from], places[to], both ? APART : 0);
  const [start, end] = [edgeOf(places[from], a, b), edgeOf(places[to], b, a)];
  const strong = happy.indexOf(to) - happy.indexOf(from) === 1 && happy.includes(from);
  return html`<line${strong ? html` class="happy"` : null} data-from="${from}" data-to="${to}" x1="${start.x}" y1="${start.y}" x2="${end.x}" y2="${end.y}" marker-end="url(#${name}-tip)"/>\n`;
}

/** The line moved to its right, so that the way back does not lie on it. */
function shifted(from: Place, to: Place, by: number): [Place, Place] {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const [x, y] = [(-dy / length) * by, (dx / length) * by];
  return [
    { x: from.x + x, y: from.y + y },
    { x: to.x + x, y: to.y + y },
  ];
}

/** Where the line from `inside` to `outside` leaves the box around `middle`. */
function edgeOf(middle: Place, inside: Place, outside: Place): Place {
  const [dx, dy] = [outside.x - inside.x, outside.y - inside.y];
  const reach = (half: number, offset: number, step: number): number =>
    step === 0 ? Number.POSITIVE_INFINITY : (Math.sign(step) * half - offset) / step;
  const share = Math.min(
    reach(BOX.width / 2, inside.x - middle.x, dx),
    reach(BOX.height / 2, inside.y - middle.y, dy),
  );
  return { x: tenth(inside.x + dx * share), y: tenth(inside.y + dy * share) };
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
