import type { IncomingMessage } from 'node:http';
import type { SessionFinder } from '../../services/access/sessions.ts';
import type { KeyFinder } from '../../services/merchants/key-owner.ts';
import { ApiError } from '../errors.ts';
import type { Caller } from '../route.ts';
import { sessionTokens } from './session-cookie.ts';

const KEY_IN_TEXT = /sk_(live|test)_/i;
const BEARER = /^Bearer +([^\s]+)$/i;

/** Whom a credential belongs to. */
export type Finders = { readonly findOwner: KeyFinder; readonly findSession: SessionFinder };

/**
 * Who calls, by API key or by session cookie. Both may come together where they agree on merchant and mode;
 * the session then counts as the caller. Throws 401 for no credential, for one that is unknown, revoked or
 * expired, for two that differ, and for a key in the query string.
 */
export async function authenticate(
  { findOwner, findSession }: Finders,
  request: IncomingMessage,
): Promise<Caller> {
  refuseKeyInQuery(request.url ?? '');
  const key = readKey(request);
  const [token, ...others] = sessionTokens(request);
  if (others.length > 0) throw differing();
  if (key === undefined && token === undefined)
    throw unauthorized('An API key is required: send it as "Authorization: Bearer KEY" or "x-api-key: KEY".');
  const [owner, session] = await Promise.all([
    key === undefined ? undefined : findOwner(key),
    token === undefined ? undefined : findSession(token),
  ]);
  if (key !== undefined && !owner) throw unauthorized('The API key is not valid.');
  if (token !== undefined && !session) throw sessionEnded();
  if (owner && !session) return { kind: 'key', ...owner };
  // Live unless the header says exactly "test", as the contract says.
  const mode = request.headers['x-mode'] === 'test' ? 'test' : 'live';
  if (!session || (owner && (owner.merchantId !== session.merchantId || owner.mode !== mode)))
    throw differing();
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
  if (keys.size > 1) throw differing();
  const [key] = keys;
  return key;
}

function bearerOf(value: string): string {
  const key = BEARER.exec(value)?.[1];
  if (key === undefined) throw unauthorized('The Authorization header must be "Bearer KEY".');
  return key;
}

function differing(): ApiError {
  return unauthorized('The request carries two credentials that differ.');
}

function unauthorized(sentence: string): ApiError {
  return new ApiError('UNAUTHORIZED', sentence, { headers: { 'WWW-Authenticate': 'Bearer' } });
}
