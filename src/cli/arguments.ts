import { InvalidArgumentError } from 'commander';
import { UsageError } from '../base/errors.ts';
import { parseUnits } from '../domain/money.ts';
import { durationIn, isDuration, MOST, MOST_MS, past, timeIn } from './follow/times.ts';

const MAX_TEXT = 8_192;

// Every parser here throws commander's InvalidArgumentError: it prints a sentence,
// the exit code is 2, and nothing was done.

/** Text that is not blank, trimmed, of at most `most` characters. */
export function text(most = MAX_TEXT) {
  return (given: string): string => {
    const value = given.trim();
    if (value === '') throw new InvalidArgumentError('It must not be empty.');
    if (value.length > most) throw new InvalidArgumentError(`It must have at most ${most} characters.`);
    return value;
  };
}

/** A whole number in plain digits. */
export function wholeNumber(min: number, max: number) {
  return (given: string): number => {
    const value = /^(0|[1-9]\d{0,14})$/.test(given) ? Number.parseInt(given, 10) : -1;
    if (value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** One of the words, in this spelling. */
export function oneOf<const T extends string>(...words: readonly T[]) {
  return (given: string): T => {
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`);
    return word;
  };
}

/** `30s`, `15m`, `24h`, `7d` in milliseconds; `0s` is allowed. At most `maxMs`, which `most` spells out. */
export function duration(maxMs: number, most: string) {
  return (given: string): number => {
    return reading(() => durationIn(given, maxMs, most));
  };
}

/** When something ends: after a duration such as `90d`, or at a {@link time}. Both must lie ahead. */
export function end(given: string): Date {
  const at = isDuration(given) ? new Date(Date.now() + duration(MOST_MS, MOST)(given)) : time(given);
  if (at.getTime() <= Date.now()) throw new InvalidArgumentError('It must lie ahead.');
  return at;
}

/** A moment that has passed: a duration such as `15m` before now, or a {@link time}. */
export function ago(given: string): Date {
  return reading(() => past(given));
}

/** An ISO-8601 time with its zone, or a date (its beginning in UTC). */
export function time(given: string): Date {
  return reading(() => timeIn(given));
}

/** What a reader throws for a wrong value, as commander expects it. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}

/**
 * The word that removes a value. It is not null, because commander turns a parser's null into an empty text.
 */
export const NONE = 'none';

/** The value, or null for {@link NONE}. */
export function orNull<T>(value: T | typeof NONE | undefined): T | null | undefined {
  return value === NONE ? null : value;
}

/** US dollars with at most two decimals, in cents, or {@link NONE}. */
export function dollarsOrNone(given: string): bigint | typeof NONE {
  if (given === NONE) return NONE;
  try {
    const cents = parseUnits(given, 2);
    if (cents <= MAX_CENTS) return cents;
  } catch {
    // The sentence below says what is right.
  }
  throw new InvalidArgumentError(
    'It must be an amount in USD such as 1000 or 99.50, at most 1000000000000, or none.',
  );
}

const MAX_CENTS = 10n ** 14n;
