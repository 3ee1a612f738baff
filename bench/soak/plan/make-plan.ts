import { createRandom, type Random } from '../../../dev/random.ts';
import { type ChainPlan, chainRandom, PLANNED } from './networks.ts';
import { bursts, planPayment, planReborn, provisions, twins } from './payments.ts';
import {
  type Action,
  type CustomerAction,
  MERCHANTS,
  type MerchantName,
  OUTCOMES,
  type Plan,
  type Planned,
  type ReorgAction,
  type SimulateAction,
} from './plan.ts';
import { planPayoutTroubles } from './plan-payouts.ts';
import { planTroubles } from './plan-troubles.ts';

const MINUTE_MS = 60_000;
const PER_MINUTE = { pay: 40, customer: 8, simulate: 6, reorg: 3, reborn: 1 } as const;

type Draw<T> = (draws: Random, atMs: number) => T;
type At<T> = T & { readonly atMs: number };

/** The plan of a run: sorted by time, a function of seed and length only. */
export function makePlan(seed: string, minutes: number): Plan {
  const random = createRandom(`soak plan\n${seed}`);
  const lastsMs = Math.round(minutes * MINUTE_MS);
  const customers = planCustomers(random.fork('customers'), lastsMs);
  const made = (mode: 'live' | 'test', atMs: number) =>
    customers
      .filter((customer) => customer.mode === mode && customer.atMs <= atMs)
      .map((customer) => customer.number);
  const times = (kind: keyof typeof PER_MINUTE, share: number) =>
    Math.max(1, Math.round(minutes * PER_MINUTE[kind] * share));
  const actions: Planned[] = [...customers];
  let first: ReturnType<typeof bursts> | undefined;
  for (const chain of PLANNED) {
    const own = chainRandom(random, chain.network);
    const spread = <T extends Action>(kind: keyof typeof PER_MINUTE, make: Draw<T>): At<T>[] => {
      const draws = own.fork(kind);
      return Array.from({ length: times(kind, chain.share) }, () => {
        const atMs = draws.int(1_000, Math.max(1_000, lastsMs - 1_000));
        return { ...make(draws, atMs), atMs };
      });
    };
    const payments = bursts(
      spread('pay', (draws, atMs) => planPayment(chain, draws, made('live', atMs), made('test', atMs))),
    );
    actions.push(
      ...provisions(chain, own.fork('provisions')),
      ...payments,
      ...(first ? twins(chain, own.fork('twins'), first) : []),
      ...spread('simulate', (draws, atMs) => planSimulation(chain, draws, made('test', atMs))),
      ...spread('reorg', (draws) => planReorg(chain, draws)),
      ...planReborn(chain, own.fork('reborn'), {
        count: times('reborn', chain.share),
        minutes,
        live: (atMs) => made('live', atMs),
      }),
    );
    first ??= payments;
  }
  actions.push(...planTroubles(random, minutes, lastsMs), ...planPayoutTroubles(random, minutes, lastsMs));
  return { seed, lastsMs, actions: actions.sort((a, b) => a.atMs - b.atMs) };
}

function planCustomers(draws: Random, lastsMs: number): At<CustomerAction>[] {
  const later = Math.round((lastsMs / MINUTE_MS) * PER_MINUTE.customer);
  const times = Array.from({ length: later }, () => draws.int(1_000, lastsMs)).sort((a, b) => a - b);
  const first: readonly (readonly [MerchantName, 'live' | 'test'])[] = [
    ...Array.from({ length: 6 }, (_, index) => [MERCHANTS[index % MERCHANTS.length] ?? 'A', 'live'] as const),
    ...Array.from({ length: 3 }, () => ['A', 'test'] as const),
  ];
  return [...first.map(() => 0), ...times].map((atMs, number) => {
    const [merchant, mode] =
      first[number] ?? (draws.chance(0.25) ? ['A', 'test'] : [draws.pick(MERCHANTS), 'live']);
    return { kind: 'customer', number, merchant, mode, externalId: `user-${number}`, atMs };
  });
}

function planReorg({ network }: ChainPlan, draws: Random): ReorgAction {
  return {
    kind: 'reorg',
    network,
    depth: draws.int(1, 3),
    fate: draws.pick(['drop', 'move', 'resend'] as const),
    resendAfterMs: draws.int(500, 25_000),
  };
}

function planSimulation(
  { network, coin }: ChainPlan,
  draws: Random,
  test: readonly number[],
): SimulateAction {
  return {
    kind: 'simulate',
    network,
    customer: draws.pick(test),
    currency: draws.pick(['USDT', coin]),
    amount: `${draws.int(1, 500)}.${draws.int(1, 99)}`,
    outcome: draws.pick(OUTCOMES),
    events: draws.pick(['final', 'full'] as const),
    hash: `${network === 'tron' ? '' : '0x'}${draws.hex(32)}`,
  };
}
