// The gateway's own record of payouts against the chains.
import { NATIVE_CURRENCY, type Network } from '../../../src/domain/assets.ts';
import type { Difference } from './compare.ts';
import type { Holding } from './holdings.ts';
import type { PayoutRow, SentRow } from './payout-rows.ts';
import type { DepositAccountRow } from './rows.ts';
import { isCoin, type Settled } from './settlements.ts';
import { addressAs, placeKey, type SentByUs, type Truth } from './truth.ts';

const keyOf = ({ network, hash, from }: Pick<SentByUs, 'network' | 'hash' | 'from'>): string =>
  `${network} ${hash} ${from}`;
const rowKeyOf = ({ network, hash, from_address: from }: SentRow): string =>
  keyOf({ network, hash: hash ?? '', from: addressAs(network, from) });

/**
 * Every transaction of our wallets is recorded once, with the fee that the chain took for it, and nothing is
 * recorded that is in no block. What the run itself sent (`spent`) is known for what it is.
 */
export function compareSent(
  truth: Truth,
  rows: readonly SentRow[],
  spent: ReadonlySet<string>,
): Difference[] {
  const found: Difference[] = [];
  const inBlocks = Map.groupBy(
    rows.filter((row) => row.in_block),
    rowKeyOf,
  );
  for (const one of truth.sent) {
    const subject = keyOf(one);
    const recorded = inBlocks.get(subject) ?? [];
    const [row] = recorded;
    inBlocks.delete(subject);
    const same = recorded.length === 1 && row?.ok === one.ok && row.fee_units === String(one.feeUnits);
    if (!same)
      found.push({
        rule: 'what a wallet of ours spent is recorded as it was',
        subject,
        detail: `${recorded.length} records, a fee of ${row?.fee_units} (${row?.ok}), the chain took ${one.feeUnits} (${one.ok})`,
      });
    if (row && (row.purpose === null) !== spent.has(one.hash))
      found.push({
        rule: 'what somebody else sent is told from what the gateway sent',
        subject,
        detail: `${row.state} ${row.purpose}`,
      });
  }
  for (const [subject, left] of inBlocks)
    found.push({
      rule: 'nothing is recorded as sent that is in no block',
      subject,
      detail: `${left.length} records, ${left[0]?.state}`,
    });
  return [...found, ...compareNonces(truth, rows)];
}

/** A place in a wallet's order serves one purpose of one payout, whatever attempts it takes. */
function compareNonces(truth: Truth, rows: readonly SentRow[]): Difference[] {
  const rule = 'no place in the order of a wallet is used twice';
  const mined = Map.groupBy(
    truth.sent.filter(({ nonce }) => nonce !== null),
    ({ network, from, nonce }) => `${network} ${from} ${nonce}`,
  );
  const signed = Map.groupBy(
    rows.filter(({ nonce, purpose, signed: isSigned }) => nonce !== null && purpose !== null && isSigned),
    ({ network, from_address: from, nonce }) => `${network} ${addressAs(network, from)} ${nonce}`,
  );
  const found: Difference[] = [];
  for (const [subject, list] of mined)
    if (list.length > 1) found.push({ rule, subject, detail: list.map(({ hash }) => hash).join(', ') });
  for (const [subject, list] of signed) {
    const uses = new Set(list.map(({ payout_id: payout, purpose }) => `${purpose} of payout ${payout}`));
    if (uses.size > 1) found.push({ rule, subject, detail: [...uses].join(', ') });
  }
  return found;
}

/**
 * What a payout has cost: a token's, all that was burned for it, the way of its coins included; a coin's,
 * what did not reach the destination, of which the chain took a part.
 */
export function compareCosts(
  truth: Truth,
  settled: readonly Settled[],
  payouts: readonly PayoutRow[],
  rows: readonly SentRow[],
): Difference[] {
  const feeOf = new Map(truth.sent.map(({ network, hash, feeUnits }) => [`${network} ${hash}`, feeUnits]));
  const found: Difference[] = [];
  for (const payout of payouts.filter(({ state }) => state === 'settled')) {
    const own = settled.filter(
      ({ network, hash }) => network === payout.network && hash === payout.transaction_hash,
    );
    const told = own.reduce((sum, { feeUnits }) => sum + feeUnits, 0n);
    const hashes = rows.filter((row) => row.payout_id === payout.id && row.in_block).map(({ hash }) => hash);
    const burned = hashes.reduce((sum, hash) => sum + (feeOf.get(`${payout.network} ${hash}`) ?? 0n), 0n);
    const own1 = feeOf.get(`${payout.network} ${payout.transaction_hash}`) ?? 0n;
    const fits = isCoin(payout) ? told >= own1 : told === burned;
    if (!fits || payout.fee_units !== String(told))
      found.push({
        rule: 'fees are told as the chain took them',
        subject: `payout ${payout.id}`,
        detail: `${told} units are told and ${payout.fee_units} recorded, the chain took ${burned}`,
      });
  }
  return found;
}

type Lying = {
  readonly truth: Truth;
  readonly settled: readonly Settled[];
  readonly rows: readonly SentRow[];
  readonly depositAccounts: readonly DepositAccountRow[];
  /** Deposit addresses and wallets for gas, without those that the run itself spends from. */
  readonly addresses: readonly Holding[];
  readonly gas: ReadonlySet<string>;
};

/**
 * What lies on an address is what the books have there, what was never credited, and beside that only what
 * recorded top-ups brought, less recorded fees. A wallet for gas holds what it was given less what it gave.
 */
export function compareLying(lying: Lying): Difference[] {
  const { truth, addresses, gas } = lying;
  const found: Difference[] = [];
  const booked = bookedOf(lying.depositAccounts);
  const beside = besideOf(lying);
  for (const { network, address, usdtUnits, coinUnits } of addresses) {
    const isGas = gas.has(`${network} ${address}`);
    const must = (place: string): bigint =>
      (isGas
        ? (truth.arrived.get(place) ?? 0n)
        : (booked.get(place) ?? 0n) + (truth.uncredited.get(place) ?? 0n)) + (beside.get(place) ?? 0n);
    for (const [currency, is] of [
      ['USDT', usdtUnits],
      [NATIVE_CURRENCY[network], coinUnits],
    ] as const) {
      const subject = placeKey(network, address, currency);
      if (is !== must(subject))
        found.push({
          rule: 'beside deposits lies what top-ups brought, less fees',
          subject,
          detail: `${is} units lie there, ${must(subject)} are accounted for`,
        });
    }
  }
  return found;
}

const LIES_THERE = new Set(['pending', 'available', 'held']);

/** What the books say of deposits that were not paid out, by place. */
function bookedOf(accounts: readonly DepositAccountRow[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { network, address, currency, account, sum } of accounts) {
    const place = placeKey(network, address, currency);
    if (LIES_THERE.has(account)) sums.set(place, (sums.get(place) ?? 0n) + BigInt(sum));
  }
  return sums;
}

/** Coins by place: what recorded top-ups moved, fees, and what payouts of coins kept back for theirs. */
function besideOf({ rows, settled }: Pick<Lying, 'rows' | 'settled'>): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  const add = (network: Network, address: string, units: bigint) => {
    const place = placeKey(network, address, NATIVE_CURRENCY[network]);
    sums.set(place, (sums.get(place) ?? 0n) + units);
  };
  for (const row of rows.filter(({ in_block: isInBlock }) => isInBlock)) {
    add(row.network, row.from_address, -BigInt(row.fee_units ?? 0));
    if (row.purpose !== 'gas' || row.ok !== true) continue;
    add(row.network, row.from_address, -BigInt(row.amount_units ?? 0));
    add(row.network, row.to_address ?? '', BigInt(row.amount_units ?? 0));
  }
  for (const one of settled) if (isCoin(one)) add(one.network, one.address, one.feeUnits);
  return sums;
}
