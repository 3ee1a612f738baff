import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Tells whether a request may act with the cookie that a browser added by itself. */
export type OriginRule = (request: IncomingMessage) => boolean;

/**
 * A request that changes something is accepted when every sign of a browser in it says that one of our own
 * pages sent it: `Sec-Fetch-Site` is `same-origin` and `Origin` is ours. Either may be absent, but today's
 * browsers send them. Ours is the origin of `publicUrl`. Where that is not set we are reached directly, and
 * the request's own host counts: an attacker's page can neither forge it nor get our cookie for another. With
 * a public URL the host proves nothing, because a proxy may have written it, and neither the host nor a
 * forwarded header can say whether the browser came by https.
 */
export function createOriginRule(publicUrl: string | undefined): OriginRule {
  const known = publicUrl === undefined ? undefined : originOf(publicUrl);
  return (request) => {
    if (SAFE_METHODS.has(request.method ?? '')) return true;
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (site !== undefined && site !== 'same-origin') return false;
    if (origin === undefined) return true;
    const own =
      known ?? originOf(`${isEncrypted(request) ? 'https' : 'http'}://${request.headers.host ?? ''}`);
    return own !== undefined && origin === own;
  };
}

/** The answer to a request that a page of another origin sent. */
export function forgedRequest(): ApiError {
  return new ApiError('CSRF', 'This request did not come from a page of this service.');
}

function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
