// One JSON-RPC request to one endpoint. Everything an endpoint
// can do wrong becomes an EndpointFailure with a short reason.
import { type Endpoint, redact } from './endpoint-url.ts';
import { EndpointFailure, RpcRejected } from './errors.ts';
import { type CallOptions, exchange, notJson, retryAfter } from './exchange.ts';
import type { HttpResponse } from './http-post.ts';

export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] };
type Numbered = RpcRequest & { readonly jsonrpc: '2.0'; readonly id: number };

let lastId = 0;

/**
 * Sends one request and returns its `result` (null included). Throws the signal's reason when the caller
 * aborts, RpcRejected when the node refused the call itself, EndpointFailure for everything else.
 */
export async function callEndpoint(
  endpoint: Endpoint,
  request: RpcRequest,
  options: CallOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const question = numbered(request);
  return readResult(endpoint, await ask(endpoint, question, options, signal), question.id);
}

/**
 * Sends several requests at once and returns their results in order. Throws
 * as {@link callEndpoint} does, with the first error of any of them;
 * `notOffered` where the endpoint takes no batches, or none of this size.
 */
export async function callBatch(
  endpoint: Endpoint,
  requests: readonly RpcRequest[],
  options: CallOptions,
  signal: AbortSignal,
): Promise<unknown[]> {
  const questions = requests.map(numbered);
  const { json, http } = await ask(endpoint, questions, options, signal).catch((error: unknown) => {
    if (error instanceof EndpointFailure && NO_BATCHES.test(error.message) && !error.throttled)
      throw new EndpointFailure(`no batches: ${error.message}`, { notOffered: true });
    throw error;
  });
  if (!Array.isArray(json)) {
    const error = readError(endpoint, json, http);
    const throttled = error instanceof EndpointFailure && error.throttled && !/batch/i.test(error.message);
    throw throttled ? error : new EndpointFailure(`no batches: ${error.message}`, { notOffered: true });
  }
  const byId = new Map(json.map((answer: unknown) => [isRecord(answer) ? answer['id'] : undefined, answer]));
  return questions.map(({ id }) => readResult(endpoint, { json: byId.get(id), http }, id));
}

/**
 * The status of a body that is no JSON, where it is about the request itself rather than about the moment.
 */
const NO_BATCHES = /^http (4\d\d|500|501)$/;

function numbered({ method, params }: RpcRequest): Numbered {
  // The id only pairs a response with its request on one connection, so a counter for the process is enough.
  lastId = (lastId + 1) % 1_000_000_000;
  return { jsonrpc: '2.0', id: lastId, method, params };
}

type Http = { readonly status: number; readonly retryAfterMs: number | undefined };
/** `json` is undefined where the body is no JSON. */
type Exchanged = { readonly json: unknown; readonly http: Http };

async function ask(
  endpoint: Endpoint,
  question: Numbered | readonly Numbered[],
  options: CallOptions,
  signal: AbortSignal,
): Promise<Exchanged> {
  return readHttp(await exchange(endpoint, JSON.stringify(question), options, signal));
}

function readHttp({ status, headers, text }: HttpResponse): Exchanged {
  const http = { status, retryAfterMs: retryAfter(headers) };
  try {
    return { json: JSON.parse(text), http };
  } catch {
    throw isOk(http) ? new EndpointFailure(notJson(text)) : httpFailure(http);
  }
}

function readResult(endpoint: Endpoint, { json, http }: Exchanged, id: number): unknown {
  const members = isRecord(json) ? json : {};
  if (isRecord(members['error']) || !isOk(http)) throw readError(endpoint, json, http);
  if (members['id'] !== id) throw new EndpointFailure('an answer to another request');
  if (!('result' in members)) throw new EndpointFailure('neither result nor error');
  return members['result'];
}

const isOk = ({ status }: Http): boolean => status >= 200 && status < 300;
const isThrottled = ({ status }: Http): boolean => status === 429 || status === 403;

function httpFailure(http: Http): EndpointFailure {
  return new EndpointFailure(`http ${http.status}`, {
    throttled: isThrottled(http),
    retryAfterMs: http.retryAfterMs,
  });
}

/**
 * Reads a response without a result. Some nodes send a JSON-RPC error with status 400 or
 * 500: a revert has to be recognised behind it.
 */
function readError(endpoint: Endpoint, json: unknown, http: Http): EndpointFailure | RpcRejected {
  const error = isRecord(json) ? json['error'] : undefined;
  const said = isRecord(error) ? rpcError(endpoint, error, http) : undefined;
  if (said && (!isThrottled(http) || (said instanceof EndpointFailure && said.notOffered))) return said;
  return isOk(http) ? new EndpointFailure('an answer to another request') : httpFailure(http);
}

/** The sentences in which nodes and providers say that they do not have a method, beside the code for it. */
const NOT_OFFERED =
  /(method|eth_\w+|debug_\w+|trace_\w+)\b.*\b(not (been )?(found|supported|available|allowed|enabled|implemented|whitelisted|exist)|disabled|unavailable|unsupported)|(unsupported|unknown|no such|invalid) (rpc )?method|does not exist\/is not available|(requires|upgrade) .*\bplan\b/i;

function rpcError(
  endpoint: Endpoint,
  error: Record<string, unknown>,
  { retryAfterMs }: Http,
): EndpointFailure | RpcRejected {
  const code = typeof error['code'] === 'number' ? error['code'] : 0;
  const message = redact(endpoint, typeof error['message'] === 'string' ? error['message'] : '');
  if (code === 3 || /revert/i.test(message)) return new RpcRejected(message || 'execution reverted');
  const notOffered = code === -32601 || NOT_OFFERED.test(message);
  const throttled =
    !notOffered &&
    (code === -32005 || code === 429 || /limit|too many|quota|capacity|throttl/i.test(message));
  return new EndpointFailure(`rpc error ${code}${message ? ` ${message}` : ''}`, {
    throttled,
    notOffered,
    retryAfterMs,
  });
}

/** A JSON object, as opposed to null, a list or a scalar. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
