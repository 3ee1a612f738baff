import { InvalidArgumentError } from 'commander';
import { parseUnits } from '../domain/money.ts';

const MAX_TEXT = 8_192;
const DURATION = /^(0|[1-9]\d{0,6})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

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
    const match = DURATION.exec(given);
    const unit = match?.[2] as keyof typeof UNIT_MS | undefined;
    const value = match && unit ? Number.parseInt(match[1] ?? '', 10) * UNIT_MS[unit] : -1;
    if (value < 0 || value > maxMs)
      throw new InvalidArgumentError(`It must be a duration such as 30s, 15m, 24h or 7d, at most ${most}.`);
    return value;
  };
}

/** When something ends: after a duration such as `90d`, or at a {@link time}. Both must lie ahead. */
export function end(given: string): Date {
  const at = DURATION.test(given)
    ? new Date(Date.now() + duration(MAX_AHEAD_DAYS * UNIT_MS.d, `${MAX_AHEAD_DAYS}d`)(given))
    : time(given);
  if (at.getTime() <= Date.now()) throw new InvalidArgumentError('It must lie ahead.');
  return at;
}

const MAX_AHEAD_DAYS = 3_650;

/** An ISO-8601 time with its zone, or a date (its beginning in UTC). */
export function time(given: string): Date {
  const match = TIME.exec(given);
  const value = new Date(given);
  // V8 turns February 30 into March 2, so the day is compared.
  const [year = 0, month = 0, day = 0] = (match?.slice(1, 4) ?? []).map((part) => Number.parseInt(part, 10));
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!match || Number.isNaN(value.getTime()) || day > lastDay) {
    throw new InvalidArgumentError('It must be an ISO-8601 time such as 2026-11-20T09:30:00Z, or a date.');
  }
  return value;
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
