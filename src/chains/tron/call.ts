// One request to a node of Tron: a POST of JSON below a base URL. Everything an endpoint can do
// wrong becomes an EndpointFailure with a short reason that holds neither key nor URL.
import { isRecord } from '../rpc/call.ts';
import { type Endpoint, parseEndpoint, redact } from '../rpc/endpoint-url.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { type CallOptions, exchange, notJson, retryAfter } from '../rpc/exchange.ts';
import type { HttpResponse } from '../rpc/http-post.ts';

export type WalletPath = `wallet/${string}`;
/** The view of blocks that nothing can replace any more. */
export type SolidityPath = `walletsolidity/${string}`;

/** Turns the text of a response into a value; throws for a text that is no JSON. */
export type Parse = (text: string) => unknown;

export type TronRequest = {
  readonly path: WalletPath | SolidityPath;
  readonly body: Readonly<Record<string, unknown>>;
};
export type TronCallOptions = CallOptions & { readonly parse: Parse };

/** The pause that a ban lasts at most, for a ban that does not say how long it is. */
const BAN_MS = 30_000;
/** So much of an error is read: far more than is shown, so that no secret is cut before it is hidden. */
const ERROR_CHARACTERS = 100_000;
const THROTTLED =
  /lack of computing resources|exceed|\blimit|too many|quota|throttl|capacity|suspended|banned/i;

/**
 * Endpoints from their base URLs, asked with the key where there is one. What is secret in
 * one of them is hidden in the errors of all. Throws a sentence without the URL.
 */
export function tronEndpoints(urls: readonly string[], apiKey: string | undefined): Endpoint[] {
  const endpoints = urls.map(parseEndpoint);
  const key: Record<string, string> = apiKey ? { 'TRON-PRO-API-KEY': apiKey } : {};
  const secrets = [...endpoints.flatMap(secretsOf), ...Object.values(key)];
  return endpoints.map(({ host, url, headers }) => ({ host, url, headers: { ...headers, ...key }, secrets }));
}

/** User information is also hidden in the form in which it is sent. */
function secretsOf({ headers, secrets }: Endpoint): string[] {
  const sent = headers['authorization']?.replace(/^Basic /, '');
  return sent === undefined ? [...secrets] : [...secrets, sent];
}

/**
 * Sends one request and returns the object or the list that came, also an empty one: what that means is the
 * caller's to say. Throws the signal's reason when the caller aborts, EndpointFailure for everything else;
 * `notOffered` where this address does not serve the path.
 */
export async function callTron(
  endpoint: Endpoint,
  { path, body }: TronRequest,
  options: TronCallOptions,
  signal: AbortSignal,
): Promise<object> {
  const { headers } = endpoint;
  const url = urlOf(endpoint, path);
  const response = await exchange({ url, headers }, JSON.stringify(body), options, signal);
  return readResponse(endpoint, path, response, options.parse);
}

/** The path goes below the base's own; a query of the base stays. */
function urlOf(endpoint: Endpoint, path: string): string {
  const url = new URL(endpoint.url);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`;
  url.hash = '';
  return url.href;
}

function readResponse(endpoint: Endpoint, path: string, response: HttpResponse, parse: Parse): object {
  const isOk = response.status >= 200 && response.status < 300;
  const json = parsed(response.text, parse);
  const isError = isRecord(json) && ('Error' in json || 'error' in json);
  if (!isOk || isError || isClosed(response.text)) throw failure(endpoint, path, response, json);
  if (json === undefined) throw new EndpointFailure(notJson(response.text));
  if (typeof json !== 'object' || json === null) throw new EndpointFailure('neither an object nor a list');
  return json;
}

/** Undefined where the text is no JSON. */
function parsed(text: string, parse: Parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function failure(
  endpoint: Endpoint,
  path: string,
  { status, headers, text }: HttpResponse,
  json: unknown,
): EndpointFailure {
  const said = (sentence(json) ?? (isClosed(text) ? text : '')).slice(0, ERROR_CHARACTERS);
  const throttled = status === 429 || status === 403 || THROTTLED.test(said);
  const pauses = [retryAfter(headers), suspension(said)].filter((ms) => ms !== undefined);
  const ban = status === 403 ? BAN_MS : undefined;
  const notOffered = status === 404 || status === 405 || isClosed(text);
  const words = [status === 200 ? 'an error' : `http ${status}`, redact(endpoint, said)];
  const reason = words.filter((word) => word !== '').join(': ');
  const advice = adviceFor(status, path, text);
  return new EndpointFailure(advice === undefined ? reason : `${reason} (${advice})`, {
    throttled,
    notOffered,
    retryAfterMs: pauses.length > 0 ? Math.max(...pauses) : ban,
  });
}

/** The sentence of `{"Error": …}` and of its kin; undefined for a page and for anything else. */
function sentence(json: unknown): string | undefined {
  if (!isRecord(json)) return undefined;
  const error = json['Error'] ?? json['error'];
  const text = isRecord(error) ? error['message'] : error;
  return typeof text === 'string' ? text : undefined;
}

/** How long the text of a ban says that it lasts. */
function suspension(said: string): number | undefined {
  const seconds = /suspended for (\d{1,5})/i.exec(said)?.[1];
  return seconds === undefined ? undefined : Number.parseInt(seconds, 10) * 1_000;
}

/** A node without history says this in plain text, with status 200. */
function isClosed(text: string): boolean {
  return /^\W{0,9}this API is closed/i.test(text);
}

/** What the operator has to change; undefined where it is not up to the operator. */
function adviceFor(status: number, path: string, text: string): string | undefined {
  if (isClosed(text)) return 'name a full node with all blocks, or set node.openHistoryQueryWhenLiteFN';
  if (status === 401) return 'correct TRON_API_KEY';
  if (status >= 300 && status < 400)
    return 'redirects are not followed: name the address that this one leads to';
  if (status === 413) return 'more was asked for than it takes at once';
  if (status !== 404 && status !== 405) return undefined;
  return path.startsWith('walletsolidity/')
    ? `${path} is not served here: name the base of walletsolidity in TRON_SOLIDITY_URLS, on a node of one’s own another port`
    : `${path} is not served here: correct TRON_API_URLS, the base that wallet/ lies below`;
}
