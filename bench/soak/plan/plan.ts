import { createHash } from 'node:crypto';
import { createRandom, type Random } from '../../../dev/random.ts';
import { planTroubles, type Trouble } from './plan-troubles.ts';

/**
 * What is done in a run and when, decided by the seed alone.
 * How it interleaves with the gateway is up to the machine.
 */
export const MERCHANTS = ['A', 'B'] as const;
export type MerchantName = (typeof MERCHANTS)[number];

/** Ways in which money, or what looks like it, moves to customers. The numbers say how often. */
export const SHAPES = {
  usdt: 26,
  usdt_transfer_from: 8,
  usdt_through_contract: 8,
  usdt_batch: 8,
  usdt_twice_to_one: 8,
  usdt_pulled_by_contract: 6,
  bnb: 16,
  bnb_with_calldata: 6,
  bnb_through_contract: 6,
  bnb_batch: 3,
  bnb_passed_on: 4,
  bnb_by_creation: 4,
  bnb_by_selfdestruct: 4,
  bnb_and_usdt: 5,
  usdt_dust: 4,
  bnb_dust: 3,
  usdt_zero: 4,
  bnb_zero: 3,
  usdt_failed: 5,
  fake_token: 4,
  spoofed_event: 4,
  usdt_undone: 3,
  bnb_undone: 3,
  bnb_borrowed: 2,
  bnb_from_own_wallet: 3,
  usdt_from_own_wallet: 2,
  to_test_address: 3,
} as const;
export type Shape = keyof typeof SHAPES;

export const OUTCOMES = ['completed', 'detected', 'confirming', 'failed', 'settled', 'reorged'] as const;
export const RECEIVERS = [
  'healthy-a',
  'flaky',
  'slow',
  'healthy-b',
  'hanging',
  'resetting',
  'healthy-test',
] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

export type CustomerAction = {
  readonly kind: 'customer';
  readonly number: number;
  readonly merchant: MerchantName;
  readonly mode: 'live' | 'test';
  readonly externalId: string;
};
export type PayAction = {
  readonly kind: 'pay';
  readonly shape: Shape;
  readonly sender: number;
  /** Numbers of the customers who are paid; one of test mode for `to_test_address`. */
  readonly customers: readonly number[];
  /** Base units, one for each customer, or for each transfer to one. */
  readonly amounts: readonly string[];
  readonly transactionType: 0 | 1 | 2 | 4;
};
export type SimulateAction = {
  readonly kind: 'simulate';
  readonly customer: number;
  readonly currency: 'USDT' | 'BNB';
  readonly amount: string;
  readonly outcome: (typeof OUTCOMES)[number];
  readonly events: 'final' | 'full';
  readonly hash: string;
};
/**
 * What becomes of the transactions of replaced blocks: gone,
 * mined in another block at once, or sent again later.
 */
export type ReorgAction = {
  readonly kind: 'reorg';
  readonly depth: number;
  readonly fate: 'drop' | 'move' | 'resend';
  readonly resendAfterMs: number;
};
/**
 * A payment that is seen, replaced away, withdrawn when finality
 * has passed it, and mined again after that: a second generation.
 */
export type RebornAction = { readonly kind: 'reborn'; readonly payment: PayAction };
export type Action = CustomerAction | PayAction | SimulateAction | ReorgAction | RebornAction | Trouble;
export type Planned = Action & { readonly atMs: number };
export type Plan = { readonly seed: string; readonly lastsMs: number; readonly actions: readonly Planned[] };

/**
 * Many, so that a transaction that a reorg threw out mostly
 * finds its number still free when it is sent again.
 */
const SENDERS = 24;
const MINUTE_MS = 60_000;
const PER_MINUTE = { pay: 40, customer: 8, simulate: 6, reorg: 3, reborn: 1 } as const;
const USDT = 10n ** 18n;
const MILLI_BNB = 10n ** 15n;
/** The smallest deposits that are credited, base units; the gateway gets the same figures. */
export const MINIMUM_UNITS = { USDT: USDT, BNB: MILLI_BNB } as const;
/** Below this nothing becomes a deposit; the gateway gets the same figures. */
export const DUST_FLOOR_UNITS = { USDT: USDT / 1_000n, BNB: MILLI_BNB / 1_000n } as const;
/**
 * The last of them pays what is to be mined a second time,
 * and nothing else: its number must still be free then.
 */
export const SENDER_COUNT = SENDERS + 1;
const LONELY_SENDER = SENDERS;
/**
 * The one customer out of whose wallet the run itself spends, as only a
 * payout would. Balances of this address fall without a reason that the
 * ledger knows, so nothing is sent there that only balances could tell.
 */
export const OWN_WALLET = 0;

/** The plan of a run: sorted by time, a function of seed and length only. */
export function makePlan(seed: string, minutes: number): Plan {
  const random = createRandom(`soak plan\n${seed}`);
  const lastsMs = Math.round(minutes * MINUTE_MS);
  const customers = planCustomers(random.fork('customers'), lastsMs);
  const made = (mode: 'live' | 'test', atMs: number) =>
    customers
      .filter((customer) => customer.mode === mode && customer.atMs <= atMs)
      .map((customer) => customer.number);
  const spread = (
    kind: keyof typeof PER_MINUTE,
    make: (draws: Random, atMs: number) => Action,
  ): Planned[] => {
    const draws = random.fork(kind);
    const count = Math.max(1, Math.round(minutes * PER_MINUTE[kind]));
    return Array.from({ length: count }, () => {
      const atMs = draws.int(1_000, Math.max(1_000, lastsMs - 1_000));
      return { ...make(draws, atMs), atMs };
    });
  };
  const actions: Planned[] = [
    ...customers,
    ...provisions(random.fork('provisions')),
    ...bursts(spread('pay', (draws, atMs) => planPayment(draws, made('live', atMs), made('test', atMs)))),
    ...spread('simulate', (draws, atMs) => planSimulation(draws, made('test', atMs))),
    ...spread('reorg', (draws) => ({
      kind: 'reorg',
      depth: draws.int(1, 3),
      fate: draws.pick(['drop', 'move', 'resend'] as const),
      resendAfterMs: draws.int(500, 25_000),
    })),
    ...planReborn(random.fork('reborn'), minutes, (atMs) => made('live', atMs)),
    ...planTroubles(random, minutes, lastsMs),
  ];
  return { seed, lastsMs, actions: actions.sort((a, b) => a.atMs - b.atMs) };
}

function planCustomers(draws: Random, lastsMs: number): (CustomerAction & { atMs: number })[] {
  const later = Math.round((lastsMs / MINUTE_MS) * PER_MINUTE.customer);
  const times = Array.from({ length: later }, () => draws.int(1_000, lastsMs)).sort((a, b) => a - b);
  const first: readonly (readonly [MerchantName, 'live' | 'test'])[] = [
    ...Array.from({ length: 6 }, (_, index) => [MERCHANTS[index % 2] ?? 'A', 'live'] as const),
    ...Array.from({ length: 3 }, () => ['A', 'test'] as const),
  ];
  return [...first.map(() => 0), ...times].map((atMs, number) => {
    const [merchant, mode] =
      first[number] ?? (draws.chance(0.25) ? ['A', 'test'] : [draws.pick(MERCHANTS), 'live']);
    return { kind: 'customer', number, merchant, mode, externalId: `user-${number}`, atMs };
  });
}

function planPayment(draws: Random, live: readonly number[], test: readonly number[]): PayAction {
  const shape = draws.weighted(SHAPES);
  const count = shape === 'usdt_batch' || shape === 'bnb_batch' ? draws.int(2, 5) : 1;
  const others = live.filter((number) => number !== OWN_WALLET);
  const customers = shape === 'to_test_address' ? [draws.pick(test)] : draws.shuffle(others).slice(0, count);
  const transfers = shape === 'usdt_twice_to_one' || shape === 'bnb_and_usdt' ? 2 : customers.length;
  const amounts = Array.from({ length: transfers }, (_, index) => planAmount(draws, shape, index));
  const transactionType = draws.pick([0, 1, 2, 4] as const);
  return { kind: 'pay', shape, sender: draws.int(0, SENDERS - 1), customers, amounts, transactionType };
}

/** What the wallet that the run spends from is given first. */
function provisions(draws: Random): (PayAction & { atMs: number })[] {
  const give = (shape: Shape, minimum: bigint) => ({
    kind: 'pay' as const,
    shape,
    sender: draws.int(0, SENDERS - 1),
    customers: [OWN_WALLET],
    transactionType: 2 as const,
    amounts: [String(minimum * 5_000n)],
    atMs: 500,
  });
  return [give('usdt', MINIMUM_UNITS.USDT), give('bnb', MINIMUM_UNITS.BNB)];
}

/** Shapes of what is mined twice: seen in the logs, in the transaction itself, and only in a trace. */
const REBORN_SHAPES = [
  'usdt',
  'bnb',
  'usdt_through_contract',
  'bnb_through_contract',
  'bnb_and_usdt',
] as const;

/** One a minute, and none so late that its second life would not be seen. */
function planReborn(
  draws: Random,
  minutes: number,
  live: (atMs: number) => number[],
): (RebornAction & { atMs: number })[] {
  const count = Math.max(1, Math.round(minutes * PER_MINUTE.reborn));
  const everyMs = (minutes * MINUTE_MS * 0.8) / count;
  return Array.from({ length: count }, (_, index) => {
    const atMs = Math.round(2_000 + everyMs * (index + draws.next() * 0.7));
    const shape = draws.pick(REBORN_SHAPES);
    const customers = [draws.pick(live(atMs).filter((number) => number !== OWN_WALLET))];
    const amounts = (shape === 'bnb_and_usdt' ? [0, 1] : [0]).map((transfer) =>
      planAmount(draws, shape, transfer),
    );
    const payment = {
      kind: 'pay' as const,
      shape,
      sender: LONELY_SENDER,
      customers,
      amounts,
      transactionType: 2 as const,
    };
    return { kind: 'reborn', payment, atMs };
  });
}

/** Base units of one transfer. The first of `bnb_and_usdt` is the coin, the second the token. */
function planAmount(draws: Random, shape: Shape, index: number): string {
  const isBnb = (shape.startsWith('bnb') && index === 0) || shape === 'bnb_batch';
  const minimum = isBnb ? MINIMUM_UNITS.BNB : MINIMUM_UNITS.USDT;
  if (shape === 'usdt_zero' || shape === 'bnb_zero') return '0';
  // Down to the single base unit, and up to one below the minimum.
  if (shape === 'usdt_dust' || shape === 'bnb_dust')
    return String(draws.chance(0.3) ? minimum - 1n : BigInt(draws.int(1, 2 ** 31)));
  if (draws.chance(0.08) || shape.endsWith('from_own_wallet')) return String(minimum);
  return String(minimum * BigInt(draws.int(1, 400)) + BigInt(draws.int(0, 2 ** 31)));
}

/** Every sixth payment comes together with the four before it. */
function bursts(payments: readonly Planned[]): Planned[] {
  const sorted = [...payments].sort((a, b) => a.atMs - b.atMs);
  return sorted.map((payment, index) => ({
    ...payment,
    atMs: index % 12 < 5 ? (sorted[index - (index % 12) + 4] ?? payment).atMs : payment.atMs,
  }));
}

function planSimulation(draws: Random, test: readonly number[]): SimulateAction {
  return {
    kind: 'simulate',
    customer: draws.pick(test),
    currency: draws.pick(['USDT', 'BNB'] as const),
    amount: `${draws.int(1, 500)}.${draws.int(1, 99)}`,
    outcome: draws.pick(OUTCOMES),
    events: draws.pick(['final', 'full'] as const),
    hash: `0x${draws.hex(32)}`,
  };
}

/** Names a plan: equal plans have equal hashes. */
export function planHash(plan: Plan): string {
  return createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 16);
}
