// What options hold, for the command line and for "listen.mjs". Every reader throws a UsageError with a
// sentence for a value that is wrong.
import { UsageError } from '../../base/errors.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../domain/events.ts';

const DURATION = /^(0|[1-9]\d{0,6})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const MOST_DAYS = 3_650;

/** `30s`, `15m`, `24h`, `7d` in milliseconds; `0s` is allowed. At most `most`, which is written alike. */
export function duration(most: string) {
  return (given: string): number => {
    const ms = durationMs(given);
    if (ms === undefined || ms > (durationMs(most) ?? 0))
      throw new UsageError(`It must be a duration such as 30s, 15m, 24h or 7d, at most ${most}.`);
    return ms;
  };
}

function durationMs(given: string): number | undefined {
  const [, count, unit] = DURATION.exec(given) ?? [];
  return count === undefined ? undefined : Number.parseInt(count, 10) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** An ISO-8601 time with its zone, or a date (its beginning in UTC). */
export function time(given: string): Date {
  const match = TIME.exec(given);
  const value = new Date(given);
  // V8 turns February 30 into March 2, so the day is compared.
  const [year = 0, month = 0, day = 0] = (match?.slice(1, 4) ?? []).map((part) => Number.parseInt(part, 10));
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!match || Number.isNaN(value.getTime()) || day > lastDay)
    throw new UsageError('It must be an ISO-8601 time such as 2026-11-20T09:30:00Z, or a date.');
  return value;
}

/** A {@link time}, or a duration such as `15m` or `90d` away from now: 1 after it, -1 before it. */
function away(given: string, direction: 1 | -1): Date {
  if (durationMs(given) === undefined) return time(given);
  return new Date(Date.now() + direction * duration(`${MOST_DAYS}d`)(given));
}

/** A moment that has passed: a duration such as `15m` before now, or a {@link time}. */
export function past(given: string): Date {
  const at = away(given, -1);
  if (at.getTime() > Date.now()) throw new UsageError('It must lie in the past.');
  return at;
}

/** When something ends: after a duration such as `90d`, or at a {@link time}. Both must lie ahead. */
export function end(given: string): Date {
  const at = away(given, 1);
  if (at.getTime() <= Date.now()) throw new UsageError('It must lie ahead.');
  return at;
}

/** An http or https URL without user information. */
export function webAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError('It must be an http or https URL such as http://localhost:3000/hook.');
}

/** Names of events with commas between them; the first wrong one is named. */
export function eventNames(given: string): readonly string[] {
  const known: readonly string[] = [...EVENT_TYPES, TEST_EVENT, '*'];
  const names = given.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return names;
  throw new UsageError(`There is no event "${wrong}". There are ${known.join(', ')}.`);
}

/** What both take to follow events: an option, what it does, and what reads it. */
export const FORWARDING = [
  ['--forward-to <url>', 'follow the events of an API key and send each here, signed', webAddress],
  ['--api <url>', 'the gateway, if GATEWAY_URL does not say it'],
  ['--events <names>', 'only these, with commas between them', eventNames],
  ['--since <time>', 'also what happened since, such as 15m or a time', past],
  ['--key-stdin', 'read the API key on stdin instead of from GATEWAY_KEY'],
] as const;

/** Both also verify or sign. */
export const SECRET_STDIN = [
  '--secret-stdin',
  'read the signing secret (whsec_…) on stdin instead of from WEBHOOK_SECRET',
] as const;

/** The member that holds an option: `keyStdin` of `--key-stdin`. */
export const memberOf = (flag: string): string =>
  flag.replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
