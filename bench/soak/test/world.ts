// Hand-made records of a small run in which all is well: money that stays, dust, a deposit that a reorg
// took, one on Tron, and two payouts: of a token, which a wallet for gas helped, and of a coin, which paid
// for itself.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { isSubscribed } from '../../../src/domain/events.ts';
import type { Json } from '../api.ts';
import type { Customer, Records, Seen } from '../judge/records.ts';
import { type Credit, creditKey, placeKey, type SentByUs } from '../judge/truth.ts';
import type { MerchantName } from '../plan/plan.ts';
import { ENDPOINTS, type ReceiverName } from '../receivers.ts';

type Mutable<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? Map<K, Mutable<V>>
    : T extends string | number | boolean | bigint | undefined | null
      ? T
      : T extends ReadonlySet<infer V>
        ? Set<V>
        : string extends keyof T
          ? Record<string, unknown>
          : { -readonly [K in keyof T]: Mutable<T[K]> };
/** The records, for a test to spoil one thing in, as a fault of the gateway would. */
export type World = Mutable<Records>;

/** 0x and the digits, repeated to so many bytes. */
export const hex = (digits: string, bytes = 32) => `0x${digits.repeat(bytes * 2).slice(0, bytes * 2)}`;
export const USDT = 10n ** 18n;
export const [ANN, BEN, TESTER, CID] = [hex('a1', 20), hex('b2', 20), hex('c3', 20), hex('d4', 20)];
export const [GAS, SHOP, MOVED_TO] = [hex('e5', 20), hex('f6', 20), hex('a7', 20)];
export const [GONE, TOP_UP, TOKENS, COINS] = [hex('9'), hex('70'), hex('71'), hex('72')];
const [BLOCK, STRANGE, SIMULATED] = [hex('bb'), hex('4'), hex('5')];
/** Hashes of Tron have no prefix, and its addresses small and capital letters that matter. */
export const [ON_TRON, ANN_ON_TRON] = ['6'.repeat(64), 'TAnnAnnAnnAnnAnnAnnAnnAnnAnnAnnAnn'];

const customer = (
  number: number,
  merchant: MerchantName,
  mode: 'live' | 'test',
  bsc: string,
  tron = `T${bsc}`,
): Customer => {
  const [externalId, id] = [`user-${number}`, `customer-${number}`];
  return { number, merchant, mode, externalId, id, addresses: { bsc, tron } };
};
const credit = (
  network: Network,
  hash: string,
  address: string,
  currency: Currency,
  amountUnits: bigint,
  belowMinimum = false,
): Credit => {
  const at = { blockNumber: 7, blockHash: BLOCK };
  return { network, hash, address, currency, amountUnits, belowMinimum, ...at };
};

/** A deposit and the events of its life, in order; what is more is known from its last state on. */
function lived(id: string, { id: customerId }: Customer, of: Credit, states: string, more: Json = {}) {
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
  const events = states.split(' ').map((status, index) => ({
    event: `deposit.${status}`,
    data: { ...data, status, sequence: index + 1 } as Json,
  }));
  return { row: { ...events.at(-1)?.data } as Json, events };
}

type Told = Readonly<Record<string, readonly { event: string; data: Json }[]>>;

/** What each receiver took, and the rows of it, when everything went well at once. */
function deliver(told: Told): Pick<World, 'seen' | 'deliveries'> {
  const seen: World['seen'] = new Map();
  const deliveries: World['deliveries'] = [];
  for (const [name, { merchant, mode, events }] of Object.entries(ENDPOINTS)) {
    const own = new Map<string, Mutable<Seen>>();
    for (const [index, { event, data }] of (told[`${merchant} ${mode}`] ?? []).entries()) {
      if (!isSubscribed(events, event)) continue;
      const eventId = `${merchant} ${mode} ${index}`;
      const timestamp = `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`;
      const went = { bodies: 1, allVerified: true, attempts: [1], taken: true };
      own.set(eventId, { eventId, event, data: { ...data }, timestamp, ...went });
      const url = `http://${name}`;
      deliveries.push({ event_id: eventId, url, status: 'succeeded', attempts: 1, last_status: 200 });
    }
    seen.set(name as ReceiverName, own);
  }
  return { seen, deliveries };
}

const entry = (of: Credit, account: string, units: bigint): World['entries'][number] => {
  const { network, hash, address, currency } = of;
  return { network, transaction_hash: hash, address, currency, account, sum: String(units) };
};
const settlement = (hash: string, amount: string, fee: string) => ({
  settlement: { transaction_hash: hash, destination: SHOP, amount, fee_amount: fee, fee_currency: 'BNB' },
});
const sent = (hash: string, from: string, feeUnits: bigint, move: SentByUs['moves'][number]): SentByUs => ({
  network: 'bsc',
  hash,
  from,
  ok: true,
  feeUnits,
  moves: [move],
});
/** Wei as coins. */
const coins = (wei: bigint) => `0.${String(wei).padStart(18, '0')}`;

const SIMULATION = {
  kind: 'simulate',
  customer: 3,
  network: 'bsc',
  currency: 'USDT',
  amount: '1',
  outcome: 'completed',
  events: 'final',
  hash: SIMULATED,
} as const;

const ann = customer(1, 'A', 'live', ANN, ANN_ON_TRON);
const ben = customer(2, 'B', 'live', BEN);
const tester = customer(3, 'A', 'test', TESTER);
const cid = customer(4, 'B', 'live', CID);
const customers = [ann, ben, tester, cid];
const paid = credit('bsc', hex('1'), ANN, 'USDT', 5n * USDT);
const dust = credit('bsc', hex('2'), ANN, 'BNB', 3n, true);
const onTron = credit('tron', ON_TRON, ANN_ON_TRON, 'USDT', 8_000_000n);
const toBen = credit('bsc', hex('3'), BEN, 'USDT', 2n * USDT);
const four = credit('bsc', hex('6a'), CID, 'USDT', 4n * USDT);
const six = credit('bsc', hex('6c'), CID, 'USDT', 6n * USDT);
const coin = credit('bsc', hex('6d'), CID, 'BNB', 100_000n);
const credits = [paid, dust, onTron, toBen, four, six, coin];
const gone = credit('bsc', GONE, ANN, 'USDT', USDT);
const simulation = lived('s1', tester, credit('bsc', SIMULATED, TESTER, 'USDT', USDT), 'completed');

/** Deposits of merchants A and B, and the events of their lives. */
function livesOf() {
  const settled = 'detected confirming completed settled';
  return [
    [
      lived('d1', ann, paid, 'detected confirming completed'),
      lived('d2', ann, dust, 'detected confirming failed', { failure_code: 'BELOW_MINIMUM' }),
      lived('d9', ann, gone, 'detected failed', { failure_code: 'REORGED', block_hash: null }),
      lived('d4', ann, onTron, 'detected confirming completed'),
    ],
    [
      lived('d3', ben, toBen, 'detected failed detected confirming completed'),
      lived('d6', cid, four, settled, settlement(TOKENS, '4', coins(200n))),
      lived('d7', cid, six, settled, settlement(TOKENS, '6', coins(300n))),
      lived('d8', cid, coin, settled, settlement(COINS, coins(99_000n), coins(1_000n))),
    ],
  ] as const;
}

/** What the chains say. */
function truthOf(): World['truth'] {
  return {
    heads: new Map([['bsc', 9]]),
    transactions: new Set(credits.map(({ hash }) => hash)),
    credits: new Map(
      credits.map((one) => [creditKey(one.network, one.hash, one.address, one.currency), { ...one }]),
    ),
    sent: [
      sent(TOP_UP, GAS, 200n, { to: CID, currency: 'BNB', units: 1_000n }),
      sent(TOKENS, CID, 300n, { to: SHOP, currency: 'USDT', units: 10n * USDT }),
      sent(COINS, CID, 900n, { to: SHOP, currency: 'BNB', units: 99_000n }),
    ].map((one) => ({ ...one, moves: one.moves.map((move) => ({ ...move })) })),
    strange: new Map([
      [`bsc ${STRANGE} ${ANN}`, 4n],
      [`tron ${STRANGE} ${ANN_ON_TRON}`, 6n],
    ]),
    arrived: new Map([
      [placeKey('bsc', ANN, 'USDT'), 5n * USDT],
      [placeKey('bsc', ANN, 'BNB'), 3n],
      [placeKey('tron', ANN_ON_TRON, 'USDT'), 8_000_000n],
      [placeKey('bsc', BEN, 'USDT'), 2n * USDT],
      [placeKey('bsc', CID, 'USDT'), 10n * USDT],
      [placeKey('bsc', CID, 'BNB'), 101_000n],
      [placeKey('bsc', GAS, 'BNB'), 10_000n],
      [placeKey('bsc', SHOP, 'USDT'), 10n * USDT],
      [placeKey('bsc', SHOP, 'BNB'), 99_000n],
    ]),
  };
}

/** What the gateway's tables say of deposits and payouts. */
function rowsOf(): Pick<World, 'entries' | 'signed'> {
  return {
    entries: [
      ...[paid, onTron, toBen].flatMap((one) => [
        entry(one, 'available', one.amountUnits),
        entry(one, 'pending', 0n),
        entry(one, 'chain', -one.amountUnits),
      ]),
      entry(dust, 'held', 3n),
      entry(dust, 'chain', -3n),
      entry(gone, 'pending', 0n),
      ...[four, six].flatMap((one) => [
        entry(one, 'settled', one.amountUnits),
        entry(one, 'chain', -one.amountUnits),
      ]),
      entry(coin, 'settled', 99_000n),
      entry(coin, 'fees', 1_000n),
      entry(coin, 'chain', -100_000n),
    ],
    signed: [
      { id: 'p1', merchant_id: 'merchant-b', network: 'bsc', destination: SHOP, signed_ms: 5_000 },
      { id: 'p2', merchant_id: 'merchant-b', network: 'bsc', destination: SHOP, signed_ms: 5_000 },
    ],
  };
}

/** Makes them anew. */
export function soakWorld(): World {
  const [a, b] = livesOf();
  const made = ({ id }: Customer) => ({ event: 'customer.created', data: { id } as Json });
  const told = {
    'A live': [made(ann), ...a.flatMap(({ events }) => events)],
    'B live': [made(ben), made(cid), ...b.flatMap(({ events }) => events)],
    'A test': [made(tester), ...simulation.events],
  };
  const destination = (address: string, askedMs: number, fromMs: number) => ({
    merchantId: 'merchant-b',
    network: 'bsc' as const,
    address,
    askedMs,
    fromMs,
  });
  const held = (address: string, usdtUnits: bigint, coinUnits: bigint, network: Network = 'bsc') => ({
    network,
    address,
    usdtUnits,
    coinUnits,
  });
  return {
    ...deliver(told),
    ...rowsOf(),
    truth: truthOf(),
    held: [
      held(ANN, 5n * USDT, 3n),
      held(ANN_ON_TRON, 8_000_000n, 0n, 'tron'),
      held(BEN, 2n * USDT, 0n),
      held(CID, 0n, 800n),
      held(GAS, 0n, 8_800n),
      held(SHOP, 10n * USDT, 99_000n),
      held(MOVED_TO, 0n, 0n),
    ],
    customers,
    listed: customers.map(({ id, addresses }) => ({
      id,
      addresses: Object.entries(addresses).map(([network, address]) => ({ network, address })),
    })),
    deposits: { A: a.map(({ row }) => row), B: b.map(({ row }) => row), C: [] },
    destinations: [destination(SHOP, 0, 0), destination(MOVED_TO, 10_000, 11_000)],
    gas: [`bsc ${GAS}`],
    spent: [],
    simulated: [{ action: SIMULATION, depositId: 's1' }],
    simulations: [simulation.row],
    setAside: [
      { network: 'bsc', transaction_hash: STRANGE, address: ANN, sum: '4' },
      { network: 'tron', transaction_hash: STRANGE, address: ANN_ON_TRON, sum: '6' },
    ],
    nameOf: new Map(Object.keys(ENDPOINTS).map((name) => [`http://${name}`, name as ReceiverName])),
    problems: [],
    internalErrors: 0,
    found: [],
  };
}
