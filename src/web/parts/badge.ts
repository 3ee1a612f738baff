import { type Html, html } from '../html.ts';
import type { Tone } from './notice.ts';

/** A state in one or two words. The tone only repeats what the words say: nobody needs to see colours. */
export function badge(tone: Tone, words: string): Html {
  return html`<span class="badge ${tone}">${words}</span>`;
}
