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
  if (!URL.canParse(text)) throw new Error('an RPC endpoint is not a URL: write it as https://host/path');
  const url = new URL(text);
  if (!['https:', 'http:'].includes(url.protocol))
    throw new Error(`the RPC endpoint ${url.host} must be an http or https URL`);
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
 * A text from outside, fit for a log: no URL, none of the endpoint's secrets in any of the forms in which
 * services repeat them, one line, at most 120 characters.
 */
export function redact(endpoint: Endpoint, text: string): string {
  let clean = text.replace(/\b(?:https?|wss?):\/\/\S+/gi, '***').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  for (const form of endpoint.secrets.flatMap(formsOf)) clean = without(clean, form);
  return clean.slice(0, 120).trim();
}

/** The text with *** for each place of the form, in capitals or not. */
function without(text: string, form: string): string {
  const small = form.toLowerCase();
  const lower = text.toLowerCase();
  // A few letters become longer; then the places of both are not the same.
  const shown = lower.length === text.length ? text : lower;
  const parts: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(small); at >= 0; at = lower.indexOf(small, from)) {
    parts.push(shown.slice(from, at));
    from = at + small.length;
  }
  return parts.length === 0 ? text : [...parts, shown.slice(from)].join('***');
}

/** A secret as it is, decoded, and as a URL, a page, JSON, or a header of a kind would spell it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const [whole = ''] = bytes.toString('base64').split('=');
  const inUrl = encodeURIComponent(secret);
  const inPage = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const forms = [secret, decodeLoosely(secret), encodeURIComponent(inUrl), inUrl, inPage];
  forms.push(secret.replaceAll('/', '\\/'), `${whole}==`, `${whole}=`, whole);
  forms.push(bytes.toString('base64url'), bytes.toString('hex'));
  return forms.filter((form) => form !== '');
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
