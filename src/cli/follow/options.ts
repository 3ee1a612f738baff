import { UsageError } from '../../base/errors.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../domain/events.ts';

/** An http or https URL without user information. Throws a UsageError for anything else. */
export function webAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError('It must be an http or https URL such as http://localhost:3000/hook.');
}

/** Names of events with commas between them. Throws a UsageError that names the first wrong one. */
export function eventNames(given: string): readonly string[] {
  const known: readonly string[] = [...EVENT_TYPES, TEST_EVENT, '*'];
  const names = given.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return names;
  throw new UsageError(`There is no event "${wrong}". There are ${known.join(', ')}.`);
}
