import { randomBytes } from 'node:crypto';
import { createClient, GatewayError, type ListedEvent } from '../../../packages/sdk/src/index.ts';
import { pause } from '../../base/async/pause.ts';
import { OperatorError, UsageError } from '../../base/errors.ts';
import { harmless, jsonLine } from '../../base/terminal.ts';
import { isSubscribed } from '../../domain/events.ts';
import { generateSecret } from '../../services/webhooks/http/signature.ts';
import { type Feed, followEvents } from './events.ts';
import { type Outage, outageOf } from './outage.ts';
import { type ShopAnswer, sendToShop } from './shop.ts';

/** What is forwarded from where to where. */
export type Forward = {
  /** Where the gateway is; the path of its API may be left out. */
  readonly api: string;
  readonly key: string;
  readonly to: URL;
  /** Signs; without one, one is made and told. */
  readonly secret: string | undefined;
  readonly events: readonly string[];
  readonly since: Date | undefined;
  readonly json: boolean;
};

const POLL_MS = 1_000;
const SHOP_MAX_MS = 2_000;
const API_PATH = '/api/v1';

/**
 * Follows a merchant's events and forwards each to a shop, one after the other, until SIGINT or SIGTERM. An
 * event that the shop was sent is over, whatever it answered; one that did not reach it waits. Throws an
 * OperatorError for a key or a place that is wrong, and a UsageError for what can be neither.
 */
export async function forwardEvents(options: Forward): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  try {
    await forward(options, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

async function forward(options: Forward, signal: AbortSignal): Promise<void> {
  const { to, secret = generateSecret(randomBytes), since } = options;
  const api = apiOf(options.api);
  const client = clientOf(api, options.key);
  const gateway = outageOf((line) => sayOutage(options, 'gateway', line), { what: 'The gateway', signal });
  const shop = outageOf((line) => sayOutage(options, 'shop', line), {
    what: to.host,
    signal,
    maxMs: SHOP_MAX_MS,
  });
  const feed = followEvents((query) => client.events.list(query, { signal }), since);
  let isKnown = false;
  const asking = async (work: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        await work();
        isKnown = true;
        return gateway.over();
      } catch (error) {
        signal.throwIfAborted();
        await waitOrRefuse(error, gateway, isKnown);
      }
    }
  };
  await asking(() => feed.begin());
  sayReady(options, { api, secret });
  for (;;) {
    await asking(() => sendNews(feed, options, { secret, shop, gateway, signal }));
    await pause(POLL_MS, signal);
  }
}

type Sending = {
  readonly secret: string;
  readonly shop: Outage;
  readonly gateway: Outage;
  readonly signal: AbortSignal;
};

async function sendNews(feed: Feed, options: Forward, sending: Sending): Promise<void> {
  for await (const event of feed.news()) {
    sending.gateway.over();
    if (isSubscribed(options.events, event.event)) await send(event, options, sending);
  }
}

async function send(event: ListedEvent, options: Forward, { secret, shop, signal }: Sending): Promise<void> {
  for (;;) {
    const answer = await sendToShop(options.to, event, { secret, stop: signal });
    if (!('error' in answer) || answer.reached) {
      shop.over();
      sayEvent(options, event, answer);
      return signal.throwIfAborted();
    }
    signal.throwIfAborted();
    await shop.wait(harmless(answer.error));
  }
}

/** Waits for a gateway that is away or asks to; anything else does not get better by itself. */
async function waitOrRefuse(error: unknown, gateway: Outage, isKnown: boolean): Promise<void> {
  if (!(error instanceof GatewayError)) throw error;
  const { status, code, retryAfter } = error;
  const isNoGateway = (code === 'INVALID_ANSWER' && status < 500) || status === 404;
  if (status === 0 || status === 429 || status >= 500 || (isNoGateway && isKnown)) {
    const why = status === 0 ? error.message : `${status} ${code}`;
    return await gateway.wait(harmless(why), retryAfter === undefined ? undefined : retryAfter * 1_000);
  }
  if (isNoGateway)
    throw new OperatorError(
      'What answers there has no list of events',
      `Give with --api the address of the gateway, such as https://gateway.example${API_PATH}`,
      { cause: error },
    );
  throw new OperatorError(
    `The gateway refuses: ${harmless(error.message)}`,
    status === 401
      ? 'Give a key of this gateway in GATEWAY_KEY, or with --key-stdin'
      : 'Give a key that may read',
    { cause: error },
  );
}

function clientOf(api: string, key: string) {
  try {
    return createClient({ baseUrl: api, apiKey: key, maxRetries: 0 });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** The address of the API: where only the gateway is named, its path is added. */
function apiOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--api must be an http or https URL');
  return url.pathname === '/' ? `${url.origin}${API_PATH}` : given;
}

function sayReady(
  { json, key, to, secret: given }: Forward,
  { api, secret }: { api: string; secret: string },
) {
  const mode = key.startsWith('sk_live_') ? 'live' : 'test';
  const made = given === undefined ? secret : undefined;
  if (json) {
    const place = { api, forward_to: to.href, mode, pid: process.pid };
    process.stdout.write(jsonLine({ following: true, ...place, ...(made ? { secret: made } : {}) }));
    return;
  }
  process.stdout.write(
    `Forwarding ${mode} events of ${harmless(api)} to ${harmless(to.href)}. Ctrl-C ends it.\n`,
  );
  if (made) process.stdout.write(`Signed with a secret made for this run: WEBHOOK_SECRET=${made}\n`);
}

function sayOutage(
  { json }: Forward,
  part: 'gateway' | 'shop',
  { state, text }: { readonly state: 'began' | 'ended'; readonly text: string },
): void {
  const at = new Date().toISOString();
  if (json) process.stderr.write(jsonLine({ at, outage: part, state, text }));
  else process.stdout.write(`${clock(at)}  ${coloured(state === 'began' ? 33 : 32, harmless(text))}\n`);
}

function sayEvent({ json }: Forward, event: ListedEvent, answer: ShopAnswer): void {
  const at = new Date().toISOString();
  const [status, error] = 'error' in answer ? [null, answer.error] : [answer.status, null];
  const isTaken = status !== null && status >= 200 && status < 300;
  const said = 'error' in answer || isTaken ? '' : answer.text;
  if (json) {
    const { id, event: name, subject_id } = event;
    const what = { at, event: name, event_id: id, subject_id, timestamp: event.timestamp };
    process.stderr.write(jsonLine({ ...what, answered: status, error, said, duration_ms: answer.ms }));
    return;
  }
  const result = `→ ${status ?? harmless(error)}`;
  const words = said === '' ? '' : `  ${harmless(said.replace(/\s+/g, ' ')).slice(0, SAID)}`;
  process.stdout.write(
    `${clock(at)}  ${harmless(event.event).padEnd(NAME)}  ${harmless(event.id)}  ${coloured(isTaken ? 32 : 31, result)}  ${answer.ms} ms${words}\n`,
  );
}

const NAME = 22;
const SAID = 120;

/** The time of day, as the person's clock shows it. */
function clock(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function coloured(colour: number, text: string): string {
  const isShown = process.stdout.isTTY && !process.env['NO_COLOR'];
  return isShown ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
