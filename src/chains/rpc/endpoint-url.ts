// Addresses of endpoints, and what may be shown of them.

/**
 * An endpoint as configured, split so that only `host` is ever
 * shown: path, query and user information often hold an API key.
 */
export type Endpoint = {
  readonly host: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
};

/**
 * Splits an endpoint URL; throws a sentence without the URL
 * in it. User information becomes an Authorization header.
 */
export function parseEndpoint(text: string): Endpoint {
  return split(text, ['https', 'http']);
}

/** The same for an address that announces blocks over WebSocket. */
export function parseSocket(text: string): Endpoint {
  return split(text, ['wss', 'ws']);
}

function split(text: string, [safe, plain]: readonly [string, string]): Endpoint {
  if (!URL.canParse(text)) throw new Error(`an RPC endpoint is not a URL: write it as ${safe}://host/path`);
  const url = new URL(text);
  if (![`${safe}:`, `${plain}:`].includes(url.protocol))
    throw new Error(`the RPC endpoint ${url.host} must be an ${plain} or ${safe} URL`);
  const { username, password } = url;
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (username || password) {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  const parts = [...url.pathname.split('/'), ...url.searchParams.values(), username, password];
  return { host: url.host, url: url.href, headers, secrets: parts.filter((part) => part.length >= 6) };
}

/**
 * A text from outside, fit for a log: no URL, none of the
 * endpoint's secrets, one line, at most 120 characters.
 */
export function redact(endpoint: Endpoint, text: string): string {
  let clean = text.replace(/\b(?:https?|wss?):\/\/\S+/gi, '***').replace(/[\p{Cc}\s]+/gu, ' ');
  for (const secret of endpoint.secrets)
    clean = clean.replaceAll(secret, '***').replaceAll(decodeLoosely(secret), '***');
  return clean.slice(0, 120).trim();
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
