import { createRandom, type Random } from '../../../dev/random.ts';
import { type Currency, NATIVE_CURRENCY } from '../../../src/domain/assets.ts';
import { leastUnits } from './amounts.ts';
import {
  type Action,
  type ActionOf,
  type At,
  FROZEN,
  MERCHANTS,
  type MerchantName,
  OUTCOMES,
  OWN_WALLET,
  type Plan,
  SENDERS,
  VICTIMS,
} from './plan.ts';
import { type ChainPlan, PLANNED } from './planned.ts';
import { isDouble, REBORN_SHAPES, type Shape } from './shapes.ts';

const MINUTE_MS = 60_000;
const PER_MINUTE = { pay: 40, customer: 8, simulate: 6, reorg: 3, reborn: 1 } as const;
const TROUBLES_PER_MINUTE = { rpc: 6, lie: 3, kill: 5, freeze: 3, unpay: 2 } as const;
/** What is added to whole multiples of the smallest deposit, so that no two amounts are alike. */
const MAX_ODD_UNITS = 2 ** 31;
/** Of twelve payments in a row so many come together. */
const [BURST, OF] = [5, 12];
/** By then the wallets for gas have run empty; what waits for them has to go on by itself after it. */
const REFILL_AT = 0.5;
const REDIRECT_AT = 0.4;
/** The first payouts are in blocks by then. */
const UNPAY_FROM = 0.2;

type Customers = (mode: 'live' | 'test', atMs: number) => number[];
type Length = { readonly minutes: number; readonly lastsMs: number };

/** The plan of a run: sorted by time, a function of seed and length only. */
export function makePlan(seed: string, minutes: number): Plan {
  const random = createRandom(`soak plan\n${seed}`);
  const length = { minutes, lastsMs: Math.round(minutes * MINUTE_MS) };
  const customers = planCustomers(random.fork('customers'), length.lastsMs);
  const made: Customers = (mode, atMs) =>
    customers
      .filter((customer) => customer.mode === mode && customer.atMs <= atMs)
      .map((customer) => customer.number);
  const actions: At<Action>[] = [...customers, ...planProcesses(random.fork('processes'), length)];
  let first: readonly At<ActionOf<'pay'>>[] | undefined;
  for (const chain of PLANNED) {
    const own = random.fork(chain.network);
    const payments = planPayments(chain, own.fork('pay'), length, made);
    actions.push(
      ...payments,
      ...provisions(chain, own.fork('provisions')),
      ...(first ? twins(chain, own.fork('twins'), first) : []),
      ...planAffairs(chain, own, length, made),
      ...planEndpoints(chain, own, length),
    );
    first ??= payments;
  }
  return { seed, lastsMs: length.lastsMs, actions: actions.sort((a, b) => a.atMs - b.atMs) };
}

/** At random moments, but for the first and the last second. */
function spread<T extends Action>(draws: Random, lastsMs: number, count: number, make: (atMs: number) => T) {
  return Array.from({ length: count }, (): At<T> => {
    const atMs = draws.int(1_000, Math.max(1_000, lastsMs - 1_000));
    return { ...make(atMs), atMs };
  });
}

/** Every one of them in turn, in an order of its own each time. */
function inTurns<T>(list: readonly T[], count: number, draws: Random): T[] {
  const chosen: T[] = [];
  while (chosen.length < count) chosen.push(...draws.shuffle(list));
  return chosen.slice(0, count);
}

function planCustomers(draws: Random, lastsMs: number): At<ActionOf<'customer'>>[] {
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

/** Base units of one transfer. */
function planAmount({ network }: ChainPlan, draws: Random, shape: Shape, index: number): string {
  const isCoin = shape.startsWith('coin') && (index === 0 || shape !== 'coin_and_usdt');
  const minimum = leastUnits('minimum', network, isCoin ? NATIVE_CURRENCY[network] : 'USDT');
  const odd = Number(minimum > MAX_ODD_UNITS ? BigInt(MAX_ODD_UNITS) : minimum - 1n);
  if (shape.endsWith('_zero')) return '0';
  // Down to the single base unit, and up to one below the minimum.
  if (shape.endsWith('_dust')) return String(draws.chance(0.3) ? minimum - 1n : BigInt(draws.int(1, odd)));
  if (draws.chance(0.08) || shape.endsWith('from_own_wallet')) return String(minimum);
  return String(minimum * BigInt(draws.int(1, 400)) + BigInt(draws.int(0, odd)));
}

type Paying = { readonly shape: Shape; readonly customers: readonly number[]; readonly sender?: number };

function payment(chain: ChainPlan, draws: Random, { shape, customers, sender }: Paying): ActionOf<'pay'> {
  const transfers = isDouble(shape) ? 2 : customers.length;
  return {
    kind: 'pay',
    network: chain.network,
    shape,
    sender: sender ?? draws.int(0, SENDERS - 1),
    customers,
    amounts: Array.from({ length: transfers }, (_, index) => planAmount(chain, draws, shape, index)),
    transactionType: draws.pick([0, 1, 2, 4] as const),
  };
}

const others = (customers: readonly number[]): number[] => customers.filter((one) => one !== OWN_WALLET);

/** Payments to customers; every sixth comes together with the four before it. */
function planPayments(
  chain: ChainPlan,
  draws: Random,
  { minutes, lastsMs }: Length,
  made: Customers,
): At<ActionOf<'pay'>>[] {
  const count = Math.max(1, Math.round(minutes * PER_MINUTE.pay * chain.share));
  const sorted = spread(draws, lastsMs, count, (atMs) => {
    const shape = draws.weighted(chain.shapes);
    const customers =
      shape === 'to_test_address'
        ? [draws.pick(made('test', atMs))]
        : draws.shuffle(others(made('live', atMs))).slice(0, shape.endsWith('_batch') ? draws.int(2, 5) : 1);
    return payment(chain, draws, { shape, customers });
  }).sort((a, b) => a.atMs - b.atMs);
  return sorted.map((one, index) => ({
    ...one,
    atMs: index % OF < BURST ? (sorted[index - (index % OF) + BURST - 1] ?? one).atMs : one.atMs,
  }));
}

/** What the wallet that the run spends from is given first. */
function provisions(chain: ChainPlan, draws: Random): At<ActionOf<'pay'>>[] {
  const give = (shape: Shape, currency: Currency): At<ActionOf<'pay'>> => ({
    ...payment(chain, draws, { shape, customers: [OWN_WALLET] }),
    amounts: [String(leastUnits('minimum', chain.network, currency) * 5_000n)],
    atMs: 500,
  });
  return [give('usdt', 'USDT'), give('coin', NATIVE_CURRENCY[chain.network])];
}

/** Payments here to the very customers, and at the very moment, of one of each burst elsewhere. */
function twins(chain: ChainPlan, draws: Random, elsewhere: readonly At<ActionOf<'pay'>>[]) {
  return elsewhere
    .filter(({ shape }, index) => index % OF === 0 && shape !== 'to_test_address')
    .map(({ customers: [customer = OWN_WALLET], atMs }): At<ActionOf<'pay'>> => {
      const shape = draws.pick(['usdt', 'coin'] as const);
      return { ...payment(chain, draws, { shape, customers: [customer] }), atMs };
    });
}

/** Simulations, reorgs, what is mined twice, and what befalls payouts. */
function planAffairs(
  chain: ChainPlan,
  own: Random,
  { minutes, lastsMs }: Length,
  made: Customers,
): At<Action>[] {
  const { network, share } = chain;
  const [tests, reorgs, lives, payouts] = ['simulate', 'reorg', 'reborn', 'payouts'].map((name) =>
    own.fork(name),
  ) as [Random, Random, Random, Random];
  const times = (kind: keyof typeof PER_MINUTE) =>
    Math.max(1, Math.round(minutes * PER_MINUTE[kind] * share));
  const unpaid = Math.max(3, Math.round(minutes * TROUBLES_PER_MINUTE.unpay * share));
  const reborn = times('reborn');
  // Evenly, and none so late that its second life would not be seen.
  const rebornEveryMs = (lastsMs * 0.8) / reborn;
  return [
    ...spread(tests, lastsMs, times('simulate'), (atMs) => ({
      kind: 'simulate',
      network,
      customer: tests.pick(made('test', atMs)),
      currency: tests.pick(['USDT', NATIVE_CURRENCY[network]]),
      amount: `${tests.int(1, 500)}.${tests.int(1, 99)}`,
      outcome: tests.pick(OUTCOMES),
      events: tests.pick(['final', 'full'] as const),
      hash: `${network === 'tron' ? '' : '0x'}${tests.hex(32)}`,
    })),
    ...spread(reorgs, lastsMs, times('reorg'), () => ({
      kind: 'reorg',
      network,
      depth: reorgs.int(1, 3),
      fate: reorgs.pick(['drop', 'move', 'resend'] as const),
      resendAfterMs: reorgs.int(500, 25_000),
    })),
    ...Array.from({ length: reborn }, (_, index): At<Action> => {
      const atMs = Math.round(2_000 + rebornEveryMs * (index + lives.next() * 0.7));
      const shape = lives.pick(REBORN_SHAPES);
      const customers = [lives.pick(others(made('live', atMs)))];
      const paid = payment(chain, lives, { shape, customers, sender: SENDERS });
      return { kind: 'reborn', network, payment: { ...paid, transactionType: 2 }, atMs };
    }),
    { kind: 'refill', network, atMs: Math.round(lastsMs * REFILL_AT) },
    ...Array.from(
      { length: unpaid },
      (): At<Action> => ({
        kind: 'unpay',
        network,
        atMs: payouts.int(Math.round(lastsMs * UNPAY_FROM), Math.max(1_000, lastsMs - 5_000)),
      }),
    ),
  ];
}

/** Every fault and every lie of endpoints in turn, and none left out that no run goes without. */
function planEndpoints(chain: ChainPlan, own: Random, { minutes, lastsMs }: Length): At<Action>[] {
  const { network, faults, lies, always, onOneOnly, share } = chain;
  const [draws, told] = [own.fork('rpc'), own.fork('lies')];
  const count = (kind: 'rpc' | 'lie', least: number) =>
    Math.max(least, Math.round(minutes * TROUBLES_PER_MINUTE[kind] * share));
  const chosen = inTurns(faults, count('rpc', 1), draws);
  chosen.push(...always.filter((fault) => !chosen.includes(fault)));
  return [
    ...chosen.flatMap((fault) =>
      spread(draws, lastsMs, 1, () => {
        const endpoints = draws.chance(0.35) && !onOneOnly.includes(fault) ? [0, 1] : [draws.int(0, 1)];
        return { kind: 'rpc', network, endpoints, fault, forMs: draws.int(2_000, 12_000) };
      }),
    ),
    ...inTurns(lies, count('lie', lies.length), told).flatMap((lie) =>
      spread(told, lastsMs, 1, () => ({
        kind: 'lie',
        network,
        lie,
        alone: told.chance(0.75),
        // One that hangs on a tip is of no interest while the tip stays: then it is replaced.
        reorgDepth: lie.startsWith('hangs') ? told.int(1, 3) : 0,
        forMs: told.int(3_000, 12_000),
      })),
    ),
  ];
}

/** Each process is killed and stopped in turn, none in the last five seconds; and a merchant moves. */
function planProcesses(random: Random, { minutes, lastsMs }: Length): At<Action>[] {
  const [kills, freezes] = [random.fork('kills'), random.fork('freezes')];
  const count = (kind: 'kill' | 'freeze', least: number) =>
    Math.max(least, Math.round(minutes * TROUBLES_PER_MINUTE[kind]));
  const killed = inTurns(VICTIMS, count('kill', VICTIMS.length), kills);
  const every = Math.max(1, lastsMs - 10_000) / killed.length;
  return [
    ...killed.map(
      (victim, index): At<Action> => ({
        kind: 'kill',
        victim,
        downMs: kills.int(300, 7_000),
        atMs: Math.round(4_000 + every * index + kills.next() * every * 0.8),
      }),
    ),
    ...inTurns(FROZEN, count('freeze', FROZEN.length), freezes).map(
      (victim): At<Action> => ({
        kind: 'freeze',
        victim,
        forMs: freezes.int(2_000, 25_000),
        atMs: freezes.int(1_000, Math.max(1_000, lastsMs - 10_000)),
      }),
    ),
    { kind: 'redirect', merchant: 'B', atMs: Math.round(lastsMs * REDIRECT_AT) },
  ];
}
