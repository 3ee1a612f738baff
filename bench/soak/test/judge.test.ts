import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { isOwnSpending } from '../gather.ts';
import { judge } from '../judge/judge.ts';
import type { Records } from '../judge/records.ts';
import { type Due, mustBePaidOut } from '../quiet.ts';
import type { ReceiverName } from '../receivers.ts';
import {
  ANN,
  BEN,
  CID,
  COINS,
  GONE,
  hex,
  MOVED_TO,
  SHOP,
  soakWorld,
  TOKENS,
  TOP_UP,
  USDT,
  type World,
} from './world.ts';

/** What a gateway could do wrong, the rule that has to notice it, and how it is put into the records. */
type Fault = readonly [name: string, rule: string, spoil: (records: World) => unknown];

const at = <T>(list: readonly T[] | undefined, index: number): T => {
  const found = list?.at(index);
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
};
/** The first event of this name that a receiver took. */
const find = ({ seen }: World, receiver: ReceiverName, event: string) =>
  at(
    [...(seen.get(receiver)?.values() ?? [])].filter((one) => one.event === event),
    0,
  );
const sentOf = ({ truth }: World, hash: string) =>
  at(
    truth.sent.filter((one) => one.hash === hash),
    0,
  );
const deliveryTo = ({ deliveries }: World, receiver: ReceiverName) =>
  at(
    deliveries.filter(({ url }) => url === `http://${receiver}`),
    0,
  );

// Each changes one thing: a deposit, a transaction, what it moves, an event, what it tells, a delivery.
const deposit =
  (merchant: 'A' | 'B', place: number, change: object): Fault[2] =>
  ({ deposits }) =>
    Object.assign(at(deposits[merchant], place), change);
const sent =
  (hash: string, change: object): Fault[2] =>
  (records) =>
    Object.assign(sentOf(records, hash), change);
const move =
  (hash: string, change: object): Fault[2] =>
  (records) =>
    Object.assign(at(sentOf(records, hash).moves, 0), change);
const event =
  (receiver: ReceiverName, name: string, change: object): Fault[2] =>
  (records) =>
    Object.assign(find(records, receiver, name), change);
const data =
  (receiver: ReceiverName, name: string, change: object): Fault[2] =>
  (records) =>
    Object.assign(find(records, receiver, name).data, change);
const delivery =
  (receiver: ReceiverName, change: object): Fault[2] =>
  (records) =>
    Object.assign(deliveryTo(records, receiver), change);
/** As if the gateway had never had this event for the receiver, or had it under a second id as well. */
const forget =
  (receiver: ReceiverName, name: string): Fault[2] =>
  (records) => {
    const { eventId } = find(records, receiver, name);
    records.seen.get(receiver)?.delete(eventId);
    const isOf = ({ url, event_id: id }: World['deliveries'][number]) =>
      url === `http://${receiver}` && id === eventId;
    records.deliveries = records.deliveries.filter((row) => !isOf(row));
  };
const twice =
  (receiver: ReceiverName, name: string): Fault[2] =>
  (records) =>
    records.seen.get(receiver)?.set('twin', { ...find(records, receiver, name), eventId: 'twin' });

const [ONE, AS_SENT, NONE] = [
  'one deposit for each transfer',
  'a deposit is what its transfer was',
  'no deposit without a transfer',
];
const BOOKS = 'the books equal the chain';
const [PAID, WAS_PAID] = [
  'a payout settles deposits of its address, to the unit',
  'what is settled was paid',
];
const WHOLE = 'a settlement is the whole deposit, less what a coin pays for itself';
const GOES = 'a payout goes where its merchant said';
const [ONCE, FOLLOWS, LAST] = [
  'each state of a deposit is told once',
  'events follow the life of a deposit',
  'the last event tells what the API shows',
];
const CANONICAL = 'deposit.completed only for a transfer in a canonical block';
const SAME = 'a subscriber is sent what the others are, and asked for';
const SIGNED = 'an event has one signed body and five attempts';
const ENDS = 'a delivery ends as its receiver remembers';
const SIMULATED = 'one test deposit for each simulation';
const BALANCES = 'balances agree with the ledger';

const FAULTS: readonly Fault[] = [
  ['loses a deposit', ONE, ({ deposits }) => deposits.A.shift()],
  ['doubles a deposit', ONE, ({ deposits }) => deposits.A.push({ ...at(deposits.A, 0), id: 'twin' })],
  ['invents a deposit', NONE, ({ deposits }) => deposits.A.push({ ...at(deposits.A, 0), address: BEN })],
  ['keeps what was replaced', NONE, deposit('A', 2, { status: 'completed' })],
  ['withdraws what is in a block', NONE, ({ truth }) => truth.transactions.add(GONE)],
  ['puts a deposit of Tron on BNB Chain', NONE, deposit('A', 3, { network: 'bsc' })],
  ['credits a top-up', NONE, deposit('B', 3, { transaction_hash: TOP_UP })],
  ['credits another amount', AS_SENT, deposit('A', 0, { amount_raw: '1' })],
  ['never completes one', AS_SENT, deposit('A', 0, { status: 'confirming' })],
  ['completes what is below the minimum', AS_SENT, deposit('A', 1, { status: 'completed' })],
  ['stays at a replaced block', AS_SENT, deposit('A', 0, { block_hash: hex('66') })],
  ['gives it to another customer', AS_SENT, deposit('A', 3, { customer_id: 'customer-2' })],
  ['books it elsewhere', BOOKS, ({ entries }) => Object.assign(at(entries, 0), { account: 'held' })],
  ['keeps an orphan', BOOKS, ({ entries }) => Object.assign(at(entries, 11), { sum: '1' })],
  ['forgets to book', BOOKS, ({ entries }) => entries.splice(0, 3)],
  [
    'books what was paid out as there',
    BOOKS,
    ({ entries }) => Object.assign(at(entries, 12), { account: 'available' }),
  ],
  [
    'forgets an unknown token',
    'what is never credited is kept for the operator',
    ({ setAside }) => setAside.pop(),
  ],
  [
    'was paid in a way that the judge does not see',
    'the judge reads the chain as the chain does',
    ({ held }) => Object.assign(at(held, 2), { coinUnits: 1n }),
  ],

  [
    'pays out twice',
    PAID,
    (records) => records.truth.sent.push({ ...sentOf(records, TOKENS), hash: hex('79') }),
  ],
  ['pays out to somebody else', PAID, move(TOKENS, { to: BEN })],
  ['pays out a unit less', PAID, move(TOKENS, { units: 10n * USDT - 1n })],
  ['pays out from another address', PAID, sent(TOKENS, { from: ANN })],
  [
    'moves two things at once',
    PAID,
    (records) => sentOf(records, TOKENS).moves.push({ to: SHOP, currency: 'BNB', units: 1n }),
  ],
  ['settles nothing by a payout', PAID, deposit('B', 3, { status: 'completed', settlement: null })],
  ['settles by a payout that failed', WAS_PAID, sent(TOKENS, { ok: false })],
  ['settles by one that was replaced away', WAS_PAID, ({ truth }) => truth.sent.splice(1, 1)],
  ['tells a settlement before it settles', WHOLE, deposit('B', 1, { status: 'completed' })],
  ['keeps a unit of a deposit', WHOLE, deposit('B', 3, { amount_raw: '100001' })],
  ['tells less than a payout took', 'what a payout took is told', sent(COINS, { feeUnits: 1_001n })],
  [
    'gives coins for gas away',
    'a wallet for gas pays addresses of deposits alone',
    move(TOP_UP, { to: SHOP }),
  ],
  ['pays out to the place before', GOES, ({ signed }) => Object.assign(at(signed, 0), { signed_ms: 12_000 })],
  [
    'pays out to a place to come',
    GOES,
    ({ signed }) => Object.assign(at(signed, 0), { destination: MOVED_TO }),
  ],
  [
    'tells of money that the merchant has not',
    'a destination holds exactly what was settled to it',
    ({ held }) => Object.assign(at(held, 5), { usdtUnits: 10n * USDT - 1n }),
  ],

  ['loses an event', ONCE, forget('healthy-a', 'deposit.confirming')],
  ['tells a state under two ids', ONCE, twice('healthy-b', 'deposit.settled')],
  ['tells of a completion first', FOLLOWS, data('healthy-a', 'deposit.detected', { status: 'completed' })],
  ['turns the clock back', FOLLOWS, event('healthy-a', 'deposit.confirming', { timestamp: '2025' })],
  ['keeps silent about the last state', LAST, deposit('A', 0, { status: 'settled' })],
  ['tells another amount', LAST, data('healthy-a', 'deposit.completed', { amount_raw: '1' })],
  ['tells another settlement', LAST, data('healthy-b', 'deposit.settled', { settlement: null })],
  [
    'tells of a deposit that is none',
    'no event about an unknown deposit',
    data('healthy-a', 'deposit.detected', { id: '?' }),
  ],
  ['completes an orphan', CANONICAL, data('slow', 'deposit.completed', { transaction_hash: GONE })],
  ['completes in a replaced block', CANONICAL, data('slow', 'deposit.completed', { block_hash: hex('66') })],
  ['forgets a subscriber', 'every subscriber is sent every event', forget('hanging', 'deposit.settled')],
  ['sends what was not asked for', SAME, event('slow', 'deposit.failed', { event: 'deposit.detected' })],
  ['tells one subscriber something else', SAME, data('flaky', 'deposit.completed', { amount_raw: '1' })],
  ['signs wrongly', SIGNED, event('flaky', 'deposit.detected', { allVerified: false })],
  ['changes a body between attempts', SIGNED, event('flaky', 'deposit.detected', { bodies: 2 })],
  ['tries six times', SIGNED, event('flaky', 'deposit.detected', { attempts: [1, 2, 3, 4, 5, 6] })],
  ['makes an attempt twice', SIGNED, event('flaky', 'deposit.detected', { attempts: [1, 1] })],
  [
    'tells one merchant of another',
    'a receiver hears of its own customers only',
    data('healthy-b', 'deposit.detected', { customer_id: 'customer-1' }),
  ],
  ['leaves a delivery open', ENDS, delivery('flaky', { status: 'pending' })],
  ['calls a refused delivery taken', ENDS, event('flaky', 'customer.created', { taken: false })],
  ['gives up too early', ENDS, delivery('flaky', { status: 'failed', attempts: 3, last_status: 503 })],
  [
    'posts without an attempt',
    'no request without an attempt',
    event('flaky', 'customer.created', { attempts: [1, 2] }),
  ],
  [
    'posts what it does not know',
    'no request without a delivery',
    delivery('flaky', { event_id: 'another' }),
  ],
  [
    'makes two deliveries of one',
    'one delivery for each event and endpoint',
    (records) => records.deliveries.push(deliveryTo(records, 'flaky')),
  ],

  [
    'gives two customers one address',
    'no address is given twice',
    ({ listed }) => Object.assign(at(listed, 1), { addresses: at(listed, 0)['addresses'] }),
  ],
  ['loses a customer', 'every customer exists once', ({ listed }) => listed.shift()],
  [
    'announces a customer twice',
    'one customer.created for each customer',
    twice('healthy-a', 'customer.created'),
  ],
  ['loses a simulation', SIMULATED, ({ simulations }) => simulations.shift()],
  [
    'invents a simulation',
    SIMULATED,
    ({ simulations }) => simulations.push({ ...at(simulations, 0), id: 'more' }),
  ],
  ['refuses what is sound', 'the API serves whatever is sound', ({ problems }) => problems.push('400')],
  ['answers 500', 'the API never answers 500', (records) => Object.assign(records, { internalErrors: 1 })],
  [
    'finds a difference itself',
    BALANCES,
    ({ found }) => found.push({ rule: BALANCES, subject: ANN, detail: '1' }),
  ],
];

describe("the soak's judge", () => {
  it('has nothing to say where all is well', () => {
    expect(judge(soakWorld() as Records)).to.deep.equal([]);
  });

  for (const [name, rule, spoil] of FAULTS)
    it(`notices a gateway that ${name}`, () => {
      const records = soakWorld();
      spoil(records);
      expect(judge(records as Records).map((difference) => difference.rule)).to.include(rule);
    });

  it('has a fault here for each of its rules', () => {
    const folder = new URL('../judge/', import.meta.url);
    const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const rules = texts.flatMap((text) =>
      [...text.matchAll(/(?:rule =|say\()\s*(['"])(.+?)\1[,;\s]/g)].map((match) => String(match[2])),
    );
    const tested = new Set(FAULTS.map(([, rule]) => rule));
    expect(rules.length).to.be.greaterThan(25);
    expect([...new Set(rules)].filter((rule) => !tested.has(rule))).to.deep.equal([]);
  });

  it('lets the run spend out of its own wallet, on the network on which it does', () => {
    const one = { network: 'bsc', address: CID, currency: 'USDT', difference: '-1', reason: '' } as const;
    const own = [`bsc ${CID}`];
    expect(isOwnSpending(one, own)).to.equal(true);
    for (const change of [{ network: 'tron' }, { address: BEN }, { difference: '1' }] as const)
      expect(isOwnSpending({ ...one, ...change }, own)).to.equal(false);
  });

  it('lets no run end before what may be paid out is paid out', () => {
    const { customers, destinations } = soakWorld();
    const due: Due = {
      network: 'bsc',
      address: CID,
      currency: 'USDT',
      merchant_id: 'merchant-b',
      units: String(3n * USDT),
    };
    const left = (change: Partial<Due>) =>
      mustBePaidOut([{ ...due, ...change }], { customers, destinations });
    expect(left({})).to.deep.equal([due]);
    expect(left({ units: String(3n * USDT - 1n) })).to.deep.equal([]);
    expect(left({ merchant_id: 'merchant-c' })).to.deep.equal([]);
    expect(left({ network: 'tron' })).to.deep.equal([]);
  });
});
