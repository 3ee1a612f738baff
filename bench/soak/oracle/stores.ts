import { unitsOf } from '../plan/amounts.ts';
import type { SimulateAction } from '../plan/plan.ts';
import type { Difference } from './compare.ts';
import type { Seen } from './records.ts';
import type { AccountRow, DeliveryRow, DepositAccountRow, SetAsideRow, WalletRow } from './rows.ts';
import { isCoin, type Settled } from './settlements.ts';
import { type Credit, creditKey, strangeKey, type Truth } from './truth.ts';

const MAX_ATTEMPTS = 5;

/** What a payout of test mode costs, in base units, as the documents say. */
const PAYOUT_COSTS: Readonly<Record<string, bigint>> = {
  'bsc BNB': 50_000_000_000_000n,
  'tron TRX': 1_100_000n,
};

/** Where the books have a live deposit; its payout says how much of it went and what that took. */
function accountsOf(
  { belowMinimum, amountUnits }: Credit,
  settled: Settled | undefined,
): readonly (readonly [account: string, units: bigint])[] {
  if (!settled) return [[belowMinimum ? 'held' : 'available', amountUnits]];
  return [
    ['settled', settled.units],
    ['fees', isCoin(settled) ? settled.feeUnits : 0n],
  ];
}

/**
 * The ledger against the chains: zero in sum, every credited unit available
 * or settled, dust held, nothing pending, nothing invented.
 */
export function compareLedger(
  rows: readonly AccountRow[],
  truth: Truth,
  simulated: readonly { action: SimulateAction }[],
  settled: ReadonlyMap<string, Settled>,
): Difference[] {
  const expected = new Map<string, bigint>();
  const expect = (mode: string, asset: string, account: string, units: bigint) => {
    for (const [name, amount] of [
      [account, units],
      ['chain', -units],
    ] as const)
      expected.set(`${mode} ${asset} ${name}`, (expected.get(`${mode} ${asset} ${name}`) ?? 0n) + amount);
  };
  for (const [key, credit] of truth.credits)
    for (const [account, units] of accountsOf(credit, settled.get(key)))
      expect('live', `${credit.network} ${credit.currency}`, account, units);
  const accountOf = {
    completed: 'available',
    detected: 'pending',
    confirming: 'pending',
    failed: 'held',
    settled: 'settled',
  } as const;
  for (const { action } of simulated) {
    const { network, currency, outcome, amount } = action;
    if (outcome === 'reorged') continue;
    const [asset, units] = [`${network} ${currency}`, unitsOf(network, currency, amount)];
    // A coin pays for its own payout, where there is enough of it.
    const costs = outcome === 'settled' ? (PAYOUT_COSTS[asset] ?? 0n) : 0n;
    const fee = units > costs ? costs : 0n;
    expect('test', asset, accountOf[outcome], units - fee);
    if (fee > 0n) expect('test', asset, 'fees', fee);
  }
  const assetOf = (row: AccountRow) => `${row.mode} ${row.network} ${row.currency}`;
  const actual = new Map(rows.map((row) => [`${assetOf(row)} ${row.account}`, BigInt(row.sum)]));
  const found: Difference[] = [];
  for (const key of new Set([...expected.keys(), ...actual.keys()])) {
    const [is, must] = [actual.get(key) ?? 0n, expected.get(key) ?? 0n];
    if (is !== must)
      found.push({
        rule: 'the ledger equals the chain',
        subject: key,
        detail: `${is} instead of ${must} units`,
      });
  }
  for (const asset of new Set(rows.map(assetOf))) {
    const sum = rows
      .filter((row) => assetOf(row) === asset)
      .reduce((total, row) => total + BigInt(row.sum), 0n);
    if (sum !== 0n) found.push({ rule: 'the ledger sums to zero', subject: asset, detail: `${sum} units` });
  }
  return found;
}

/** The same deposit by deposit, so that one mistake cannot hide behind its opposite in another place. */
export function compareDepositLedger(
  rows: readonly DepositAccountRow[],
  truth: Truth,
  settled: ReadonlyMap<string, Settled>,
): Difference[] {
  const actual = new Map<string, Map<string, bigint>>();
  for (const row of rows) {
    const key = creditKey(row.network, row.transaction_hash, row.address, row.currency);
    const accounts = actual.get(key) ?? new Map<string, bigint>();
    actual.set(key, accounts.set(row.account, BigInt(row.sum)));
  }
  const found: Difference[] = [];
  for (const key of new Set([...truth.credits.keys(), ...actual.keys()])) {
    const credit = truth.credits.get(key);
    const accounts = actual.get(key) ?? new Map<string, bigint>();
    const expected = new Map(credit ? accountsOf(credit, settled.get(key)) : []);
    expected.set('chain', -(credit?.amountUnits ?? 0n));
    for (const account of new Set([...accounts.keys(), ...expected.keys()])) {
      const must = expected.get(account) ?? 0n;
      const is = accounts.get(account) ?? 0n;
      if (is !== must)
        found.push({
          rule: "a deposit's ledger equals the chain",
          subject: `${key} ${account}`,
          detail: `${is} instead of ${must} units`,
        });
    }
  }
  return found;
}

/**
 * Every delivery ended, within five attempts, and its end agrees
 * with what the receiver remembers. `nameOf` names receivers by URL.
 */
export function compareDeliveries(
  rows: readonly DeliveryRow[],
  nameOf: ReadonlyMap<string, string>,
  seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>,
): Difference[] {
  const found: Difference[] = [];
  const known = new Set<string>();
  for (const row of rows) {
    const name = nameOf.get(row.url) ?? row.url;
    const subject = `${name} ${row.event_id}`;
    const record = seen.get(name)?.get(row.event_id);
    const say = (rule: string, detail: string) => found.push({ rule, subject, detail });
    if (known.has(subject)) say('one delivery for each event and endpoint', 'a second one');
    known.add(subject);
    if (row.status !== 'succeeded' && row.status !== 'failed') say('every delivery ends', row.status);
    if (row.attempts > MAX_ATTEMPTS) say('at most five attempts', `${row.attempts} attempts`);
    if (row.open > 0) say('every attempt ends', `${row.open} without a result`);
    if (row.status === 'succeeded' && !record?.taken)
      say(
        'a delivery that succeeded was taken',
        `the receiver has ${record ? 'refused it' : 'never seen it'}`,
      );
    const final = row.last_status !== null && row.last_status !== 429 && row.last_status < 500;
    if (row.status === 'failed' && row.attempts < MAX_ATTEMPTS && !final)
      say(
        'a delivery fails after five attempts or a final answer',
        `${row.attempts} attempts, last ${row.last_status}`,
      );
    if (record && record.attempts.length > row.attempts)
      say('no request without an attempt', `${record.attempts.length} requests, ${row.attempts} attempts`);
    const after = record?.attempts.filter((number) => row.taken_by !== null && number > row.taken_by) ?? [];
    if (after.length > 0)
      say(
        'no request after one that is known to be taken',
        `attempts ${after.join(', ')} after attempt ${row.taken_by} was taken`,
      );
  }
  for (const [name, records] of seen)
    for (const eventId of records.keys())
      if (!known.has(`${name} ${eventId}`))
        found.push({
          rule: 'no request without a delivery',
          subject: `${name} ${eventId}`,
          detail: 'unknown to the gateway',
        });
  return found;
}

/**
 * Unknown tokens and real money on test addresses are kept for the
 * operator to see; what a replaced block held may be there too.
 */
export function compareSetAside(rows: readonly SetAsideRow[], truth: Truth): Difference[] {
  const keyOf = (row: SetAsideRow) => strangeKey(row.network, row.transaction_hash, row.address);
  const kept = new Map(rows.map((row) => [keyOf(row), BigInt(row.sum)]));
  return [...truth.strange].flatMap(([subject, units]) =>
    kept.get(subject) === units
      ? []
      : [
          {
            rule: 'what is never credited is kept for the operator',
            subject,
            detail: `${kept.get(subject) ?? 'nothing'} instead of ${units}`,
          },
        ],
  );
}

/** The order in which wallets were handed out, from the rows themselves. */
export function compareWalletIndexes(rows: readonly WalletRow[]): Difference[] {
  return rows.map((row) => ({
    rule: 'no wallet index is used twice',
    subject: `index ${row.wallet_index}`,
    detail: `${row.uses} customers`,
  }));
}
