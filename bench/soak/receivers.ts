import { createRandom, type Random } from '../../dev/random.ts';
import {
  type Behaviour,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
} from '../../dev/support/receiver.ts';
import { type MerchantName, RECEIVERS, type ReceiverName } from './plan/plan.ts';

/** Whose each receiver is, and what it listens to. */
export const ENDPOINTS: Readonly<
  Record<ReceiverName, { merchant: MerchantName; mode: 'live' | 'test'; events: readonly string[] }>
> = {
  'healthy-a': { merchant: 'A', mode: 'live', events: ['*'] },
  flaky: { merchant: 'A', mode: 'live', events: ['*'] },
  slow: { merchant: 'A', mode: 'live', events: ['deposit.completed', 'deposit.failed'] },
  'healthy-b': { merchant: 'B', mode: 'live', events: ['*'] },
  hanging: { merchant: 'B', mode: 'live', events: ['deposit.detected', 'deposit.settled'] },
  resetting: { merchant: 'B', mode: 'live', events: ['*'] },
  'healthy-c': { merchant: 'C', mode: 'live', events: ['*'] },
  'healthy-test': { merchant: 'A', mode: 'test', events: ['*'] },
};

/** What one receiver was sent and what it answered: its own record, kept apart from the gateway's. */
export type Hook = {
  readonly name: ReceiverName;
  readonly url: string;
  readonly received: readonly { readonly request: ReceivedRequest; readonly answered: Behaviour }[];
  setSecret(secret: string): void;
  /** From now on it answers everything with 200. */
  heal(): void;
  stop(): Promise<void>;
};

const answer = (status: number, delayMs: number): Behaviour => ({ kind: 'answer', status, delayMs });

/** One draw of what an ill receiver does. */
function behaviourOf(name: ReceiverName, draws: Random): Behaviour {
  switch (name) {
    case 'healthy-a':
    case 'healthy-b':
    case 'healthy-c':
    case 'healthy-test':
      return 200;
    case 'flaky': {
      const kind = draws.weighted({
        good: 55,
        500: 12,
        503: 10,
        429: 6,
        reset: 8,
        late: 3,
        404: 2,
        302: 2,
        410: 2,
      });
      if (kind === 'good') return 200;
      if (kind === 'reset') return { kind: 'reset' };
      if (kind === 'late') return answer(200, 11_000);
      return Number.parseInt(kind, 10);
    }
    case 'slow':
      return answer(200, draws.int(200, 7_000));
    case 'hanging':
      return draws.chance(0.6) ? { kind: 'hang' } : 200;
    case 'resetting':
      return draws.chance(0.7) ? { kind: 'reset' } : 200;
  }
}

/** Starts every receiver with a behaviour that the seed decides, request by request. */
export async function startHooks(seed: string): Promise<Map<ReceiverName, Hook>> {
  const hooks = new Map<ReceiverName, Hook>();
  for (const name of RECEIVERS) {
    const draws = createRandom(`receiver ${name}\n${seed}`);
    const received: { request: ReceivedRequest; answered: Behaviour }[] = [];
    let healed = false;
    const script = (_index: number, request: ReceivedRequest): Behaviour => {
      const answered = healed ? 200 : behaviourOf(name, draws);
      received.push({ request, answered });
      return answered;
    };
    const receiver: Receiver = await startReceiver({ behaviour: script });
    hooks.set(name, {
      name,
      url: receiver.url,
      received,
      setSecret: receiver.setSecret,
      stop: receiver.stop,
      heal: () => {
        healed = true;
      },
    });
  }
  return hooks;
}

/** Whether an answer tells the sender that the event was taken. */
export function isSuccess(answered: Behaviour): boolean {
  if (typeof answered === 'number') return answered >= 200 && answered <= 299;
  return (
    answered.kind === 'answer' &&
    answered.status >= 200 &&
    answered.status <= 299 &&
    (answered.delayMs ?? 0) < 10_000
  );
}
