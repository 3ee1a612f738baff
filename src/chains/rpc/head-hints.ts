// Announcements of new blocks, for as long as somebody listens: which socket to use,
// when to try again, and what to report about it.

import { pause } from '../../base/async/pause.ts';
import type { ChainReader, HeadListener } from '../reader.ts';
import { type Endpoint, parseSocket } from './endpoint-url.ts';
import { EndpointFailure } from './errors.ts';
import { type HeadSocketLimits, listenForHeads } from './head-socket.ts';
import type { EachResponse } from './types.ts';

export type HeadHintsOptions = {
  /** For messages: "bsc". */
  readonly name: string;
  /** ws or wss addresses in order of preference. */
  readonly urls: readonly string[];
  readonly chainId: number;
  /** Called when announcements stop or are back; at most two lines a minute, which name the host only. */
  readonly report?: ((message: string) => void) | undefined;
  readonly limits?: Partial<HeadSocketLimits> | undefined;
  readonly now?: (() => number) | undefined;
  /** The wait between two tries. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  readonly random?: (() => number) | undefined;
};

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** A connection that held for this long was a good one. */
const STEADY_MS = 60_000;
const PROBE_MS = 10_000;

/**
 * Makes the `hint` of a reader. One socket is open at a time, and only while somebody listens; where
 * it fails, the next address is tried, after 1 s doubling to a minute, with jitter. Throws a sentence
 * for an unusable address; afterwards it never throws.
 */
export function createHeadHints(options: HeadHintsOptions): NonNullable<ChainReader['hint']> {
  const endpoints = options.urls.map(parseSocket);
  const now = options.now ?? (() => performance.now());
  const said = sayings(options);
  return (listener, signal) => void keepListening({ ...options, now }, endpoints, said, listener, signal);
}

/** Whether each address connects and takes a subscription now. For diagnosis. */
export async function probeHeadHints(
  { urls, chainId }: Pick<HeadHintsOptions, 'urls' | 'chainId'>,
  signal: AbortSignal,
): Promise<EachResponse<true>[]> {
  const now = () => performance.now();
  const probes = urls.map(parseSocket).map(async (endpoint): Promise<EachResponse<true>> => {
    const done = new AbortController();
    let subscribed = false;
    const events = {
      subscribed: () => {
        subscribed = true;
        done.abort();
      },
      announced: () => undefined,
    };
    const input = { endpoint, chainId, now, limits: { openMs: PROBE_MS } };
    const problem = await listenForHeads(input, events, AbortSignal.any([signal, done.signal])).catch(
      ownSentence,
    );
    return subscribed ? { host: endpoint.host, value: true } : { host: endpoint.host, problem };
  });
  return await Promise.all(probes);
}

type Sayings = { failed(host: string, reason: string): void; steady(host: string): void };
type Listening = HeadHintsOptions & { readonly now: () => number };

async function keepListening(
  options: Listening,
  endpoints: readonly Endpoint[],
  said: Sayings,
  listener: HeadListener,
  signal: AbortSignal,
): Promise<void> {
  const { chainId, now, limits, random = Math.random, pause: wait = pause } = options;
  let failures = 0;
  for (let turn = 0; !signal.aborted; turn++) {
    const endpoint = endpoints[turn % endpoints.length];
    if (!endpoint) return;
    let steadyFromMs = Number.POSITIVE_INFINITY;
    const isSteady = (): boolean => now() >= steadyFromMs;
    const events = {
      subscribed: () => {
        steadyFromMs = now() + STEADY_MS;
      },
      announced: (number: number) => {
        if (isSteady()) said.steady(endpoint.host);
        listener.announced(number);
      },
    };
    const reason = await listenForHeads({ endpoint, chainId, now, limits }, events, signal).catch(
      ownSentence,
    );
    listener.lost();
    if (signal.aborted) return;
    said.failed(endpoint.host, reason);
    failures = isSteady() ? 1 : failures + 1;
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 16));
    await wait(longestMs * (0.5 + 0.5 * random()), signal).catch(() => undefined);
  }
}

/**
 * One line when announcements stop and one when they have been back for a while: a
 * connection that flaps in between is not worth a line.
 */
function sayings({ name, report }: HeadHintsOptions): Sayings {
  let failing = false;
  return {
    failed: (host, reason) => {
      if (!failing)
        report?.(
          `${name}: ${host} announces no blocks: ${reason}; the head is asked for by the clock meanwhile`,
        );
      failing = true;
    },
    steady: (host) => {
      if (failing) report?.(`${name}: ${host} announces blocks again`);
      failing = false;
    },
  };
}

/** The message of our own errors only: any other error's message can repeat the URL. */
function ownSentence(error: unknown): string {
  return error instanceof EndpointFailure ? error.message : 'it could not be used';
}
