import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import type { Seen } from '../oracle/records.ts';
import { creditKey, placeKey } from '../oracle/truth.ts';
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
/** Hashes of Tron have no prefix, and its addresses small and capital letters that matter. */
export const [ON_TRON, ANN_ON_TRON] = ['6'.repeat(64), 'TAnnAnnAnnAnnAnnAnnAnnAnnAnnAnnAnn'];
export const SPENT_FROM = hex('0', 20);
export const BLOCK = hex('bb');

const customer = (
  number: number,
  merchant: MerchantName,
  mode: 'live' | 'test',
  bsc: string,
  tron = `T${bsc}`,
): Customer => ({
  number,
  merchant,
  mode,
  externalId: `user-${number}`,
  id: `customer-${number}`,
  addresses: { bsc, tron },
});
const credit = (
  network: Network,
  hash: string,
  address: string,
  currency: Currency,
  amountUnits: bigint,
  belowMinimum = false,
) => ({
  network,
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
    network: of.network,
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

const account = (mode: string, network: Network, currency: Currency, name: string, units: bigint) => ({
  mode,
  network,
  currency,
  account: name,
  sum: String(units),
});
const entry = (of: Credit, name: string, units: bigint) => ({
  network: of.network,
  transaction_hash: of.hash,
  address: of.address,
  currency: of.currency,
  account: name,
  sum: String(units),
});

/** What the chain holds: these credits, and a strange token. */
function truthOf(credits: readonly Credit[]): World['truth'] {
  return {
    transactions: new Set([PAID, DUST, TO_BEN, ON_TRON]),
    credits: new Map(
      credits.map((one) => [creditKey(one.network, one.hash, one.address, one.currency), one]),
    ),
    strange: new Map([
      [`bsc ${FOREIGN} ${ANN}`, 4n],
      [`tron ${FOREIGN} ${ANN_ON_TRON}`, 6n],
    ]),
    arrived: new Map(
      credits.map((one) => [placeKey(one.network, one.address, one.currency), one.amountUnits]),
    ),
  };
}

/** What the ledger says of these deposits, of one that a reorg took away, and of a simulation. */
function ledgerOf(
  paid: Credit,
  dust: Credit,
  toBen: Credit,
  onTron: Credit,
): Pick<World, 'accounts' | 'depositAccounts'> {
  return {
    accounts: [
      account('live', 'bsc', 'USDT', 'available', 7n * USDT),
      account('live', 'bsc', 'USDT', 'chain', -7n * USDT),
      account('live', 'bsc', 'BNB', 'held', 3n),
      account('live', 'bsc', 'BNB', 'chain', -3n),
      account('test', 'bsc', 'USDT', 'available', 9n * USDT),
      account('test', 'bsc', 'USDT', 'chain', -9n * USDT),
      account('live', 'tron', 'USDT', 'available', 8_000_000n),
      account('live', 'tron', 'USDT', 'chain', -8_000_000n),
    ],
    depositAccounts: [
      entry(paid, 'available', 5n * USDT),
      entry(paid, 'chain', -5n * USDT),
      entry(paid, 'pending', 0n),
      entry(dust, 'held', 3n),
      entry(dust, 'chain', -3n),
      entry(toBen, 'available', 2n * USDT),
      entry(toBen, 'chain', -2n * USDT),
      entry(credit('bsc', GONE, ANN, 'USDT', USDT), 'pending', 0n),
      entry(credit('bsc', GONE, ANN, 'USDT', USDT), 'chain', 0n),
      entry(onTron, 'available', 8_000_000n),
      entry(onTron, 'chain', -8_000_000n),
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

const SIMULATION: World['simulated'][number] = {
  action: {
    kind: 'simulate',
    customer: 3,
    network: 'bsc',
    currency: 'USDT',
    amount: '9',
    outcome: 'completed',
    events: 'final',
    hash: SIMULATED,
  },
  depositId: 's1',
};

/** The records, for a test to spoil one thing in, as a fault of the gateway would. */
export function soakWorld(): World {
  const [ann, ben, test] = [
    customer(1, 'A', 'live', ANN, ANN_ON_TRON),
    customer(2, 'B', 'live', BEN),
    customer(3, 'A', 'test', TEST),
  ];
  const credits = [
    credit('bsc', PAID, ANN, 'USDT', 5n * USDT),
    credit('bsc', DUST, ANN, 'BNB', 3n, true),
    credit('bsc', TO_BEN, BEN, 'USDT', 2n * USDT),
    credit('tron', ON_TRON, ANN_ON_TRON, 'USDT', 8_000_000n),
  ];
  const [paid, dust, toBen, onTron] = credits as [Credit, Credit, Credit, Credit];
  const lives = {
    A: [
      lived('d1', ann.id, paid, ['detected', 'confirming', 'completed']),
      lived('d2', ann.id, dust, ['detected', 'confirming', 'failed'], { failure_code: 'BELOW_MINIMUM' }),
      lived('d9', ann.id, credit('bsc', GONE, ANN, 'USDT', USDT), ['detected', 'failed'], {
        failure_code: 'REORGED',
        block_hash: null,
      }),
      lived('d4', ann.id, onTron, ['detected', 'confirming', 'completed']),
    ],
    B: [lived('d3', ben.id, toBen, ['detected', 'failed', 'detected', 'confirming', 'completed'])],
  };
  const simulation = lived('s1', test.id, credit('bsc', SIMULATED, TEST, 'USDT', 9n * USDT), ['completed']);
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
    setAside: [
      { network: 'bsc', transaction_hash: FOREIGN, address: ANN, sum: '4' },
      { network: 'tron', transaction_hash: FOREIGN, address: ANN_ON_TRON, sum: '6' },
    ],
    spenders: [`bsc ${SPENT_FROM}`],
    simulated: [SIMULATION],
    deposits: { A: lives.A.map((life) => life.row), B: lives.B.map((life) => life.row) },
    simulations: [simulation.row],
    listed: [ann, ben, test].map(listedAs),
    ...ledgerOf(paid, dust, toBen, onTron),
    nameOf: new Map(Object.keys(ENDPOINTS).map((name) => [`http://${name}`, name])),
    holdings: [
      { network: 'bsc', address: ANN, usdtUnits: 5n * USDT, coinUnits: 3n, sent: 0 },
      { network: 'bsc', address: BEN, usdtUnits: 2n * USDT, coinUnits: 0n, sent: 0 },
      { network: 'tron', address: ANN_ON_TRON, usdtUnits: 8_000_000n, coinUnits: 0n, sent: 0 },
    ],
    // The run's own spending, which is no fault.
    reconciled: {
      left: [{ network: 'bsc', address: SPENT_FROM, currency: 'USDT', difference: '-1', reason: '' }],
      refused: undefined,
    },
  };
}
