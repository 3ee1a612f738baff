// Readers of arguments and options. Each throws a UsageError with a sentence for a value that is wrong.
import { OperatorError, UsageError } from '../base/errors.ts';
import { KEY_SCOPES, type KeyScope, parseScopes } from '../domain/key-scope.ts';
import { parseUnits } from '../domain/money.ts';

const MAX_CENTS = 10n ** 14n;

/** Text that is not blank, trimmed, of at most `most` characters. */
export function text(most = 8_192) {
  return (given: string): string => {
    const value = given.trim();
    if (value === '') throw new UsageError('It must not be empty.');
    if (value.length > most) throw new UsageError(`It must have at most ${most} characters.`);
    return value;
  };
}

/** A whole number in plain digits. */
export function wholeNumber(min: number, max: number) {
  return (given: string): number => {
    const value = /^(0|[1-9]\d{0,14})$/.test(given) ? Number.parseInt(given, 10) : -1;
    if (value < min || value > max) throw new UsageError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** One of the words, in this spelling. */
export function oneOf<const T extends string>(...words: readonly T[]) {
  return (given: string): T => {
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) throw new UsageError(`It must be one of ${words.join(', ')}.`);
    return word;
  };
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
  throw new UsageError('It must be an amount in USD such as 1000 or 99.50, at most 1000000000000, or none.');
}

/** What a key may do, with commas between. */
export function scopes(given: string): readonly KeyScope[] {
  const read = parseScopes(given);
  if (read) return read;
  throw new UsageError(`It must be one or several of ${KEY_SCOPES.join(', ')}, with commas between.`);
}

/** The option that a member of the options holds: `--key-stdin` of `keyStdin`. */
export const flagOf = (member: string): string =>
  `--${member.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The environment with `--preset` as PRESET. Throws OperatorError where PRESET says something else. */
export function presetIn(env: NodeJS.ProcessEnv, given: string | undefined): NodeJS.ProcessEnv {
  if (given === undefined) return env;
  if (env['PRESET'] && env['PRESET'] !== given)
    throw new OperatorError(
      `--preset is ${given}, and the variable PRESET is ${env['PRESET']}`,
      'Leave one of them out',
    );
  return { ...env, PRESET: given };
}
