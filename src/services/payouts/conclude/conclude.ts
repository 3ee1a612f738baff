// Settling a payout by what the chain shows, where the ordinary steps cannot: the database calls it failed or
// somebody else's, or less arrived than was signed. It moves no money.
import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import { addressKeyOf } from '../../../chains/addresses.ts';
import { chainOf } from '../../../chains/index.ts';
import { type ChainCursor, type Deposit, Payout, SentTransaction } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { assetOf, type Currency } from '../../../domain/assets.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { type Tx, transact } from '../../transact.ts';
import { holdCursorAt, RescanStopped } from '../../watcher/rescan.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { NamedPlace } from '../decisions.ts';
import { arrivedUnits, lockWithPayers, settleBy } from '../finish.ts';
import { lockPayout, planOf } from '../plan.ts';
import { endAsked, endOthers } from '../settle/living.ts';
import { wakeAddress } from '../wakes.ts';
import { boundTransaction, type SignedFor, sealedAmong, shownBy } from './evidence.ts';
import { endPlanned, NotConcluded, paidBy, type Wanted } from './room.ts';

export type Conclusion = {
  readonly place: NamedPlace;
  readonly hash: string;
  /** Named where several could be meant; undefined where the journal or their sum tells. */
  readonly depositIds?: readonly string[] | undefined;
  /** What the signer's journal says of the transaction, where it can be read and was vouched for. */
  readonly signed?: SignedFor | undefined;
  readonly reason: string;
  readonly signal: AbortSignal;
};

export type Concluded =
  /** There is one endpoint, which is asked again from this time on. Nothing was settled. */
  | { readonly kind: 'seen'; readonly againAt: Date }
  | {
      readonly kind: 'concluded';
      readonly payoutId: string;
      readonly destination: string;
      readonly currency: Currency;
      readonly grossUnits: bigint;
      readonly netUnits: bigint;
      readonly depositIds: readonly string[];
    };

/**
 * Settles deposits of an address by a final transaction which two endpoints (or the only one, twice, an hour
 * apart) show in a block of the kept chain, from that address to a destination that was sealed for its
 * merchant: each gets its part of what arrived, the rest is `fees`. One transaction concludes once. Throws
 * {@link NotConcluded} for all else, and the reader's errors; nothing was changed then.
 */
export async function concludePayout(
  deps: Deps,
  chain: WatchedChain,
  conclusion: Conclusion,
): Promise<Concluded> {
  const { place, hash, signal } = conclusion;
  const row = await boundTransaction(deps.orm.em.fork(), place, hash);
  const againAt = await shownBy(deps, chain, row, signal);
  if (againAt) return { kind: 'seen', againAt };
  try {
    return await transact(deps, async (tx) => {
      const at = { number: row.blockNumber, hash: row.blockHash };
      const cursor = await holdCursorAt(tx.em, chain.reader, at);
      return await concludeIn(tx, deps, conclusion, { cursor, blockHash: row.blockHash });
    });
  } catch (error) {
    if (!(error instanceof RescanStopped)) throw error;
    throw new NotConcluded(`${error.message}: run this again in a moment`, { cause: error });
  }
}

async function concludeIn(
  tx: Tx,
  deps: TxDeps,
  conclusion: Conclusion,
  { cursor, blockHash }: { readonly cursor: ChainCursor; readonly blockHash: string },
): Promise<Concluded> {
  const { em } = tx;
  const { place, hash, reason } = conclusion;
  const found = await boundTransaction(em, place, hash);
  const { payout, deposits } = await payoutBy(em, deps, conclusion, found);
  const paid = await em.findOneOrFail(SentTransaction, found.id, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
  if (paid.blockHash !== blockHash || paid.verifiedAt == null || !paid.ok)
    throw new NotConcluded(`the block of ${hash} was read again meanwhile: run this again`);
  const arrived = arrivedUnits(payout, paid);
  if (arrived === 0n)
    throw new NotConcluded(
      `${hash} brought nothing to ${payout.destination}: compare it with an explorer, and name the payout that it paid`,
    );
  if (paid.state === 'foreign') await book(em, deps, conclusion, { paid, payout });
  const netUnits = arrived < payout.grossUnits ? arrived : payout.grossUnits;
  await settleBy(tx, deps, { payout, deposits, paid, netUnits, headNumber: cursor.headNumber });
  await endOthers(em, deps, payout.id);
  await endAsked(em, deps, payout.id);
  await wakeAddress(em, deps, payout);
  const { id: payoutId, merchantId, mode, destination, currency, grossUnits } = payout;
  const depositIds = deposits.map(({ id }) => id);
  const after = { payout: payoutId, destination, units: netUnits.toString(), deposits: depositIds };
  await recordAction(em, deps, { action: 'payout.conclude', subject: hash, merchantId, mode, after, reason });
  return { kind: 'concluded', payoutId, destination, currency, grossUnits, netUnits, depositIds };
}

type Target = { readonly payout: Payout; readonly deposits: readonly Deposit[] };

/** The payout that a transaction has paid, locked after its deposits; one is made where none is known. */
async function payoutBy(
  em: Em,
  deps: TxDeps,
  conclusion: Conclusion,
  paid: SentTransaction,
): Promise<Target> {
  const {
    place,
    hash,
    signed,
    depositIds = signed?.payouts.find((one) => one.hash === hash)?.depositIds,
  } = conclusion;
  const known = paid.payoutId ?? null;
  if (paid.purpose != null && paid.purpose !== 'payout')
    throw new NotConcluded(
      `${hash} pays no merchant, but gives an address what it needs: see it with "payout show ${known}"`,
    );
  if (known !== null && place.payout !== null && known !== place.payout.id)
    throw new NotConcluded(`${hash} is of payout ${known}: name that one, if it is what you mean`);
  const payout = known === null ? null : await em.findOneOrFail(Payout, known);
  const { network } = place;
  const { format } = chainOf(network).addresses;
  const to = payout ? [payout.destination] : (paid.moves ?? []).map((move) => move.to);
  const receivers = to.map((one) => addressKeyOf(network, one));
  const destination = await sealedAmong(em, deps, { place, hash, signed }, receivers);
  if (destination === undefined)
    throw new NotConcluded(
      `${hash} pays ${receivers.map(format).join(' and ') || 'nobody'}, and no such withdraw address was sealed for merchant ${place.merchantId}: where our own signer signed it, name a copy of its journal with --journal; else find out who has the key, and see "payout accept"`,
    );
  if (payout?.state === 'paying') {
    const deposits = await lockWithPayers(em, payout.id);
    return { payout: await lockPayout(em, payout.id, 'paying'), deposits };
  }
  if (payout && payout.state !== 'failed')
    throw new NotConcluded(`payout ${payout.id} is ${payout.state}: there is nothing to conclude`);
  await endPlanned(em, deps, place, hash);
  const { currency, wanted } = payout
    ? { currency: payout.currency, wanted: exactly(payout.grossUnits) }
    : wantedBy(deps, paid, destination);
  const blockNumber = paid.blockNumber ?? 0;
  const deposits = await paidBy(em, { place, currency, hash, blockNumber, ids: depositIds }, wanted);
  const made =
    payout ?? (await planOf(em, deps, deposits, { id: deps.newId(), destination: format(destination) }));
  if (!made) throw new Error('no deposits are paid by nothing');
  if (payout) for (const deposit of deposits) Object.assign(deposit, { payoutId: payout.id });
  await em.flush();
  return { payout: await lockPayout(em, made.id, made.state), deposits };
}

const exactly = (units: bigint): Wanted => ({ leastUnits: units, isRight: (sum) => sum === units });

/**
 * What the deposits sum to that somebody else's transaction has paid: of a token all that left, of a coin
 * what left and what that cost, up to the share of a fee at which a payout of coins is planned.
 */
function wantedBy(
  { settings }: Pick<TxDeps, 'settings'>,
  { network, hash, moves, feeUnits }: SentTransaction,
  destination: AddressKey,
): { readonly currency: Currency; readonly wanted: Wanted } {
  const all = moves ?? [];
  const there = all.filter(({ to }) => addressKeyOf(network, to) === destination);
  const [currency, ...others] = new Set(there.map((move) => move.currency));
  if (!currency || others.length > 0)
    throw new NotConcluded(`${hash} moved two assets at once: only a transfer of one is a payout`);
  const left = leftWith(all, currency);
  if (assetOf(network, currency).kind === 'token') return { currency, wanted: exactly(left) };
  const share = settings.payouts.maxFeeBasisPoints;
  const isRight = (sum: bigint): boolean => (sum - left) * 10_000n <= sum * share;
  return { currency, wanted: { leastUnits: left + (feeUnits ?? 0n), isRight } };
}

const leftWith = (moves: NonNullable<SentTransaction['moves']>, currency: Currency): bigint =>
  moves.filter((move) => move.currency === currency).reduce((sum, { units }) => sum + BigInt(units), 0n);

/** From now on the row of somebody else's transaction says what it has paid, and that a person decided so. */
async function book(
  em: Em,
  deps: TxDeps,
  { reason }: Conclusion,
  { paid, payout }: { readonly paid: SentTransaction; readonly payout: Payout },
): Promise<void> {
  const { id: payoutId, network, currency, destination: toAddress } = payout;
  const toKey = addressKeyOf(network, toAddress);
  const amountUnits = leftWith(paid.moves ?? [], currency);
  const decidedBy = deps.actor?.kind === 'operator' ? deps.actor.name : 'the gateway';
  const at = { decidedAt: deps.now(), updatedAt: deps.now() };
  Object.assign(paid, { payoutId, toAddress, toKey, currency, amountUnits, ...at });
  Object.assign(paid, { decidedBy, decidedReason: reason });
  await em.flush();
}
