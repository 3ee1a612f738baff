// Energy of a stake that another account has for a while, and its way back.
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { invalid, type Refusal, type Signed } from '../types.ts';
import type { Account, Loan } from './accounts.ts';
import type { Books, Moment } from './books.ts';
import { afterUse, energyOf, energyUsedAt, keptOf, lendableAt } from './energy.ts';

const LEAST_SUN = 1_000_000n;
const SLOT_MS = 3_000;
/** In blocks: three days, which is also what a lock has that names no time. */
const LONGEST_LOCK = 86_400n;
const NO_LOAN: Loan = { free: 0n, locked: 0n, lockedUntilMs: 0 };

/**
 * Lends energy or takes it back. Throws Refusal in the node's words where it may not be. Only energy moves:
 * nobody has a stake for bandwidth here.
 */
export function moveEnergy(books: Books, signed: Signed, { headMs }: Moment): void {
  if (signed.type === 'DelegateResourceContract') lend(books, signed, headMs);
  else takeBack(books, signed, headMs);
}

function lend(books: Books, signed: Signed, nowMs: number): void {
  const { accounts } = books;
  const owner = accountOf(books, signed.owner);
  const sun = numberIn(signed, 'balance');
  if (sun < LEAST_SUN) throw refuse('delegateBalance must be more than 1TRX');
  const resource = resourceOf(signed);
  const most = resource === 'ENERGY' ? lendableAt(books, owner, nowMs) : 0n;
  if (resource !== 'ENERGY' && resource !== 'BANDWIDTH')
    throw refuse('ResourceCode error, valid ResourceCode[BANDWIDTH、ENERGY]');
  if (most < sun) {
    const stake = resource === 'ENERGY' ? 'FreezeEnergyV2' : 'FreezeBandwidthV2';
    throw refuse(`delegateBalance must be less than available ${stake} balance`);
  }
  const to = receiverOf(signed);
  const receiver = accountOf(books, to);
  const loan = unlocked(owner.loans?.[to] ?? NO_LOAN, nowMs);
  const added = signed.value['lock'] === undefined ? { free: loan.free + sun } : locked(signed, loan, nowMs);
  if (receiver.maker !== undefined) throw refuse('Do not allow delegate resources to contract addresses');
  accounts.set({ ...owner, loans: { ...owner.loans, [to]: { ...loan, ...added } } });
  accounts.set({ ...receiver, borrowed: (receiver.borrowed ?? 0n) + sun });
}

/** The same with a lock: all that is locked already is so until the new end. */
function locked(signed: Signed, loan: Loan, nowMs: number): Partial<Loan> {
  const asked = numberIn(signed, 'lock_period');
  if (asked < 0n || asked > LONGEST_LOCK)
    throw refuse(
      `The lock period of delegate resource cannot be less than 0 and cannot exceed ${LONGEST_LOCK}!`,
    );
  const lockMs = Number(asked === 0n ? LONGEST_LOCK : asked) * SLOT_MS;
  const remainsMs = loan.lockedUntilMs - nowMs;
  if (lockMs < remainsMs)
    throw refuse(
      `The lock period for ENERGY this time cannot be less than the remaining time[${remainsMs}ms] of the last lock period for ENERGY!`,
    );
  return { locked: loan.locked + numberIn(signed, 'balance'), lockedUntilMs: nowMs + lockMs };
}

function takeBack(books: Books, signed: Signed, nowMs: number): void {
  const { accounts } = books;
  const owner = accountOf(books, signed.owner);
  const from = receiverOf(signed);
  const { [from]: lent, ...others } = owner.loans ?? {};
  if (!lent) throw refuse('delegated Resource does not exist');
  const sun = numberIn(signed, 'balance');
  if (sun <= 0n) throw refuse('unDelegateBalance must be more than 0 TRX');
  const loan = unlocked(lent, nowMs);
  const resource = resourceOf(signed);
  if (resource === 'BANDWIDTH')
    throw refuse(`insufficient delegatedFrozenBalance(BANDWIDTH), request=${sun}, unlock_balance=0`);
  if (resource !== 'ENERGY') throw refuse('ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]');
  if (loan.free < sun)
    throw refuse(`insufficient delegateFrozenBalance(Energy), request=${sun}, unlock_balance=${loan.free}`);
  const receiver = accountOf(books, from);
  const moved = usageOf(books, receiver, sun, nowMs);
  const left = { ...loan, free: loan.free - sun };
  const loans = left.free + left.locked === 0n ? others : { ...others, [from]: left };
  accounts.set({ ...afterUse(receiver, -moved, nowMs), borrowed: (receiver.borrowed ?? 0n) - sun });
  accounts.set({ ...(moved > 0n ? afterUse(owner, moved, nowMs) : owner), loans });
}

/**
 * What goes to the owner with his stake of what the receiver used: its share of it. It comes back to him in a
 * whole day from now, where the chain lets it have only what was left of the receiver's day.
 */
function usageOf(books: Books, receiver: Account, sun: bigint, nowMs: number): bigint {
  const all = keptOf(books, receiver) + (receiver.borrowed ?? 0n);
  const share = (energyUsedAt(receiver, nowMs) * sun) / all;
  const most = energyOf(books, sun);
  return share < most ? share : most;
}

/** A loan as it stands now: what was locked until now may be taken back. */
function unlocked(loan: Loan, nowMs: number): Loan {
  return loan.lockedUntilMs < nowMs ? { ...NO_LOAN, free: loan.free + loan.locked } : loan;
}

function accountOf({ accounts }: Books, key: AddressKey): Account {
  const account = accounts.get(key);
  if (!account) throw refuse(`Account[41${key}] not exists`);
  return account;
}

function receiverOf({ owner, value }: Signed): AddressKey {
  const text = String(value['receiver_address'] ?? '');
  if (!/^41[0-9a-f]{40}$/.test(text)) throw refuse('Invalid receiverAddress');
  const key = keyOfHex(text, 2);
  if (key === owner) throw refuse('receiverAddress must not be the same as ownerAddress');
  return key;
}

/** The first resource is number zero, which is not on the wire. */
function resourceOf({ value }: Signed): string {
  return String(value['resource'] ?? 'BANDWIDTH');
}

function numberIn({ value }: Signed, member: string): bigint {
  return (value[member] ?? 0n) as bigint;
}

function refuse(words: string): Refusal {
  return invalid(`Contract validate error : ${words}`);
}
