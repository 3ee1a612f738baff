import type { Visit } from '../visit.ts';

const DONE = {
  password: 'Your password is changed. You are signed out everywhere else.',
  'totp-on': 'From now on a code of your app is asked for. You are signed out everywhere else.',
  'totp-off': 'No code is asked for any more. You are signed out everywhere else.',
} as const;
type Change = keyof typeof DONE;

/** For how long an address says what was done. */
const SAID_MS = 60_000;

/**
 * What leads a person back after a change, so that the page says it was made. Nobody else can write it: a
 * link of a stranger must not tell people that their password is another one. It says so for a minute: the
 * same form posted again leads there still when another change has followed.
 */
export function doneQuery(visit: Pick<Visit, 'deps' | 'owner'>, change: Change): Record<string, string> {
  const at = visit.deps.now().toISOString();
  return { done: change, at, by: sealOf(visit, change, at) };
}

/** What was done a moment ago, in words; undefined where nothing was, or somebody else says so. */
export function doneWords(visit: Pick<Visit, 'deps' | 'owner' | 'query'>): string | undefined {
  const { done, at, by } = visit.query;
  if (typeof done !== 'string' || typeof at !== 'string' || by !== sealOf(visit, done, at)) return undefined;
  const age = visit.deps.now().getTime() - Date.parse(at);
  return age >= 0 && age < SAID_MS ? DONE[done as Change] : undefined;
}

function sealOf({ deps, owner }: Pick<Visit, 'deps' | 'owner'>, change: string, at: string): string {
  return deps.secretBox.keyedHash(JSON.stringify([owner.sessionId, change, at]), 'done');
}
