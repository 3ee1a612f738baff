import { readFileSync } from 'node:fs';

/**
 * The 3,000 words that passwords are most often made of, after
 * their digits and signs were cut off; from the ranked list of
 * @zxcvbn-ts/language-common 4.1.3 (MIT, see common-passwords.LICENSE.txt).
 */
const WORDS: ReadonlySet<string> = new Set(
  readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
    .split(/\s+/)
    .filter(Boolean),
);
/** More repeats than any of the words needs; what is longer is not cut into more pieces. */
const MAX_REPEATS = 8;

/**
 * Whether a password is one of the first that are guessed: such a
 * word, in any case, with digits and signs around it, or repeated.
 */
export function isCommonPassword(password: string): boolean {
  const core = lettersWithin(password.toLowerCase());
  for (let repeats = 1; repeats <= MAX_REPEATS; repeats += 1) {
    const word = lettersWithin(core.slice(0, Math.ceil(core.length / repeats)));
    if (WORDS.has(word) && isRepeated(core, word)) return true;
  }
  return false;
}

/**
 * The text from its first letter to its last. It is walked and not matched: a
 * pattern that is bound to the end alone takes time in the square of the length.
 */
function lettersWithin(text: string): string {
  const characters = [...text];
  const isLetter = (character: string): boolean => /\p{L}/u.test(character);
  const first = characters.findIndex(isLetter);
  return first < 0 ? '' : characters.slice(first, characters.findLastIndex(isLetter) + 1).join('');
}

/**
 * Whether no letter is left when the word is taken out wherever
 * it stands: the text is that word alone, once or repeated.
 */
function isRepeated(core: string, word: string): boolean {
  return !/\p{L}/u.test(core.replaceAll(word, ''));
}
