// The variables that hold URLs.

import { DatabaseUrlRefused, tlsOf } from '../db/tls.ts';
import { parseIp } from '../domain/ip-address.ts';
import type { Parser } from './parser.ts';
import { complain, items, parser } from './parser.ts';

/** A PostgreSQL URL with a host and a database, and no parameter that is not honoured. */
export const databaseUrl: Parser<string> = parser((text) => {
  const url = parseUrl(text);
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    complain(
      'must be a PostgreSQL URL such as postgres://gateway:PASSWORD@db:5432/gateway (encode @ : / # ? in the password as %40 %3A %2F %23 %3F)',
    );
  }
  if (!isDecodable(url.username) || !isDecodable(url.password))
    complain('must write a % in its user or password as %25');
  if (!url.hostname) complain('must name a host, as in postgres://gateway:PASSWORD@db:5432/gateway');
  if (url.pathname.length <= 1)
    complain('must name a database after the host, as in postgres://gateway:PASSWORD@db:5432/gateway');
  try {
    tlsOf(text);
  } catch (error) {
    if (error instanceof DatabaseUrlRefused) complain(error.message);
    throw error;
  }
  return text;
});

/** The address under which browsers and merchants reach this service, without a slash at the end. */
export const publicUrl: Parser<string> = parser((text) => {
  const url = httpUrl(text);
  if (!url || url.search || url.hash)
    complain(
      'must be an absolute http or https URL without user, query or fragment, such as https://pay.example.com',
    );
  return url.href.replace(/(?<!\/)\/+$/, '');
});

/** The address of a receiver of the operator's own; its path and query may hold a key. */
export const receiverUrl: Parser<string> = parser((text) => {
  const url = httpUrl(text);
  if (!url || url.hash) complain('must be an absolute http or https URL without user and fragment');
  return url.href;
});

/** A comma-separated list of at most ten RPC addresses, each http or https, without a slash at the end. */
export const rpcUrls: Parser<readonly string[]> = parser((text) => listOfUrls(text, ['http', 'https']));

/** Names or addresses of hosts, in lower case and without the brackets of IPv6. */
export const hostNames: Parser<readonly string[]> = parser((text) =>
  items(text, 20).map((item, index) => {
    const name = item.toLowerCase().replace(/^\[(.*)\]$/, '$1');
    const isName =
      name.length <= 253 &&
      name.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
    return isName || parseIp(name) !== undefined
      ? name
      : complain(
          `must be a comma-separated list of host names without scheme and port; entry ${index + 1} is not one`,
        );
  }),
);

/** The host of a URL as {@link hostNames} has it. */
export function hostOf(url: string): string {
  return new URL(url).hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

function listOfUrls(text: string, schemes: readonly string[]): string[] {
  const urls = items(text, 10).map((item, index) => {
    const url = plainUrl(item, schemes);
    if (!url || url.hash)
      complain(
        `must be a comma-separated list of ${schemes.join(', ')} URLs without user information; entry ${index + 1} is not one`,
      );
    return url.href.replace(/(?<!\/)\/+$/, '');
  });
  return new Set(urls).size === urls.length ? urls : complain('must not name the same URL twice');
}

function httpUrl(text: string): URL | undefined {
  return plainUrl(text, ['http', 'https']);
}

function plainUrl(text: string, schemes: readonly string[]): URL | undefined {
  const url = parseUrl(text);
  if (!url || !schemes.includes(url.protocol.slice(0, -1)) || url.port === '0') return undefined;
  // A host may legally hold commas and the like; here they only mean a mistyped list.
  if (!/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/i.test(url.hostname)) return undefined;
  // fetch refuses URLs with user information, and a browser would show them.
  return /^[a-z]+:\/\//i.test(text) && !/\s/.test(text) && !url.username && !url.password ? url : undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
