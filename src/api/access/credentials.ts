import type { IncomingMessage } from 'node:http';
import type { SessionFinder } from '../../services/access/sessions.ts';
import type { KeyFinder } from '../../services/merchants/key-owner.ts';
import { flawOfKey } from '../../services/merchants/key-text.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../route.ts';
import { sessionTokens } from './session-cookie.ts';

const KEY_IN_TEXT = /sk_(live|test)_/i;
const BEARER = /^Bearer +([^\s]+)$/i;

const DIFFERING = {
  keys: 'The request carries two API keys that differ: send one, in "Authorization" or in "x-api-key".',
  sessions: 'The request carries two sessions that differ: send one ch_session cookie.',
  both: 'The request carries an API key and a session that differ in merchant or mode: send one of them.',
} as const;

/** None of these tells more than the key itself does: its checksum is known to everybody. */
const KEY_FLAWS = {
  none: 'This is not an API key: one begins with sk_live_ or sk_test_.',
  mistyped: 'The API key is mistyped or cut off: its checksum is wrong. Copy it again.',
  unknown:
    'The API key is not valid here: it was revoked or has expired, or it belongs to another installation.',
} as const;

const ENDED_BESIDE_KEY =
  'The request carries an API key and the cookie ch_session of a session that has ended: send the key without the cookie.';
const KEY_AS_COOKIE =
  'The cookie ch_session holds an API key, which is no session: send the key as "Authorization: Bearer KEY".';

/** Whom a credential belongs to. */
export type Finders = { readonly findOwner: KeyFinder; readonly findSession: SessionFinder };

/**
 * Who calls, by API key or by session cookie. Both may come together where they agree on merchant and mode;
 * the session then counts as the caller. Throws 401 for no credential, for one that is unknown, revoked or
 * expired, for two that differ, and for a key in the query string; the sentence says which.
 */
export async function authenticate(
  { findOwner, findSession }: Finders,
  request: IncomingMessage,
): Promise<Caller> {
  refuseKeyInQuery(request.url ?? '');
  const key = readKey(request);
  // Generated clients put the key wherever the description names a credential: the same one is no second one.
  const [token, ...others] = sessionTokens(request).filter((value) => value !== key);
  if (others.length > 0) throw unauthorized(DIFFERING.sessions);
  if (key === undefined && token === undefined)
    throw unauthorized('An API key is required: send it as "Authorization: Bearer KEY" or "x-api-key: KEY".');
  const [owner, session] = await Promise.all([
    key === undefined ? undefined : findOwner(key),
    token === undefined ? undefined : findSession(token),
  ]);
  if (key !== undefined && !owner) throw unauthorized(KEY_FLAWS[flawOfKey(key)]);
  if (token !== undefined && !session) {
    if (KEY_IN_TEXT.test(token)) throw unauthorized(KEY_AS_COOKIE);
    // Whoever sent a key cannot sign in again: the cookie is in the way.
    throw owner ? unauthorized(ENDED_BESIDE_KEY) : sessionEnded();
  }
  if (owner && !session) return { kind: 'key', ...owner };
  // Live unless the header says exactly "test", as the contract says.
  const mode = request.headers['x-mode'] === 'test' ? 'test' : 'live';
  if (!session || (owner && (owner.merchantId !== session.merchantId || owner.mode !== mode)))
    throw unauthorized(DIFFERING.both);
  return { kind: 'session', mode, ...session };
}

/** The answer to a request whose session there is not, or not any more. */
export function sessionEnded(): ApiError {
  return unauthorized('The session has ended. Sign in again.');
}

/** A key in a URL ends up in logs and histories, so it is refused even beside a good header. */
function refuseKeyInQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  const query = url.slice(start).replace(/%5f/gi, '_');
  if (KEY_IN_TEXT.test(query))
    throw unauthorized(
      'An API key is not accepted in the query string. Send it in a header, and revoke this one.',
    );
}

function readKey(request: IncomingMessage): string | undefined {
  const keys = new Set<string>();
  // Node keeps only the first of several Authorization headers, so only the raw list shows a second one.
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase();
    const value = request.rawHeaders[index + 1]?.trim() ?? '';
    if (name === 'authorization') keys.add(bearerOf(value));
    else if (name === 'x-api-key') keys.add(value);
  }
  if (keys.size > 1) throw unauthorized(DIFFERING.keys);
  const [key] = keys;
  return key;
}

function bearerOf(value: string): string {
  const key = BEARER.exec(value)?.[1];
  if (key === undefined) throw unauthorized('The Authorization header must be "Bearer KEY".');
  return key;
}

function unauthorized(sentence: string): ApiError {
  return new ApiError('UNAUTHORIZED', sentence, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
