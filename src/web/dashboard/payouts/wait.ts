import type { WaitWords } from '../../../services/payouts/shown/words.ts';
import { type Html, html } from '../../html.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';

/** Who has to do something, in the words of whoever reads it. */
export const WHO: Readonly<Record<WaitWords['who'], string>> = {
  you: 'It waits for you',
  operator: 'It waits for the operator of this gateway',
  nobody: 'It goes on by itself',
};

/** Why something is not paid out yet, since when, and who has to do something about it. */
export function waitLine({ who, words, since }: WaitWords): Html {
  return notice(who === 'you' ? 'warn' : 'info', {
    title: WHO[who],
    text: html`${words} Since ${time(since)}.`,
  });
}
