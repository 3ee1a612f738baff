import { randomBytes } from 'node:crypto';
import { createClient, GatewayError, type ListedEvent } from '../../../packages/sdk/src/index.ts';
import { pause } from '../../base/async/pause.ts';
import { OperatorError, UsageError } from '../../base/errors.ts';
import { harmless, jsonLine } from '../../base/terminal.ts';
import { isSubscribed } from '../../domain/events.ts';
import { generateSecret } from '../../services/webhooks/http/signature.ts';
import { readSecret } from '../stdin.ts';
import { followEvents } from './events.ts';
import { type ShopAnswer, sendToShop } from './shop.ts';

/** What a person says, beside the environment, to have events forwarded. */
export type Forwarding = {
  readonly to: URL;
  /** Where the gateway is; the path of its API may be left out. */
  readonly api?: string | undefined;
  readonly keyStdin?: boolean | undefined;
  readonly secretStdin?: boolean | undefined;
  readonly events?: readonly string[] | undefined;
  readonly since?: Date | undefined;
  readonly json?: boolean | undefined;
};

/** Says one thing: a line for a person on stdout, or one of JSON on stderr. */
type SayLine = (fields: Readonly<Record<string, unknown>>, line: string) => void;

const POLL_MS = 1_000;
const FIRST_WAIT_MS = 500;
const API_PATH = '/api/v1';
const [NAME, SAID] = [22, 120];
const [RED, GREEN, YELLOW] = [31, 32, 33];
const ASKED = {
  name: 'signing secret',
  maxBytes: 1_024,
  nextAction: 'Give it on one line, as it was shown',
} as const;
const SECRET = /^whsec_[A-Za-z0-9+/_=-]{24,200}$/;

/**
 * Follows a merchant's events and forwards each to a shop, one after the other, until SIGINT or SIGTERM,
 * with key and secret from the environment or stdin. An event that the shop was sent is over, whatever it
 * answered; one that did not reach it waits. Throws a UsageError for what is missing or wrong, and an
 * OperatorError for what the gateway refuses.
 */
export async function followAs(given: Forwarding): Promise<void> {
  const { keyStdin, secretStdin } = given;
  if (keyStdin && secretStdin)
    throw new UsageError(
      'Only one of key and secret can come on stdin: give the other one in the environment',
    );
  const address = given.api ?? process.env['GATEWAY_URL'];
  if (!address) throw new UsageError('Say with --api, or in GATEWAY_URL, where the gateway is');
  const asked = { ...ASKED, name: 'API key' };
  const key = (keyStdin ? await readSecret(asked) : process.env['GATEWAY_KEY'])?.trim();
  if (!key) throw new UsageError('There is no API key: give it in GATEWAY_KEY, or on stdin with --key-stdin');
  const secret = await readSigningSecret(secretStdin);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  try {
    await forward(given, { api: apiOf(address), key, secret }, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

/**
 * The secret never comes as an argument: arguments are visible in the process list and in
 * the shell's history. An empty one counts as none. Throws a UsageError for one that is not whole.
 */
export async function readSigningSecret(onStdin: boolean | undefined): Promise<string | undefined> {
  const given = onStdin ? await readSecret(ASKED) : process.env['WEBHOOK_SECRET'];
  const secret = given?.trim() || undefined;
  if (secret !== undefined && !SECRET.test(secret))
    throw new UsageError('The signing secret must be the whole one as it was shown, whsec_ included');
  if (onStdin && secret === undefined) throw new UsageError('There is no secret on stdin');
  return secret;
}

/** The address of the API: where only the gateway is named, its path is added. */
function apiOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--api must be an http or https URL');
  return url.pathname === '/' ? `${url.origin}${API_PATH}` : given;
}

type GatewayAccess = { readonly api: string; readonly key: string; readonly secret: string | undefined };

async function forward(given: Forwarding, access: GatewayAccess, signal: AbortSignal): Promise<void> {
  const { to, events = ['*'], since } = given;
  const secret = access.secret ?? generateSecret(randomBytes);
  const say: SayLine = given.json
    ? (fields) => process.stderr.write(jsonLine({ at: new Date().toISOString(), ...fields }))
    : (_, line) => process.stdout.write(`${new Date().toTimeString().slice(0, 8)}  ${line}\n`);
  const gateway = outageOf(say, 'gateway', { what: 'The gateway', signal, mostMs: 10_000 });
  const shop = outageOf(say, 'shop', { what: to.host, signal, mostMs: 2_000 });
  const client = clientOf(access);
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
        await gateway.wait(...reasonToWait(error, isKnown));
      }
    }
  };
  const send = async (event: ListedEvent): Promise<void> => {
    for (;;) {
      const answer = await sendToShop(to, event, { secret, stop: signal });
      if (!('error' in answer) || answer.reached) {
        shop.over();
        sayEvent(say, event, answer);
        return signal.throwIfAborted();
      }
      signal.throwIfAborted();
      await shop.wait(harmless(answer.error));
    }
  };
  await asking(() => feed.begin());
  sayReady(given, access, secret);
  for (;;) {
    await asking(async () => {
      for await (const event of feed.news()) {
        gateway.over();
        if (isSubscribed(events, event.event)) await send(event);
      }
    });
    await pause(POLL_MS, signal);
  }
}

/** Why a gateway is waited for, and how long. Throws where waiting makes nothing better. */
function reasonToWait(error: unknown, isKnown: boolean): [reason: string, forMs: number] {
  if (!(error instanceof GatewayError)) throw error;
  const { status, code, retryAfter = 0 } = error;
  const isNoGateway = (code === 'INVALID_ANSWER' && status < 500) || status === 404;
  if (status === 0 || status === 429 || status >= 500 || (isNoGateway && isKnown))
    return [harmless(status === 0 ? error.message : `${status} ${code}`), retryAfter * 1_000];
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

function clientOf({ api, key }: GatewayAccess) {
  try {
    return createClient({ baseUrl: api, apiKey: key, maxRetries: 0 });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** What is out of reach, and for how long; one line says that it begins and one that it has ended. */
function outageOf(
  say: SayLine,
  outage: 'gateway' | 'shop',
  given: { readonly what: string; readonly signal: AbortSignal; readonly mostMs: number },
) {
  const { what, signal, mostMs } = given;
  let began: number | undefined;
  let tries = 0;
  const tell = (state: 'began' | 'ended', text: string): void =>
    say({ outage, state, text }, coloured(state === 'began' ? YELLOW : GREEN, harmless(text)));
  return {
    /** Says it, if this is the beginning, and waits: longer each time, or as long as was asked for. */
    wait: async (reason: string, forMs = 0): Promise<void> => {
      if (began === undefined)
        tell('began', `${what} is out of reach (${reason}). Nothing is lost: it is asked again.`);
      began ??= Date.now();
      await pause(Math.max(forMs, Math.min(mostMs, FIRST_WAIT_MS * 2 ** Math.min(tries, 8))), signal);
      tries += 1;
    },
    /** It answers. */
    over: (): void => {
      if (began !== undefined)
        tell('ended', `${what} answers again, after ${Math.round((Date.now() - began) / 1_000)} s.`);
      began = undefined;
      tries = 0;
    },
  };
}

function sayReady(
  { to, json }: Forwarding,
  { api, key, secret: given }: GatewayAccess,
  secret: string,
): void {
  const mode = key.startsWith('sk_live_') ? 'live' : 'test';
  if (json) {
    const place = { api, forward_to: to.href, mode, pid: process.pid };
    process.stdout.write(jsonLine({ following: true, ...place, ...(given === undefined && { secret }) }));
    return;
  }
  process.stdout.write(
    `Forwarding ${mode} events of ${harmless(api)} to ${harmless(to.href)}. Ctrl-C ends it.\n`,
  );
  if (given === undefined)
    process.stdout.write(`Signed with a secret made for this run: WEBHOOK_SECRET=${secret}\n`);
}

function sayEvent(say: SayLine, event: ListedEvent, answer: ShopAnswer): void {
  const [status, error] = 'error' in answer ? [null, answer.error] : [answer.status, null];
  const isTaken = status !== null && status >= 200 && status < 300;
  const said = 'error' in answer || isTaken ? '' : answer.text;
  const words = said === '' ? '' : `  ${harmless(said.replace(/\s+/g, ' ')).slice(0, SAID)}`;
  const result = coloured(isTaken ? GREEN : RED, `→ ${status ?? harmless(String(error))}`);
  const { id, event: name, subject_id, timestamp } = event;
  say(
    {
      event: name,
      event_id: id,
      subject_id,
      timestamp,
      answered: status,
      error,
      said,
      duration_ms: answer.ms,
    },
    `${harmless(name).padEnd(NAME)}  ${harmless(id)}  ${result}  ${answer.ms} ms${words}`,
  );
}

function coloured(colour: number, text: string): string {
  const isShown = process.stdout.isTTY && !process.env['NO_COLOR'];
  return isShown ? `\u001b[${colour}m${text}\u001b[0m` : text;
}
