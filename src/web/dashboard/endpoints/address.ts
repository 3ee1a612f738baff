import { foreign, type Html, plainText } from '../../html.ts';

/** Longer than the addresses that people give their servers. */
const LONGEST = 120;
const BEGINNING = 80;

/**
 * The address of an endpoint where many stand together. Of a very long one the middle is left out: whose
 * server it is comes first, and its end tells it from others that begin alike.
 */
export function shownUrl(url: string): Html {
  const text = plainText(url);
  if (text.length <= LONGEST) return foreign(text);
  return foreign(`${text.slice(0, BEGINNING)}…${text.slice(BEGINNING - LONGEST + 1)}`);
}
