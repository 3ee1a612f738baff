import { randomInt } from 'node:crypto';

/** No sign among them at which a mail, a chat or Markdown ends an address. */
const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A secret that people pass on as a part of a URL: 5.95 random bits in each of its characters. */
export function newToken(length: number): string {
  return Array.from(
    { length },
    () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)] as string,
  ).join('');
}
