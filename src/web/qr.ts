import { create } from 'qrcode';
import { type Html, html, raw } from './html.ts';

/** How many light modules a reader needs around the code. */
const QUIET = 4;

/** So many codes are kept, of some KiB each. */
const KEPT = 1_000;

/** By their texts, in the order in which they were asked for last. */
const kept = new Map<string, Html>();

/**
 * A QR code of the text as an SVG that needs neither script nor a picture from anywhere. Dark on white in
 * every colour scheme, because many readers take no other. Throws for text that fits no code (over 2 KiB).
 */
export function qrCode(text: string, label: string, drawing = drawingOf(text)): Html {
  return html`<svg class="qr" role="img" aria-label="${label}" ${drawing}</svg>`;
}

/** The same for a text that is no secret and that many will ask for: most of its cost is paid once. */
export function keptQrCode(text: string, label: string): Html {
  return qrCode(text, label, keptDrawing(text));
}

/** Draws the code of the text, or finds it, for the {@link keptQrCode} that follows soon. */
export function keptDrawing(text: string): Html {
  const drawing = kept.get(text) ?? drawingOf(text);
  kept.delete(text);
  kept.set(text, drawing);
  if (kept.size > KEPT) for (const first of kept.keys()) if (kept.delete(first)) break;
  return drawing;
}

/** What stands between the label of a code and its end. */
function drawingOf(text: string): Html {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const side = modules.size + 2 * QUIET;
  return html`viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"/><path stroke="#000" d="${raw(pathOf(modules))}"/>`;
}

/**
 * One stroke along the middle of each run of dark modules in a row, each from where the last one ended: a
 * tenth of the size that a square for each module would take.
 */
function pathOf(modules: {
  readonly size: number;
  get(row: number, column: number): number | boolean;
}): string {
  let path = '';
  for (let row = 0; row < modules.size; row += 1) {
    let end: number | undefined;
    for (let column = 0; column < modules.size; column += 1) {
      const start = column;
      while (column < modules.size && modules.get(row, column)) column += 1;
      if (column === start) continue;
      path += end === undefined ? `M${start + QUIET} ${row + QUIET}.5` : `m${start - end} 0`;
      path += `h${column - start}`;
      end = column;
    }
  }
  return path;
}
