import { createRandom, type Random } from '../../dev/random.ts';
import { type Behaviour, type ReceivedRequest, startReceiver } from '../../dev/support/receiver.ts';
import type { MerchantName } from './plan/plan.ts';

type Ill = (draws: Random) => Behaviour;
type Endpoint = { merchant: MerchantName; mode: 'live' | 'test'; events: readonly string[]; answers: Ill };

const healthy: Ill = () => 200;
/** The gateway waits ten seconds for an answer. */
const ANSWER_WITHIN_MS = 10_000;

/** Whose each receiver is, what it listens to and what it does with a request until it is healed. */
export const ENDPOINTS = {
  'healthy-a': { merchant: 'A', mode: 'live', events: ['*'], answers: healthy },
  flaky: { merchant: 'A', mode: 'live', events: ['*'], answers: flaky },
  slow: {
    merchant: 'A',
    mode: 'live',
    events: ['deposit.completed', 'deposit.failed'],
    answers: (draws) => ({ kind: 'answer', status: 200, delayMs: draws.int(200, 7_000) }),
  },
  'healthy-b': { merchant: 'B', mode: 'live', events: ['*'], answers: healthy },
  hanging: {
    merchant: 'B',
    mode: 'live',
    events: ['deposit.detected', 'deposit.settled'],
    answers: (draws) => (draws.chance(0.6) ? { kind: 'hang' } : 200),
  },
  resetting: {
    merchant: 'B',
    mode: 'live',
    events: ['*'],
    answers: (draws) => (draws.chance(0.7) ? { kind: 'reset' } : 200),
  },
  'healthy-c': { merchant: 'C', mode: 'live', events: ['*'], answers: healthy },
  'healthy-test': { merchant: 'A', mode: 'test', events: ['*'], answers: healthy },
} as const satisfies Readonly<Record<string, Endpoint>>;
export type ReceiverName = keyof typeof ENDPOINTS;
export const RECEIVERS = Object.keys(ENDPOINTS) as ReceiverName[];
/** The receiver of each merchant and mode that takes everything at once. */
export const HEALTHY = {
  live: { A: 'healthy-a', B: 'healthy-b', C: 'healthy-c' },
  test: { A: 'healthy-test', B: 'healthy-test', C: 'healthy-test' },
} as const;

function flaky(draws: Random): Behaviour {
  const kinds = { good: 55, 500: 12, 503: 10, 429: 6, reset: 8, late: 3, 404: 2, 302: 2, 410: 2 };
  const kind = draws.weighted(kinds);
  if (kind === 'good') return 200;
  if (kind === 'reset') return { kind: 'reset' };
  if (kind === 'late') return { kind: 'answer', status: 200, delayMs: ANSWER_WITHIN_MS + 1_000 };
  return Number(kind);
}

/** What one receiver was sent and what it answered: its own record, kept apart from the gateway's. */
export type Hook = {
  readonly url: string;
  readonly received: readonly { readonly request: ReceivedRequest; readonly answered: Behaviour }[];
  setSecret(secret: string): void;
  /** From now on it answers everything with 200. */
  heal(): void;
  stop(): Promise<void>;
};

/** Starts every receiver with a behaviour that the seed decides, request by request. */
export async function startHooks(seed: string): Promise<Map<ReceiverName, Hook>> {
  const hooks = new Map<ReceiverName, Hook>();
  for (const name of RECEIVERS) {
    const draws = createRandom(`receiver ${name}\n${seed}`);
    const received: Hook['received'][number][] = [];
    let answers: Ill = ENDPOINTS[name].answers;
    const { url, setSecret, stop } = await startReceiver({
      behaviour: (_index, request) => {
        const answered = answers(draws);
        received.push({ request, answered });
        return answered;
      },
    });
    const heal = () => {
      answers = healthy;
    };
    hooks.set(name, { url, received, setSecret, heal, stop });
  }
  return hooks;
}

/** Whether an answer tells the sender that the event was taken. */
export function isSuccess(answered: Behaviour): boolean {
  const isGood = (status: number): boolean => status >= 200 && status <= 299;
  if (typeof answered === 'number') return isGood(answered);
  return answered.kind === 'answer' && isGood(answered.status) && (answered.delayMs ?? 0) < ANSWER_WITHIN_MS;
}
