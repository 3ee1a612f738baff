import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compareAll, type Records } from '../oracle/verdict.ts';
import type { ReceiverName } from '../plan/plan.ts';
import { ANN, GONE, hex, soakWorld, USDT, type World } from './world.ts';

const set = <T extends object>(target: T, change: Partial<T>): void => void Object.assign(target, change);
const at = <T>(list: readonly T[] | undefined, index: number): T => {
  const found = list?.[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
};
const of = (records: World, receiver: ReceiverName) => [...(records.seen.get(receiver)?.values() ?? [])];
const find = (records: World, receiver: ReceiverName, event: string) =>
  at(
    of(records, receiver).filter((one) => one.event === event),
    0,
  );
const forget = (records: World, receiver: ReceiverName, eventId: string) => {
  records.seen.get(receiver)?.delete(eventId);
  records.deliveries = records.deliveries.filter((row) => row.id !== `${receiver} ${eventId}`);
};
const delivery = (records: World, receiver: ReceiverName) =>
  at(
    records.deliveries.filter((row) => row.id.startsWith(receiver)),
    0,
  );

/** What a gateway could do wrong, and the rule that has to notice it. */
const FAULTS: readonly [name: string, rule: string, spoil: (records: World) => void][] = [
  ['loses a deposit', 'one deposit for each transfer', ({ deposits }) => void deposits.A.shift()],
  [
    'doubles a deposit',
    'one deposit for each transfer',
    ({ deposits }) => void deposits.A.push({ ...at(deposits.A, 0), id: 'twin' }),
  ],
  [
    'invents a deposit',
    'no deposit without a transfer',
    ({ deposits }) => void deposits.A.push({ ...at(deposits.A, 0), transaction_hash: hex('7') }),
  ],
  [
    'keeps what was replaced',
    'no deposit without a transfer',
    ({ deposits }) => set(at(deposits.A, 2), { status: 'completed' }),
  ],
  [
    'withdraws what is in a block',
    'no deposit without a transfer',
    ({ truth }) => void truth.transactions.add(GONE),
  ],
  [
    'credits another amount',
    "a deposit's amount_raw",
    ({ deposits }) => set(at(deposits.A, 0), { amount_raw: '1' }),
  ],
  [
    'never completes one',
    "a deposit's status",
    ({ deposits }) => set(at(deposits.A, 0), { status: 'confirming' }),
  ],
  [
    'completes what is below the minimum',
    "a deposit's status",
    ({ deposits }) => set(at(deposits.A, 1), { status: 'completed' }),
  ],
  [
    'fails for another reason',
    "a deposit's failure_code",
    ({ deposits }) => set(at(deposits.A, 1), { failure_code: 'MONTHLY_LIMIT' }),
  ],
  [
    'stays at a replaced block',
    "a deposit's block_hash",
    ({ deposits }) => set(at(deposits.A, 0), { block_hash: hex('66') }),
  ],
  [
    'has another height',
    "a deposit's block_number",
    ({ deposits }) => set(at(deposits.A, 0), { block_number: 8 }),
  ],
  [
    'gives it to another customer',
    "a deposit's customer_id",
    ({ deposits }) => set(at(deposits.A, 0), { customer_id: 'customer-2' }),
  ],
  [
    'loses an event',
    "a deposit's events all arrive, one for each sequence",
    (records) => forget(records, 'healthy-a', find(records, 'healthy-a', 'deposit.confirming').eventId),
  ],
  [
    'sends an event twice under two ids',
    "a deposit's events all arrive, one for each sequence",
    (records) => {
      const twin = { ...find(records, 'healthy-a', 'deposit.completed'), eventId: 'twin' };
      records.seen.get('healthy-a')?.set('twin', twin);
    },
  ],
  [
    'tells of a completion before its detection',
    'events follow the life of a deposit',
    (records) => {
      const [first, last] = [
        find(records, 'healthy-a', 'deposit.detected'),
        find(records, 'healthy-a', 'deposit.completed'),
      ];
      [first.data['sequence'], last.data['sequence']] = [3, 1];
    },
  ],
  [
    'turns the clock back',
    'time rises with the sequence',
    (records) => {
      find(records, 'healthy-a', 'deposit.confirming').timestamp = '2025-12-31T23:59:59Z';
    },
  ],
  [
    'keeps silent about the last state',
    'the last event is the last state',
    ({ deposits }) => set(at(deposits.A, 0), { status: 'settled' }),
  ],
  [
    'tells another amount',
    'the event carries the amount',
    (records) => set(find(records, 'healthy-a', 'deposit.completed').data, { amount_raw: '1' }),
  ],
  [
    'tells of a deposit that is none',
    'no event about an unknown deposit',
    (records) => set(find(records, 'healthy-a', 'deposit.completed').data, { id: 'nobody' }),
  ],
  [
    'announces the completion of an orphan',
    'deposit.completed only for a transfer in a canonical block',
    (records) => {
      const orphan = at(
        of(records, 'flaky').filter(
          (one) => one.data['transaction_hash'] === GONE && one.event === 'deposit.failed',
        ),
        0,
      );
      orphan.event = 'deposit.completed';
    },
  ],
  [
    'announces a completion in a replaced block',
    'deposit.completed only for a transfer in a canonical block',
    (records) => set(find(records, 'slow', 'deposit.completed').data, { block_hash: hex('66') }),
  ],
  [
    'announces the completion of another amount',
    'deposit.completed only for a transfer in a canonical block',
    (records) => set(find(records, 'slow', 'deposit.completed').data, { amount_raw: '1' }),
  ],
  [
    'signs wrongly',
    'every signature is valid',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { allVerified: false }),
  ],
  [
    'changes a body between attempts',
    'one body for each event',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { bodies: 2 }),
  ],
  [
    'tries six times',
    'at most five attempts, each number once',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { attempts: [1, 2, 3, 4, 5, 6] }),
  ],
  [
    'makes an attempt twice',
    'at most five attempts, each number once',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { attempts: [1, 1] }),
  ],
  [
    'tells one merchant of another',
    'a receiver hears of its own customers only',
    (records) => set(find(records, 'healthy-b', 'deposit.detected').data, { customer_id: 'customer-1' }),
  ],
  [
    'forgets a subscriber',
    'every subscriber is sent every event',
    (records) => forget(records, 'slow', find(records, 'slow', 'deposit.failed').eventId),
  ],
  [
    'sends what was not asked for',
    'nobody is sent what was not asked for',
    (records) => {
      const other = find(records, 'flaky', 'deposit.detected');
      records.seen.get('slow')?.set(other.eventId, { ...other, receiver: 'slow' });
    },
  ],
  [
    'leaves a delivery open',
    'every delivery ends',
    (records) => set(delivery(records, 'flaky'), { status: 'pending' }),
  ],
  [
    'records a sixth attempt',
    'at most five attempts',
    (records) => set(delivery(records, 'flaky'), { attempts: 6 }),
  ],
  [
    'leaves an attempt without a result',
    'every attempt ends',
    (records) => set(delivery(records, 'flaky'), { open: 1 }),
  ],
  [
    'calls a refused delivery taken',
    'a delivery that succeeded was taken',
    (records) => set(at(of(records, 'flaky'), 0), { taken: false }),
  ],
  [
    'gives up too early',
    'a delivery fails after five attempts or a final answer',
    (records) => set(delivery(records, 'flaky'), { status: 'failed', attempts: 3, last_status: 503 }),
  ],
  [
    'posts without an attempt',
    'no request without an attempt',
    (records) => set(at(of(records, 'flaky'), 0), { attempts: [1, 2] }),
  ],
  [
    'goes on after it was taken',
    'no request after one that is known to be taken',
    (records) => {
      delivery(records, 'flaky').attempts = 2;
      at(of(records, 'flaky'), 0).attempts = [1, 2];
    },
  ],
  [
    'makes two deliveries of one',
    'one delivery for each event and endpoint',
    (records) => void records.deliveries.push({ ...delivery(records, 'flaky'), id: 'twin' }),
  ],
  [
    'posts what it does not know',
    'no request without a delivery',
    (records) => set(delivery(records, 'flaky'), { event_id: 'another' }),
  ],
  [
    'has money too much in the ledger',
    'the ledger equals the chain',
    ({ accounts }) => set(at(accounts, 0), { sum: String(8n * USDT) }),
  ],
  [
    'has money left as pending',
    'the ledger equals the chain',
    ({ accounts }) => void accounts.push({ mode: 'live', currency: 'USDT', account: 'pending', sum: '1' }),
  ],
  ['does not balance', 'the ledger sums to zero', ({ accounts }) => set(at(accounts, 2), { sum: '4' })],
  [
    'books one deposit in the place of another',
    "a deposit's ledger equals the chain",
    ({ depositAccounts }) => {
      [at(depositAccounts, 0).sum, at(depositAccounts, 5).sum] = [String(4n * USDT), String(3n * USDT)];
    },
  ],
  [
    'keeps an orphan in the ledger',
    "a deposit's ledger equals the chain",
    ({ depositAccounts }) => set(at(depositAccounts, 7), { sum: '1' }),
  ],
  [
    'forgets a deposit in the ledger',
    "a deposit's ledger equals the chain",
    (records) => set(records, { depositAccounts: records.depositAccounts.slice(3) }),
  ],
  [
    'hands a wallet out twice',
    'no wallet index is used twice',
    ({ sharedWallets }) => void sharedWallets.push({ wallet_index: '4', uses: 2 }),
  ],
  [
    'gives two customers one address',
    'no wallet index is used twice',
    ({ listed }) => set(at(listed, 1), { addresses: at(listed, 0)['addresses'] }),
  ],
  [
    'forgets an unknown token',
    'what is never credited is kept for the operator',
    ({ setAside }) => void setAside.shift(),
  ],
  ['loses a customer', 'every customer exists once', ({ listed }) => void listed.shift()],
  [
    'announces a customer twice',
    'one customer.created for each customer',
    (records) => {
      records.seen
        .get('healthy-a')
        ?.set('twin', { ...find(records, 'healthy-a', 'customer.created'), eventId: 'twin' });
    },
  ],
  [
    'loses a simulation',
    'one test deposit for each simulation',
    ({ simulations }) => void simulations.shift(),
  ],
  [
    'rests a simulation elsewhere',
    'one test deposit for each simulation',
    ({ simulations }) => set(at(simulations, 0), { status: 'confirming' }),
  ],
  [
    'invents a simulation',
    'no test deposit that nobody simulated',
    ({ simulations }) => void simulations.push({ ...at(simulations, 0), id: 'more' }),
  ],
  [
    'sends too little of a simulation',
    'a simulation sends what was asked for',
    (records) => forget(records, 'healthy-test', find(records, 'healthy-test', 'deposit.completed').eventId),
  ],
  [
    'refuses what is sound',
    'the API serves whatever is sound',
    ({ problems }) => void problems.push('POST /customers was answered 400'),
  ],
  ['answers 500', 'the API never answers 500', (records) => set(records, { internalErrors: 1 })],
  [
    'finds a balance that differs',
    'balances agree with the ledger',
    ({ reconciled }) =>
      void reconciled.left.push({ address: ANN, currency: 'BNB', difference: '1', reason: '' }),
  ],
  [
    'cannot compare balances',
    'balances agree with the ledger',
    ({ reconciled }) => set(reconciled, { refused: 'no endpoint answers' }),
  ],
  [
    'was paid in a way that the oracle does not see',
    'the oracle reads the chain as the chain does',
    ({ holdings }) => set(at(holdings, 1), { bnbUnits: 1n }),
  ],
];

describe("the soak's oracle", () => {
  it('has nothing to say where all is well', () => {
    expect(compareAll(soakWorld() as Records)).to.deep.equal([]);
  });

  for (const [name, rule, spoil] of FAULTS)
    it(`notices a gateway that ${name}`, () => {
      const records = soakWorld();
      spoil(records);
      expect(compareAll(records as Records).map((difference) => difference.rule)).to.include(rule);
    });

  it('has a fault here for each of its rules', () => {
    const folder = new URL('../oracle/', import.meta.url);
    const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const rules = texts.flatMap((text) =>
      [...text.matchAll(/(?:rule(?: =|:)|say\()\s*(['"])(.+?)\1[,;\s]/g)].map((match) => String(match[2])),
    );
    const tested = new Set(FAULTS.map(([, rule]) => rule));
    expect(rules.length).to.be.greaterThan(25);
    expect([...new Set(rules)].filter((rule) => !tested.has(rule))).to.deep.equal([]);
  });
});
