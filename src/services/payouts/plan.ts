import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import { Deposit, Payout } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import { mayMovePayout, type PayoutState } from '../../domain/settlement.ts';
import type { TxDeps } from '../deps.ts';
import { wakeAddress } from './wakes.ts';

/** Where deposits wait to be paid out: one asset on one of our addresses. */
export type PayoutPlace = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly currency: Currency;
};

/** Rows of deposits are locked in this order by everybody who locks several: nobody waits in a circle. */
const LOCKED = {
  orderBy: { id: 'asc' },
  lockMode: LockMode.PESSIMISTIC_WRITE,
  refresh: true,
} as const;

/**
 * How many deposits a payout covers at most: its settling is one transaction, which writes a few rows for
 * each of them. A flood of dust takes the place of nothing, because the largest come first.
 */
export const MAX_COVERED = 500;

/**
 * Plans a payout of what may be paid out at a place: live deposits that are completed, are in a block and
 * were read twice, and that no payout covers; of more than {@link MAX_COVERED} the largest. Undefined where
 * there is none. Nothing is signed by it. The caller's transaction fails where another payout of the address
 * is under way.
 */
export async function planPayout(
  em: Em,
  deps: TxDeps,
  place: PayoutPlace & { readonly destination: string },
): Promise<Payout | undefined> {
  const deposits = await lockPayable(em, place, MAX_COVERED);
  return await planOf(em, deps, deposits, { id: deps.newId(), destination: place.destination });
}

/**
 * A planned payout of just these deposits of one place, whose rows the caller holds locked. Undefined where
 * there are none. The database refuses those that no payout may cover.
 */
export async function planOf(
  em: Em,
  deps: TxDeps,
  deposits: readonly Deposit[],
  { id, destination }: { readonly id: string; readonly destination: string },
): Promise<Payout | undefined> {
  const [first] = deposits;
  if (!first) return undefined;
  const grossUnits = sumOf(deposits);
  const payout = createPayout(em, deps, first, {
    id,
    destination,
    grossUnits,
    simulated: false,
    state: 'planned',
  });
  await em.flush();
  await cover(em, deps, payout, deposits);
  return payout;
}

type Made = Pick<Payout, 'id' | 'destination' | 'grossUnits' | 'simulated' | 'state'>;

/** The row of a payout out of the address of a deposit, in its asset. */
export function createPayout(em: Em, deps: TxDeps, of: Deposit, made: Made & Partial<Payout>): Payout {
  const now = deps.now();
  const { merchantId, mode, network, currency, contractAddress = null, address, addressKey } = of;
  const there = { merchantId, mode, network, currency, contractAddress, address, addressKey };
  const at = { stateSince: now, createdAt: now, updatedAt: now };
  return em.create(Payout, { ...there, ...at, ...made }, { partial: true });
}

/**
 * Adds what came to the place of a planned payout since, while its transaction is not asked for. Returns how
 * many deposits joined it.
 */
export async function joinPayout(em: Em, deps: TxDeps, payoutId: string): Promise<number> {
  const { network, addressKey, currency } = await em.findOneOrFail(Payout, payoutId);
  const room = MAX_COVERED - (await em.count(Deposit, { payoutId }));
  if (room <= 0) return 0;
  const deposits = await lockPayable(em, { network, addressKey, currency }, room);
  const payout = await lockPayout(em, payoutId, 'planned');
  if (deposits.length === 0) return 0;
  payout.grossUnits += sumOf(deposits);
  payout.updatedAt = deps.now();
  await em.flush();
  await cover(em, deps, payout, deposits);
  return deposits.length;
}

/**
 * The oldest deposits that sum to no more than `most`, of a planned payout and of what could join it, with
 * their sum; those that are larger alone are left out.
 */
export async function fitting(
  em: Em,
  payout: PayoutPlace & Pick<Payout, 'id'>,
  most: bigint,
): Promise<{ readonly ids: readonly string[]; readonly units: bigint }> {
  const found = await em.find(
    Deposit,
    { ...payableAt(payout), $or: [{ payoutId: null }, { payoutId: payout.id }], amountUnits: { $lte: most } },
    {
      fields: ['id', 'amountUnits'],
      orderBy: { createdAt: 'asc', id: 'asc' },
      limit: MAX_COVERED,
      disableIdentityMap: true,
    },
  );
  let room = most;
  const ids = found.flatMap(({ id, amountUnits }) => {
    if (amountUnits > room) return [];
    room -= amountUnits;
    return [id];
  });
  return { ids, units: most - room };
}

/**
 * Lets a planned payout whose transaction is not asked for cover just what {@link fitting} says, and gives
 * the rest back, for the payouts after it. Returns how many deposits joined or left; nothing changes where
 * none fits.
 */
export async function fitPayout(em: Em, deps: TxDeps, payoutId: string, most: bigint): Promise<number> {
  const place = await em.findOneOrFail(Payout, payoutId);
  const { ids } = await fitting(em, place, most);
  const joining = { ...payableAt(place), payoutId: null, id: { $in: [...ids] } };
  const deposits = inOrder(await em.find(Deposit, { $or: [joining, { payoutId }] }, LOCKED));
  const payout = await lockPayout(em, payoutId, 'planned');
  const [stay, leave] = [true, false].map((is) => deposits.filter(({ id }) => ids.includes(id) === is));
  if (!stay?.length || !leave) return 0;
  const join = stay.filter((deposit) => deposit.payoutId !== payoutId);
  if (join.length + leave.length === 0) return 0;
  payout.grossUnits = sumOf(stay);
  payout.updatedAt = deps.now();
  await release(em, deps, leave);
  await cover(em, deps, payout, join);
  return join.length + leave.length;
}

/** Gives up a payout for which nothing was signed, and gives its deposits back. `reason` says why. */
export async function cancelPayout(em: Em, deps: TxDeps, payoutId: string, reason: string): Promise<void> {
  const deposits = await lockCovered(em, payoutId);
  const payout = await lockPayout(em, payoutId, 'planned');
  movePayout(deps, payout, 'cancelled', reason);
  await release(em, deps, deposits);
  await wakeAddress(em, deps, payout);
}

/** Gives deposits back, which another payout may cover then. The caller holds their rows locked. */
export async function release(em: Em, deps: TxDeps, deposits: readonly Deposit[]): Promise<void> {
  for (const deposit of deposits) Object.assign(deposit, { payoutId: null, updatedAt: deps.now() });
  await em.flush();
}

/** The deposits that a payout covers, in the order in which its parts are given, locked. */
export async function lockCovered(em: Em, payoutId: string): Promise<Deposit[]> {
  return inOrder(await em.find(Deposit, { payoutId }, LOCKED));
}

/** Another process went on meanwhile: what was decided no longer holds. Nothing was changed. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** The payout, locked after its deposits. Throws {@link Outdated} where it is in another state by now. */
export async function lockPayout(em: Em, payoutId: string, state: PayoutState): Promise<Payout> {
  const payout = await em.findOneOrFail(Payout, payoutId, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
  if (payout.state !== state)
    throw new Outdated(`payout ${payoutId} is ${payout.state} by now, not ${state}`);
  return payout;
}

/** What a payout may cover, by itself or with those that one covers already. */
export const payableAt = ({ network, addressKey, currency }: PayoutPlace) =>
  ({
    network,
    addressKey,
    currency,
    mode: 'live',
    simulated: false,
    status: 'completed',
    blockHash: { $ne: null },
    verifiedAt: { $ne: null },
  }) as const;

/** Locked in one order, whoever asks: two that lock the same deposits wait for each other, and no longer. */
async function lockPayable(em: Em, place: PayoutPlace, limit: number): Promise<Deposit[]> {
  const payable = { ...payableAt(place), payoutId: null };
  const largest = await em.find(Deposit, payable, {
    fields: ['id'],
    orderBy: { amountUnits: 'desc', id: 'asc' },
    limit,
    disableIdentityMap: true,
  });
  const id = { $in: largest.map((deposit) => deposit.id) };
  return inOrder(await em.find(Deposit, { ...payable, id }, LOCKED));
}

async function cover(em: Em, deps: TxDeps, payout: Payout, deposits: readonly Deposit[]): Promise<void> {
  for (const deposit of deposits) Object.assign(deposit, { payoutId: payout.id, updatedAt: deps.now() });
  await em.flush();
}

/** The oldest first: of what a payout leaves over, they get their unit first. */
const inOrder = (deposits: readonly Deposit[]): Deposit[] =>
  deposits.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1));

const sumOf = (deposits: readonly Deposit[]): bigint =>
  deposits.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);

/** A step that the table of payouts does not know: a defect, or two writers at once. Nothing was changed. */
class IllegalPayoutStep extends Error {
  override readonly name = 'IllegalPayoutStep';
}

/**
 * Moves a payout that the caller's transaction holds locked. Throws {@link IllegalPayoutStep} where the table
 * does not allow it.
 */
export function movePayout(
  deps: Pick<TxDeps, 'now'>,
  payout: Payout,
  to: PayoutState,
  reason: string | null = null,
): void {
  if (!mayMovePayout(payout.state, to))
    throw new IllegalPayoutStep(`payout ${payout.id} cannot go from ${payout.state} to ${to}`);
  const now = deps.now();
  Object.assign(payout, { state: to, stateSince: now, updatedAt: now, reason });
}
