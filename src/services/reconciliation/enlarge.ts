import { LockMode } from '@mikro-orm/core';
import { addressKeyOf, spelledAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { BalanceDifference, Deposit, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf } from '../../domain/assets.ts';
import { cameIn } from '../../domain/ledger.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { dustOf } from '../uncredited/dust.ts';
import { pricesFor, recordTransfers } from '../watcher/record-transfers.ts';
import { holdCursorAt } from '../watcher/rescan.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { lockAddresses } from './allowance.ts';
import { isClosed } from './attributed.ts';
import { boundUnits } from './expected-balances.ts';
import { amountAt, depositIdAt, type Place } from './place.ts';
import { type Carried, type Decider, keepReason } from './reason.ts';
import { roomOf } from './room.ts';

/**
 * What says how much a transaction brought although no read shows it. `balance`: the
 * balance rose by that much in its block, and it is the only transaction that can have
 * done it. `candidate`: it is the only one of all blocks in question. `operator`: a
 * person names the whole amount, at most what the balance rose by if that is known.
 */
export type Proof =
  | { readonly basis: 'balance'; readonly roseUnits: bigint }
  | { readonly basis: 'candidate' }
  | {
      readonly basis: 'operator';
      readonly carriedUnits: bigint;
      readonly roseUnits: bigint | undefined;
      readonly decider: Decider;
    };

export type Attribution = {
  readonly place: Place;
  readonly block: ScannedBlock;
  readonly txHash: string;
  readonly proof: Proof;
  /** An operator claims this transaction: what it brought is a deposit however little it is. */
  readonly claimed?: boolean;
  readonly decider?: Decider | undefined;
};

/** What became of it: `created` counts new deposits. A refusal is a sentence and has changed nothing. */
export type Attributed = { readonly created: number } | { readonly refused: string };

/**
 * Makes one transaction of a block that was read twice account for money that reached the address inside
 * it: an ordinary deposit under the transaction's own identity, or a known one that becomes larger. How
 * much is decided under the locks of the address and the deposit, from what is read under them: never more
 * than is missing by then, whatever was attributed elsewhere meanwhile, and the same call a second time
 * adds nothing. Keeps the reason in an audit row. Throws `RescanStopped` when the block was replaced.
 */
export async function enlargeDeposit(
  deps: Deps,
  { reader }: WatchedChain,
  attribution: Attribution,
): Promise<Attributed> {
  const { place, block, txHash, proof } = attribution;
  const to = spelledAddress(place.network, place.addressKey);
  const transfer = (amountUnits: bigint): Transfer => ({
    // Which contract paid in the end is not known: the one that was called may have called others.
    txHash,
    to,
    from: null,
    currency: place.currency,
    amountUnits,
    kind: assetOf(place.network, place.currency).kind,
  });
  const prices = await pricesFor(deps, [transfer(1n)]);
  return await transact(deps, async (tx) => {
    const cursor = await holdCursorAt(tx.em, reader, block);
    await lockAddresses(tx.em, place.network, [place.addressKey]);
    const target = await targetOf(tx.em, deps, attribution);
    if ('refused' in target) return target;
    const { headNumber } = cursor;
    const only = { ...block, transfers: [transfer(target.carriedUnits)] };
    const decider = proof.basis === 'operator' ? proof.decider : attribution.decider;
    const again = { again: true, claimed: attribution.claimed ? txHash : undefined };
    const { created } = await recordTransfers(tx, deps, {
      network: place.network,
      block: only,
      prices,
      headNumber,
      ...again,
    });
    await keepReason(tx.em, deps, { ...target, place, txHash, basis: proof.basis, decider });
    return { created };
  });
}

async function targetOf(
  em: Em,
  deps: Deps,
  attribution: Attribution,
): Promise<Carried | { readonly refused: string }> {
  const { place, block, txHash, proof } = attribution;
  const kept = await em.findOne(BalanceDifference, { ...place });
  if (!kept || kept.foundNumber < block.number)
    return {
      refused:
        'no money is missing on the address by that block; run "reconcile" and compare it with an explorer',
    };
  const known = await em.findOne(Deposit, depositIdAt(place, txHash), {
    lockMode: LockMode.PESSIMISTIC_WRITE,
  });
  if (known && isClosed(known)) {
    const amount = amountAt(place, known.amountUnits);
    return {
      refused: `deposit ${known.id} of that transaction is ${known.status} with ${amount}, and credited money is never rewritten`,
    };
  }
  const arrivedUnits = kept.chainUnits - kept.beforeUnits;
  const bounds = await em.find(DepositAttribution, { ...place, foundNumber: { $gte: block.number } });
  const missing =
    (await roomOf(em, deps, place, [{ foundNumber: kept.foundNumber, arrivedUnits }, ...bounds])) ?? 0n;
  const counted = countedOf(known) + (await dustOf(em, deps, place, txHash));
  const shown = block.transfers.find(
    (one) =>
      one.txHash === txHash &&
      addressKeyOf(place.network, one.to) === place.addressKey &&
      one.currency === place.currency,
  );
  const beforeUnits = known?.blockHash === block.hash ? known.amountUnits : (shown?.amountUnits ?? 0n);
  const evidence = { beforeUnits, foundNumber: kept.foundNumber, arrivedUnits };
  const rose = 'roseUnits' in proof ? proof.roseUnits : undefined;
  const recorded = async (): Promise<bigint> =>
    (await boundUnits(em, deps, place, block.number)) - (await boundUnits(em, deps, place, block.number - 1));
  const left = rose === undefined ? missing : least(missing, rose - (await recorded()));
  if (proof.basis === 'operator')
    return named(place, proof.carriedUnits, { ...evidence, counted, missing: left });
  const units = proof.basis === 'balance' ? left : least(left, missing + kept.beforeUnits - kept.knownUnits);
  const carriedUnits = counted + units;
  if (units <= 0n || carriedUnits <= beforeUnits)
    return {
      refused: 'everything that reached the address is recorded already; look at it with "deposit list"',
    };
  return { ...evidence, carriedUnits };
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** How much of a deposit is counted as bound to a block of the chain. */
function countedOf(deposit: Deposit | null): bigint {
  if (deposit?.blockHash == null) return 0n;
  const { status: state, failureCode } = deposit;
  return cameIn({ state, failureCode: failureCode ?? null, onChain: true }) ? deposit.amountUnits : 0n;
}

type Named = Omit<Carried, 'carriedUnits'> & { readonly counted: bigint; readonly missing: bigint };

function named(
  place: Place,
  carriedUnits: bigint,
  { counted, missing, ...evidence }: Named,
): Carried | { readonly refused: string } {
  if (carriedUnits <= evidence.beforeUnits)
    return {
      refused: `${amountAt(place, evidence.beforeUnits)} of that transaction are recorded already; --amount is the whole that it brought`,
    };
  if (carriedUnits - counted > missing) {
    const most = counted + missing;
    const more =
      most > evidence.beforeUnits ? `name at most ${amountAt(place, most)}` : 'nothing more can be claimed';
    return {
      refused: `only ${amountAt(place, missing < 0n ? 0n : missing)} are missing on the address: ${more}`,
    };
  }
  return { ...evidence, carriedUnits };
}
