import { z } from 'zod';

/**
 * What is wrong with a value, as the end of a sentence that
 * begins with the variable's name. Never quotes the value.
 */
class Complaint extends Error {}

/** A parser of one variable's text; the text is never empty. */
export type Parser<T> = z.ZodType<T, string>;

const MAX_TEXT_LENGTH = 8192;

/**
 * Ends the parsing with what the value must be, as the end of a sentence
 * that begins with the variable's name.
 */
export function complain(message: string): never {
  throw new Complaint(message);
}

/**
 * A parser around a function that returns the value or complains.
 * Length, control characters and outer spaces are checked first.
 */
export function parser<T>(parse: (text: string) => T): Parser<T> {
  return z.string().transform((text, context) => {
    try {
      if (text.length > MAX_TEXT_LENGTH) complain(`must be at most ${MAX_TEXT_LENGTH} characters long`);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
      if (/[\u0000-\u001f\u007f]/.test(text))
        complain('must not contain control characters (a line end or NUL)');
      if (text !== text.trim()) complain('must not begin or end with a space');
      return parse(text);
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
}

/** The entries of a comma-separated list, at most `most`, none empty. */
export function items(text: string, most: number): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) complain('must not have an empty entry between its commas');
  return parts.length <= most ? parts : complain(`must have at most ${most} entries`);
}
