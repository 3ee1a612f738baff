import type { IncomingMessage } from 'node:http';
import type { KeyFinder } from '../services/keys.ts';
import { ApiError } from './errors.ts';
import type { Caller } from './route.ts';

const KEY_IN_TEXT = /sk_(live|test)_/i;
const BEARER = /^Bearer +([^\s]+)$/i;

/** The owner of the request's API key. Throws 401 for no, an unknown, revoked or expired key, two that differ, or one in the query string. */
export async function authenticate(findOwner: KeyFinder, request: IncomingMessage): Promise<Caller> {
  refuseKeyInQuery(request.url ?? '');
  const key = readKey(request);
  if (key === undefined) throw unauthorized('An API key is required: send it as "Authorization: Bearer KEY" or "x-api-key: KEY".');
  const owner = await findOwner(key);
  if (!owner) throw unauthorized('The API key is not valid.');
  return { kind: 'key', ...owner };
}

/** A key in a URL ends up in logs and histories, so it is refused even beside a good header. */
function refuseKeyInQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0) return;
  const query = url.slice(start).replace(/%5f/gi, '_');
  if (KEY_IN_TEXT.test(query))
    throw unauthorized('An API key is not accepted in the query string. Send it in a header, and revoke this one.');
}

function readKey(request: IncomingMessage): string | undefined {
  const keys = new Set<string>();
  // Node keeps only the first of several Authorization headers, so that the raw list is what shows a second one.
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase();
    const value = request.rawHeaders[index + 1]?.trim() ?? '';
    if (name === 'authorization') keys.add(bearerOf(value));
    else if (name === 'x-api-key') keys.add(value);
  }
  if (keys.size > 1) throw unauthorized('The request carries two credentials that differ.');
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
