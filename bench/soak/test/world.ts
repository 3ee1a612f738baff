import type { Json } from '../api.ts';
import type { Seen } from '../oracle/records.ts';
import type { Records } from '../oracle/verdict.ts';
import type { MerchantName, ReceiverName } from '../plan/plan.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Customer } from '../stage.ts';

// Hand-made records of a small run of the soak in which all is well.
type Mutable<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? Map<K, Mutable<V>>
    : T extends string | number | boolean | bigint | undefined | null
      ? T
      : T extends ReadonlySet<infer V>
        ? Set<V>
        : T extends Record<string, unknown>
          ? string extends keyof T
            ? Record<string, unknown>
            : { -readonly [K in keyof T]: Mutable<T[K]> }
          : { -readonly [K in keyof T]: Mutable<T[K]> };
export type World = Mutable<Records>;

export const USDT = 10n ** 18n;
/** 0x and the digits, repeated to so many bytes. */
export const hex = (digits: string, bytes = 32) => `0x${digits.repeat(bytes * 2).slice(0, bytes * 2)}`;
export const [ANN, BEN, TEST] = [hex('a1', 20), hex('b2', 20), hex('c3', 20)];
export const [PAID, DUST, TO_BEN, GONE, SIMULATED] = [hex('1'), hex('2'), hex('3'), hex('9'), hex('5')];
const FOREIGN = hex('4');
export const BLOCK = hex('bb');

const customer = (number: number, merchant: MerchantName, mode: 'live' | 'test', bsc: string): Customer => ({
  number,
  merchant,
  mode,
  externalId: `user-${number}`,
  id: `customer-${number}`,
  addresses: { bsc, tron: `T${bsc}` },
});
const credit = (
  hash: string,
  address: string,
  currency: 'USDT' | 'BNB',
  amountUnits: bigint,
  belowMinimum = false,
) => ({
  hash,
  address,
  currency,
  amountUnits,
  belowMinimum,
  blockNumber: 7,
  blockHash: BLOCK,
});

type Credit = ReturnType<typeof credit>;

/** A deposit and the events of its life, in order. */
function lived(id: string, customerId: string, of: Credit, states: readonly string[], more: Json = {}) {
  const data = {
    id,
    customer_id: customerId,
    transaction_hash: of.hash,
    address: of.address,
    currency: of.currency,
    amount_raw: String(of.amountUnits),
    block_number: 7,
    block_hash: BLOCK,
    failure_code: null,
    ...more,
  };
  const events = states.map((status, index) => ({
    event: `deposit.${status}`,
    data: { ...data, status, sequence: index + 1 },
  }));
  return { row: { ...data, status: states.at(-1), sequence: states.length } as Json, events };
}

/** What each receiver took, and the rows of it, when everything went well at once. */
function deliver(
  told: Readonly<Record<string, readonly { event: string; data: Json }[]>>,
): Pick<World, 'seen' | 'deliveries'> {
  const seen: World['seen'] = new Map();
  const deliveries: World['deliveries'] = [];
  for (const [receiver, { merchant, mode, events: wanted }] of Object.entries(ENDPOINTS) as [
    ReceiverName,
    (typeof ENDPOINTS)['flaky'],
  ][]) {
    const own = (told[`${merchant} ${mode}`] ?? []).filter(
      ({ event }) => wanted.includes('*') || wanted.includes(event),
    );
    const entries = own.map(({ event, data }, index): [string, Mutable<Seen>] => {
      const eventId = `${merchant} ${mode} ${(told[`${merchant} ${mode}`] ?? []).findIndex((one) => one.data === data)}`;
      const timestamp = `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`;
      deliveries.push({
        id: `${receiver} ${eventId}`,
        event_id: eventId,
        url: `http://${receiver}`,
        status: 'succeeded',
        attempts: 1,
        open: 0,
        last_status: 200,
        taken_by: 1,
      });
      return [
        eventId,
        {
          receiver,
          eventId,
          event,
          data: { ...data },
          timestamp,
          bodies: 1,
          allVerified: true,
          attempts: [1],
          taken: true,
        },
      ];
    });
    seen.set(receiver, new Map(entries));
  }
  return { seen, deliveries };
}

const account = (mode: string, currency: string, name: string, units: bigint) => ({
  mode,
  currency,
  account: name,
  sum: String(units),
});
const entry = (of: Credit, name: string, units: bigint) => ({
  transaction_hash: of.hash,
  address: of.address,
  currency: of.currency,
  account: name,
  sum: String(units),
});

/** What the chain holds: these credits, and a strange token. */
function truthOf(credits: readonly Credit[]): World['truth'] {
  return {
    head: 20,
    transactions: new Set([PAID, DUST, TO_BEN]),
    credits: new Map(credits.map((one) => [`${one.hash} ${one.address} ${one.currency}`, one])),
    strange: new Map([[`${FOREIGN} ${ANN}`, 4n]]),
    arrived: new Map(credits.map((one) => [`${one.address} ${one.currency}`, one.amountUnits])),
  };
}

/** What the ledger says of these three deposits, of one that a reorg took away, and of a simulation. */
function ledgerOf(paid: Credit, dust: Credit, toBen: Credit): Pick<World, 'accounts' | 'depositAccounts'> {
  return {
    accounts: [
      account('live', 'USDT', 'available', 7n * USDT),
      account('live', 'USDT', 'chain', -7n * USDT),
      account('live', 'BNB', 'held', 3n),
      account('live', 'BNB', 'chain', -3n),
      account('test', 'USDT', 'available', 9n * USDT),
      account('test', 'USDT', 'chain', -9n * USDT),
    ],
    depositAccounts: [
      entry(paid, 'available', 5n * USDT),
      entry(paid, 'chain', -5n * USDT),
      entry(paid, 'pending', 0n),
      entry(dust, 'held', 3n),
      entry(dust, 'chain', -3n),
      entry(toBen, 'available', 2n * USDT),
      entry(toBen, 'chain', -2n * USDT),
      entry(credit(GONE, ANN, 'USDT', USDT), 'pending', 0n),
      entry(credit(GONE, ANN, 'USDT', USDT), 'chain', 0n),
    ],
  };
}

const listedAs = ({ id, addresses }: Customer) => ({
  id,
  addresses: [
    { network: 'bsc', address: addresses.bsc },
    { network: 'tron', address: addresses.tron },
  ],
});

/** The records, for a test to spoil one thing in, as a fault of the gateway would. */
export function soakWorld(): World {
  const [ann, ben, test] = [
    customer(1, 'A', 'live', ANN),
    customer(2, 'B', 'live', BEN),
    customer(3, 'A', 'test', TEST),
  ];
  const credits = [
    credit(PAID, ANN, 'USDT', 5n * USDT),
    credit(DUST, ANN, 'BNB', 3n, true),
    credit(TO_BEN, BEN, 'USDT', 2n * USDT),
  ];
  const [paid, dust, toBen] = credits as [(typeof credits)[0], (typeof credits)[0], (typeof credits)[0]];
  const lives = {
    A: [
      lived('d1', ann.id, paid, ['detected', 'confirming', 'completed']),
      lived('d2', ann.id, dust, ['detected', 'confirming', 'failed'], { failure_code: 'BELOW_MINIMUM' }),
      lived('d9', ann.id, credit(GONE, ANN, 'USDT', USDT), ['detected', 'failed'], {
        failure_code: 'REORGED',
        block_hash: null,
      }),
    ],
    B: [lived('d3', ben.id, toBen, ['detected', 'failed', 'detected', 'confirming', 'completed'])],
  };
  const simulation = lived('s1', test.id, credit(SIMULATED, TEST, 'USDT', 9n * USDT), ['completed']);
  const created = ({ id }: Customer) => ({ event: 'customer.created', data: { id } as Json });
  const told: Record<string, { event: string; data: Json }[]> = {
    'A live': [created(ann), ...lives.A.flatMap((life) => life.events)],
    'B live': [created(ben), ...lives.B.flatMap((life) => life.events)],
    'A test': [created(test), ...simulation.events],
  };
  const { seen, deliveries } = deliver(told);
  return {
    truth: truthOf(credits),
    seen,
    deliveries,
    customers: [ann, ben, test],
    problems: [],
    internalErrors: 0,
    sharedWallets: [],
    setAside: [{ transaction_hash: FOREIGN, address: ANN, sum: '4' }],
    spender: hex('0', 20),
    simulated: [
      {
        action: {
          kind: 'simulate',
          customer: 3,
          currency: 'USDT',
          amount: '9',
          outcome: 'completed',
          events: 'final',
          hash: SIMULATED,
        },
        depositId: 's1',
      },
    ],
    deposits: { A: lives.A.map((life) => life.row), B: lives.B.map((life) => life.row) },
    simulations: [simulation.row],
    listed: [ann, ben, test].map(listedAs),
    ...ledgerOf(paid, dust, toBen),
    nameOf: new Map(Object.keys(ENDPOINTS).map((name) => [`http://${name}`, name])),
    holdings: [
      { address: ANN, usdtUnits: 5n * USDT, bnbUnits: 3n, sent: 0 },
      { address: BEN, usdtUnits: 2n * USDT, bnbUnits: 0n, sent: 0 },
    ],
    reconciled: { left: [], refused: undefined },
  };
}
