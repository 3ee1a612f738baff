import type { IncomingMessage } from 'node:http';

const NAME = 'ch_session';
/**
 * `Secure` always: browsers treat localhost as secure, and nobody else may get sessions without TLS. The
 * name is part of the contract, so it has no `__Host-` prefix, and a neighbouring host may plant a
 * cookie of the same name: two different ones are refused.
 */
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Lax';

/**
 * The different values of the request's session cookie: none, one, or more when somebody
 * planted another. An empty value does not count.
 */
export function sessionTokens(request: IncomingMessage): string[] {
  const tokens = new Set<string>();
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0 || part.slice(0, equals).trim() !== NAME) continue;
    const value = part.slice(equals + 1).trim();
    if (value !== '') tokens.add(value);
  }
  return [...tokens];
}

/**
 * The `Set-Cookie` that hands the token over. It lasts as long
 * as the browser; the database knows when the session ends.
 */
export function sessionCookie(token: string): string {
  return `${NAME}=${token}; ${ATTRIBUTES}`;
}

/** The `Set-Cookie` that takes the cookie away. */
export function clearedCookie(): string {
  return `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;
}
