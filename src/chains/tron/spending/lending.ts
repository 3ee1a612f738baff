// Lending energy that a wallet of ours has staked for, over the endpoints that also show the chain's blocks.
import type { AddressKey } from '../../address-key.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import type { Lending, Loan } from '../../spending.ts';
import type { TronPool, TronSession } from '../protocol.ts';
import { bytesOfTransfer } from '../transfer/transfer.ts';
import { type Reference, type Resources, receiverOn, referenceOn, resourcesOn } from './accounts.ts';
import { termsAt } from './life.ts';
import type { createTronPrices } from './prices.ts';

/** A TRX in sun; only whole ones are counted as staked. */
const TRX = 1_000_000n;
/** The chain lends no less than one TRX. */
const LEAST_UNITS = TRX;
/** The stake of others grows: so much more is lent than gives the energy now, in percent. */
const MARGIN = 5n;
const ENERGY_TYPE = 1;
const MAX_SUN = 10n ** 17n;

type Parties = Parameters<Lending['look']>[0];

export type TronLendingOptions = {
  readonly pool: TronPool;
  readonly token: AddressKey;
  readonly prices: ReturnType<typeof createTronPrices>;
  readonly date: () => number;
};

/** See {@link Lending}. */
export function createTronLending({ pool, token, prices, date }: TronLendingOptions): Lending {
  return {
    look: async (parties, terms, signal) => {
      const known = await prices(false, signal);
      const [first, second] = await twice(pool, (session) => lookOn(session, parties), signal);
      // Its limit allows so much energy; what is burnt of it is nothing while there is as much.
      const needs = (BigInt(terms['fee_limit'] ?? 0) + known.energy - 1n) / known.energy;
      const loan = (seen: Seen): Loan =>
        loanOf({ parties, token, needs, seen, bytePrice: known.byte, nowMs: date() });
      if (second) return worstOf(loan(first), loan(second));
      return loneWord(pool, loan(first));
    },
    terms: async (signal) => termsAt(await pool.aside(referenceOn, signal), date(), 0n),
    lent: async (parties, signal) => {
      const [first, second] = await twice(pool, (session) => lentOn(session, parties), signal);
      if (second === undefined) return first > 0n || pool.status().length < 2 ? first : undefined;
      return first > second ? first : second;
    },
  };
}

/** The same from two endpoints, where there are two that answer. */
async function twice<T>(
  pool: TronPool,
  work: (session: TronSession) => Promise<T>,
  signal: AbortSignal,
): Promise<readonly [T, T | undefined]> {
  const one = await pool.aside(
    async (session) => ({ endpoint: session.endpoint, value: await work(session) }),
    signal,
  );
  return [one.value, await pool.elsewhere(one.endpoint, work, signal)];
}

/**
 * What one endpoint says: all there is to know where there is one. Of several it is not paid on, because it
 * could burn deposits; so nothing is lent by it either, and coins are burnt.
 */
function loneWord(pool: TronPool, loan: Loan): Loan {
  return pool.status().length < 2 ? loan : { ...loan, has: 0n, lendable: 0n };
}

/** What one endpoint overstates would be asked for in vain, or burn what is not ours. */
function worstOf(one: Loan, other: Loan): Loan {
  const least = (name: 'has' | 'lendable') => (one[name] < other[name] ? one[name] : other[name]);
  const most = (name: 'needs' | 'units' | 'coinUnits' | 'mostUnits') =>
    one[name] > other[name] ? one[name] : other[name];
  return {
    has: least('has'),
    lendable: least('lendable'),
    needs: most('needs'),
    units: most('units'),
    coinUnits: most('coinUnits'),
    mostUnits: most('mostUnits'),
    isKnown: one.isKnown && other.isKnown,
  };
}

type Seen = {
  readonly reference: Reference;
  readonly borrower: Resources;
  readonly isKnown: boolean;
  readonly lender: Resources;
  readonly lendable: bigint;
};

/** Everything of one node, so that it fits together. */
async function lookOn(session: TronSession, { lender, borrower }: Parties): Promise<Seen> {
  return {
    reference: await referenceOn(session),
    borrower: await resourcesOn(session, borrower),
    isKnown: (await receiverOn(session, borrower)) === 'account',
    lender: await resourcesOn(session, lender),
    lendable: await lendableOn(session, lender),
  };
}

/** What can be lent of a stake now, less what was used of its energy of late. Zeros are left out. */
async function lendableOn(session: TronSession, key: AddressKey): Promise<bigint> {
  const answer = await session.call('wallet/getcandelegatedmaxsize', {
    owner_address: `41${key}`,
    type: ENERGY_TYPE,
  });
  return sunIn(answer, 'max_size');
}

/** What the final chain says is lent. */
async function lentOn(session: TronSession, { lender, borrower }: Parties): Promise<bigint> {
  const answer = await session.solidity('walletsolidity/getdelegatedresourcev2', {
    fromAddress: `41${lender}`,
    toAddress: `41${borrower}`,
  });
  if (!isRecord(answer)) throw new EndpointFailure('no word on what is lent');
  const list = answer['delegatedResource'] ?? [];
  if (!Array.isArray(list)) throw new EndpointFailure('no list of what is lent');
  return list.reduce((sum: bigint, one: unknown) => sum + sunIn(one, 'frozen_balance_for_energy'), 0n);
}

function sunIn(answer: unknown, name: string): bigint {
  const value = isRecord(answer) ? (answer[name] ?? 0) : undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || BigInt(value) > MAX_SUN)
    throw new EndpointFailure(`no ${name} in sun`);
  return BigInt(value);
}

/** Whatever an endpoint says, no more than there are coins: so much is never free. */
function within(units: bigint): bigint {
  if (units < LEAST_UNITS) return LEAST_UNITS;
  return units > MAX_SUN ? MAX_SUN : units;
}

function loanOf(the: {
  readonly parties: Parties;
  readonly token: AddressKey;
  readonly needs: bigint;
  readonly seen: Seen;
  readonly bytePrice: bigint;
  readonly nowMs: number;
}): Loan {
  const { parties, token, needs, seen, bytePrice, nowMs } = the;
  const { borrower, lender, lendable, isKnown, reference } = seen;
  // Of an account that the chain does not know nodes tell nothing at all, and it has nothing to lend.
  const energy = BigInt(lender.totalEnergy || 1);
  const wanted = (needs * (100n + MARGIN) + 99n) / 100n;
  const units = within(((wanted * BigInt(lender.totalStake) + energy - 1n) / energy) * TRX);
  const given = termsAt(reference, nowMs, 1n);
  const from = { from: parties.lender, to: parties.borrower, units, nonce: null };
  const bytesOf = (kind: 'delegate' | 'token'): number => bytesOfTransfer(token, { ...from, kind }, given);
  const isFree = (has: Resources['bandwidth'], bytes: number): boolean =>
    has.free >= bytes || has.staked >= bytes;
  const [paying, lending] = [bytesOf('token'), bytesOf('delegate')];
  return {
    has: BigInt(borrower.energy),
    needs,
    units,
    lendable: lender.totalEnergy === 0 ? 0n : lendable,
    // One that is new needs coins of its own to be known at all.
    coinUnits: isKnown && isFree(borrower.bandwidth, paying) ? 0n : BigInt(paying) * bytePrice,
    isKnown,
    mostUnits: (isFree(lender.bandwidth, 2 * lending) ? 0n : 2n) * BigInt(lending) * bytePrice,
  };
}
