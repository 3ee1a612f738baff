import { type Html, html } from '../html.ts';

/** One bar: what it stands for, how high it is, and the same in words. */
export type Bar = { readonly label: string; readonly value: number; readonly words: string };

/** A row of bars over a time, and what is said of them as a whole. */
export type Chart = {
  /** The whole picture in a sentence: nobody who hears it needs to see the bars. */
  readonly name: string;
  readonly bars: readonly Bar[];
  /** What the highest bar stands for. */
  readonly most: string;
};

const HEIGHT = 100;
const STEP = 10;
const WIDTH = 8;
/** A day with very little is still no day with nothing. */
const LEAST = 1;

/**
 * Bars drawn on the server, without script: as wide as there is room. Texts stand beside the picture,
 * because inside of it they would shrink with it. Each bar says what it is to a pointer; for those who do
 * not see it, the same stands in a table that the caller puts below.
 */
export function barChart({ name, bars, most }: Chart): Html {
  const width = bars.length * STEP;
  const highest = Math.max(0, ...bars.map(({ value }) => value));
  return html`<div class="chart">
<p class="muted">${most}</p>
<svg role="img" aria-label="${name}" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">
<path class="axes" d="M0 ${LEAST / 2}H${width}M0 ${HEIGHT / 2}H${width}M0 ${HEIGHT - LEAST / 2}H${width}"/>
${bars.map((bar, index) => drawn(bar, index, highest))}</svg>
<p class="muted ends" aria-hidden="true"><span>${bars[0]?.label}</span><span>${bars.at(-1)?.label}</span></p>
</div>`;
}

function drawn({ value, words }: Bar, index: number, highest: number): Html | null {
  if (value <= 0 || highest <= 0) return null;
  const height = Math.max(LEAST, Math.round((value / highest) * HEIGHT));
  const place = html`x="${index * STEP + (STEP - WIDTH) / 2}" y="${HEIGHT - height}"`;
  return html`<rect ${place} width="${WIDTH}" height="${height}"><title>${words}</title></rect>
`;
}
