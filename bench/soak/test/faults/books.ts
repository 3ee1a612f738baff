import { USDT } from '../parts.ts';
import { ANN } from '../world.ts';
import { at, type Fault, find, forget, set } from './spoil.ts';

/** The ledger, addresses, customers, simulations, and what the API and the comparisons answer. */
export const BOOK_FAULTS: readonly Fault[] = [
  [
    'has money too much in the ledger',
    'the ledger equals the chain',
    ({ accounts }) => set(at(accounts, 0), { sum: String(8n * USDT) }),
  ],
  [
    'has money left as pending',
    'the ledger equals the chain',
    ({ accounts }) =>
      void accounts.push({ mode: 'live', network: 'bsc', currency: 'USDT', account: 'pending', sum: '1' }),
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
      void reconciled.left.push({
        network: 'bsc',
        address: ANN,
        currency: 'BNB',
        difference: '1',
        reason: '',
      }),
  ],
  [
    'cannot compare balances',
    'balances agree with the ledger',
    ({ reconciled }) => set(reconciled, { refused: 'no endpoint answers' }),
  ],
  [
    'was paid in a way that the oracle does not see',
    'the oracle reads the chain as the chain does',
    ({ holdings }) => set(at(holdings, 1), { coinUnits: 1n }),
  ],
];
