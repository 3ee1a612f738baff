import { CID, DESTINATION, GAS, MOVED_TO, TOKENS, TOP_UP } from '../paid-out.ts';
import { hex, USDT, type World } from '../parts.ts';
import { at, type Fault, find, forget, of, set } from './spoil.ts';

const onChain = ({ truth }: World, hash: string) =>
  at(
    truth.sent.filter((one) => one.hash === hash),
    0,
  );
const rowOf = ({ sentRows }: World, hash: string) =>
  at(
    sentRows.filter((row) => row.hash === hash),
    0,
  );
/** The settlement of a deposit of merchant B, by its place in the list. */
const settlementOf = ({ deposits }: World, place: number) => {
  const row = at(deposits.B, place);
  row['settlement'] = { ...(row['settlement'] as object) };
  return row['settlement'] as Record<string, unknown>;
};
/** As if the same transfer had been made once more. */
const payTwice = (records: World) => {
  const first = onChain(records, TOKENS);
  records.truth.sent.push({ ...first, hash: hex('79'), nonce: 2 });
};
const SUMS = 'a payout on the chain settles deposits of its address, to the unit';

/** Money that goes out, held against the chain, the rows and what receivers are told. */
export const PAYOUT_FAULTS: readonly Fault[] = [
  ['pays out twice', SUMS, payTwice],
  ['pays out what was never to be credited', 'no address pays out more than was credited there', payTwice],
  [
    'pays out to somebody else',
    SUMS,
    (records) => set(at(onChain(records, TOKENS).moves, 0), { to: hex('99', 20) }),
  ],
  [
    'pays out one unit less',
    SUMS,
    (records) => set(at(onChain(records, TOKENS).moves, 0), { amountUnits: 10n * USDT - 1n }),
  ],
  [
    'pays out from the address of another customer',
    SUMS,
    (records) => set(onChain(records, TOKENS), { from: hex('a1', 20) }),
  ],
  [
    'pays out in another asset',
    SUMS,
    (records) => set(at(onChain(records, TOKENS).moves, 0), { currency: 'BNB' }),
  ],
  [
    'pays out and settles nothing',
    SUMS,
    ({ deposits }) => {
      for (const place of [1, 2]) set(at(deposits.B, place), { status: 'completed', settlement: null });
    },
  ],
  [
    'moves two things with one payout',
    SUMS,
    (records) =>
      void onChain(records, TOKENS).moves.push({ to: DESTINATION, currency: 'BNB', amountUnits: 1n }),
  ],
  [
    'settles by a payout that failed',
    'what is settled was paid on the chain',
    (records) => set(onChain(records, TOKENS), { ok: false }),
  ],
  [
    'settles by a payout that was replaced away',
    'what is settled was paid on the chain',
    ({ truth }) => void truth.sent.splice(1, 1),
  ],
  [
    'tells a settlement before it settles',
    'only what is settled has a settlement',
    ({ deposits }) => set(at(deposits.B, 1), { status: 'completed' }),
  ],
  [
    'keeps a unit of a deposit',
    'a settlement is the whole deposit, less what a coin pays for itself',
    (records) => set(settlementOf(records, 1), { amount: '3.999999999999999999' }),
  ],
  [
    'tells a fee in another coin',
    'a settlement is the whole deposit, less what a coin pays for itself',
    (records) => set(settlementOf(records, 3), { fee_currency: 'TRX' }),
  ],
  [
    'has one deposit bear the fee of all',
    'a payout is divided as the amounts of its deposits are',
    (records) => {
      set(settlementOf(records, 1), { fee_amount: '0' });
      set(settlementOf(records, 2), { fee_amount: '0.0000000000000005' });
    },
  ],
  [
    'tells of money that the merchant has not',
    'a destination holds exactly what was settled to it',
    ({ destinationHoldings }) => set(at(destinationHoldings, 0), { usdtUnits: 10n * USDT - 1n }),
  ],
  [
    'gives coins away to a merchant',
    'a destination holds exactly what was settled to it',
    ({ destinationHoldings }) => set(at(destinationHoldings, 1), { coinUnits: 1n }),
  ],
  [
    'does not record a fee',
    'what a wallet of ours spent is recorded as it was',
    (records) => set(rowOf(records, TOP_UP), { fee_units: null }),
  ],
  [
    'records another fee',
    'what a wallet of ours spent is recorded as it was',
    (records) => set(rowOf(records, TOKENS), { fee_units: '299' }),
  ],
  [
    'forgets a transaction of its own',
    'what a wallet of ours spent is recorded as it was',
    ({ sentRows }) => void sentRows.shift(),
  ],
  [
    'takes its own payout for a theft',
    'what somebody else sent is told from what the gateway sent',
    (records) => set(rowOf(records, TOKENS), { purpose: null, state: 'foreign' }),
  ],
  [
    'takes a theft for its own payout',
    'what somebody else sent is told from what the gateway sent',
    (records) => set(records, { spent: [TOKENS] }),
  ],
  [
    'remembers a payout in a replaced block',
    'nothing is recorded as sent that is in no block',
    (records) => void records.sentRows.push({ ...rowOf(records, TOKENS), hash: hex('78') }),
  ],
  [
    'uses a place on the chain twice',
    'no place in the order of a wallet is used twice',
    (records) => set(onChain(records, TOKENS), { nonce: 1 }),
  ],
  [
    'signs two payouts for one place',
    'no place in the order of a wallet is used twice',
    (records) => set(rowOf(records, TOKENS), { nonce: '1' }),
  ],
  [
    'tells less than a payout took',
    'fees are told as the chain took them',
    (records) => {
      set(settlementOf(records, 1), { fee_amount: '0' });
      set(settlementOf(records, 2), { fee_amount: '0' });
    },
  ],
  [
    'records another cost than it tells',
    'fees are told as the chain took them',
    ({ payouts }) => set(at(payouts, 0), { fee_units: '499' }),
  ],
  [
    'tops up more than it records',
    'beside deposits lies what top-ups brought, less fees',
    (records) => set(rowOf(records, TOP_UP), { amount_units: '999' }),
  ],
  [
    'pays for gas with the coins of a deposit',
    'beside deposits lies what top-ups brought, less fees',
    ({ depositAccounts }) => {
      const coins = depositAccounts.filter((row) => row.currency === 'BNB' && row.address === CID);
      set(at(coins, 0), { account: 'available' });
    },
  ],
  [
    'loses coins of the wallet that pays for gas',
    'beside deposits lies what top-ups brought, less fees',
    ({ gasHoldings }) => set(at(gasHoldings, 0), { coinUnits: 8_799n }),
  ],
  [
    'credits a top-up to a customer',
    'no deposit without a transfer',
    ({ deposits }) =>
      void deposits.B.push({ ...at(deposits.B, 3), id: 'top-up', transaction_hash: TOP_UP, address: CID }),
  ],
  [
    'pays out to the old place of a merchant who has moved',
    'a payout goes where its merchant said',
    ({ payouts }) => set(at(payouts, 0), { signed_ms: 12_000 }),
  ],
  [
    'pays out to a new place before anybody named it',
    'a payout goes where its merchant said',
    ({ payouts }) => set(at(payouts, 0), { destination: MOVED_TO }),
  ],
  [
    'pays out for a merchant who has no place',
    'a payout goes where its merchant said',
    ({ destinations }) => void destinations.splice(0),
  ],
  [
    'forgets to pay out',
    'what may be paid out is paid out in the end',
    ({ deposits }) =>
      set(at(deposits.B, 3), { status: 'completed', settlement: null, amount_raw: '9'.repeat(17) }),
  ],
  [
    'leaves a payout under way',
    'what may be paid out is paid out in the end',
    ({ payouts }) => set(at(payouts, 1), { state: 'paying' }),
  ],
  [
    'never announces a settlement',
    'one deposit.settled for each settled deposit',
    (records) => forget(records, 'healthy-b', find(records, 'healthy-b', 'deposit.settled').eventId),
  ],
  [
    'announces a settlement twice',
    'one deposit.settled for each settled deposit',
    (records) => {
      const twin = { ...find(records, 'hanging', 'deposit.settled'), eventId: 'twin' };
      records.seen.get('hanging')?.set('twin', twin);
    },
  ],
  [
    'does not announce a settlement to one of its receivers',
    'one deposit.settled for each settled deposit',
    (records) => forget(records, 'hanging', at(of(records, 'hanging'), -1).eventId),
  ],
  [
    'announces another settlement',
    'deposit.settled tells the settlement',
    (records) => {
      const { data } = find(records, 'resetting', 'deposit.settled');
      data['settlement'] = { ...(data['settlement'] as object), destination: MOVED_TO };
    },
  ],
  [
    'announces the settlement of what is none',
    'nothing is told as settled that is not',
    (records) => {
      find(records, 'healthy-a', 'deposit.completed').event = 'deposit.settled';
    },
  ],
  [
    'settles more in the ledger than went out',
    'the ledger equals the chain',
    ({ accounts }) => {
      for (const row of accounts) if (row.account === 'settled') row.sum = '1';
    },
  ],
  [
    'leaves what was paid out as available',
    "a deposit's ledger equals the chain",
    ({ depositAccounts }) => {
      for (const row of depositAccounts) if (row.account === 'settled') row.account = 'available';
    },
  ],
  [
    'burns coins that the oracle does not see',
    'the oracle reads the chain as the chain does',
    ({ gasHoldings }) => set(at(gasHoldings, 0), { address: GAS, coinUnits: 8_700n }),
  ],
];
