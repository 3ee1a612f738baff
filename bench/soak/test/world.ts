import type { Json } from '../api.ts';
import { creditKey, placeKey } from '../oracle/truth.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Customer } from '../stage.ts';
import { paidOut } from './paid-out.ts';
import {
  account,
  type Credit,
  credit,
  customer,
  deliver,
  entry,
  hex,
  lived,
  USDT,
  type World,
} from './parts.ts';

// Hand-made records of a small run of the soak in which all is well.
export const [ANN, BEN, TEST] = [hex('a1', 20), hex('b2', 20), hex('c3', 20)];
export const [PAID, DUST, TO_BEN, GONE, SIMULATED] = [hex('1'), hex('2'), hex('3'), hex('9'), hex('5')];
const FOREIGN = hex('4');
/** Hashes of Tron have no prefix, and its addresses small and capital letters that matter. */
export const [ON_TRON, ANN_ON_TRON] = ['6'.repeat(64), 'TAnnAnnAnnAnnAnnAnnAnnAnnAnnAnnAnn'];
export const SPENT_FROM = hex('0', 20);

/** What the chain holds: these credits, and a strange token. */
function truthOf(credits: readonly Credit[], payouts: ReturnType<typeof paidOut>): World['truth'] {
  return {
    transactions: new Set([PAID, DUST, TO_BEN, ON_TRON]),
    uncredited: new Map(),
    sent: payouts.sent,
    credits: new Map(
      credits.map((one) => [creditKey(one.network, one.hash, one.address, one.currency), one]),
    ),
    strange: new Map([
      [`bsc ${FOREIGN} ${ANN}`, 4n],
      [`tron ${FOREIGN} ${ANN_ON_TRON}`, 6n],
    ]),
    arrived: new Map([
      ...credits.map((one) => [placeKey(one.network, one.address, one.currency), one.amountUnits] as const),
      ...payouts.arrived,
    ]),
  };
}

/** What the ledger says of these deposits, of one that a reorg took away, and of a simulation. */
function ledgerOf(
  paid: Credit,
  dust: Credit,
  toBen: Credit,
  onTron: Credit,
  payouts: ReturnType<typeof paidOut>,
): Pick<World, 'accounts' | 'depositAccounts'> {
  return {
    accounts: [
      account('live', 'bsc', 'USDT', 'available', 7n * USDT),
      account('live', 'bsc', 'USDT', 'chain', -17n * USDT),
      account('live', 'bsc', 'BNB', 'held', 3n),
      account('live', 'bsc', 'BNB', 'chain', -100_003n),
      account('test', 'bsc', 'USDT', 'available', 9n * USDT),
      account('test', 'bsc', 'USDT', 'chain', -9n * USDT),
      account('live', 'tron', 'USDT', 'available', 8_000_000n),
      account('live', 'tron', 'USDT', 'chain', -8_000_000n),
      ...payouts.accounts,
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
      ...payouts.depositAccounts,
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
  const payouts = paidOut();
  const customers = [ann, ben, test, payouts.customer];
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
    B: [
      lived('d3', ben.id, toBen, ['detected', 'failed', 'detected', 'confirming', 'completed']),
      ...payouts.lives,
    ],
  };
  const simulation = lived('s1', test.id, credit('bsc', SIMULATED, TEST, 'USDT', 9n * USDT), ['completed']);
  const created = ({ id }: Customer) => ({ event: 'customer.created', data: { id } as Json });
  const told: Record<string, { event: string; data: Json }[]> = {
    'A live': [created(ann), ...lives.A.flatMap((life) => life.events)],
    'B live': [created(ben), created(payouts.customer), ...lives.B.flatMap((life) => life.events)],
    'A test': [created(test), ...simulation.events],
  };
  return {
    ...deliver(told),
    truth: truthOf([...credits, ...payouts.credits], payouts),
    customers,
    problems: [],
    internalErrors: 0,
    sharedWallets: [],
    setAside: [
      { network: 'bsc', transaction_hash: FOREIGN, address: ANN, sum: '4' },
      { network: 'tron', transaction_hash: FOREIGN, address: ANN_ON_TRON, sum: '6' },
    ],
    spenders: [`bsc ${SPENT_FROM}`],
    simulated: [SIMULATION],
    deposits: { A: lives.A.map((life) => life.row), B: lives.B.map((life) => life.row), C: [] },
    simulations: [simulation.row],
    listed: customers.map(listedAs),
    ...payouts.records,
    ...ledgerOf(paid, dust, toBen, onTron, payouts),
    nameOf: new Map(Object.keys(ENDPOINTS).map((name) => [`http://${name}`, name])),
    holdings: [
      { network: 'bsc', address: ANN, usdtUnits: 5n * USDT, coinUnits: 3n, sent: 0 },
      { network: 'bsc', address: BEN, usdtUnits: 2n * USDT, coinUnits: 0n, sent: 0 },
      { network: 'tron', address: ANN_ON_TRON, usdtUnits: 8_000_000n, coinUnits: 0n, sent: null },
      payouts.holding,
    ],
    // The run's own spending, which is no fault.
    reconciled: {
      left: [{ network: 'bsc', address: SPENT_FROM, currency: 'USDT', difference: '-1', reason: '' }],
      refused: undefined,
    },
  };
}
