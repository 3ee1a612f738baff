import { LockMode } from '@mikro-orm/core';
import { addressKeyOf, spelledAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { BalanceDifference, Deposit, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf } from '../../domain/assets.ts';
import { accountOf } from '../../domain/ledger.ts';
import { formatUnits } from '../../domain/money.ts';
import { recordAction } from '../audit/record.ts';
import { DecisionRefused } from '../deposits/decisions.ts';
import { depositIdOf } from '../deposits/identity.ts';
import type { Deps } from '../deps.ts';
import { type Tx, transact } from '../transact.ts';
import { dustOf } from '../uncredited/dust.ts';
import { pricesFor, recordTransfers } from '../watcher/record-transfers.ts';
import { holdCursorAt } from '../watcher/rescan.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { allowanceOf, type Bound, isClosed, lockAddresses, roomOf } from './allowance.ts';
import { boundUnits, type Place } from './expected-balances.ts';

/** Who decided and why, where a person did. */
export type Decider = { readonly by: string; readonly reason: string };

/**
 * What says how much a transaction brought although no read shows it. `balance`: by
 * so much the balance rose in its block, and it is the only one that can have done
 * it. `candidate`: it is the only one of all blocks in question. `operator`: somebody
 * names the whole of it, at most what the balance rose by where that is known.
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
 * much is decided under the locks of the address and the deposit, from what is read under them: never
 * more than is missing by then, whoever else attributed something meanwhile, and the same call a second
 * time adds nothing. Keeps why in an audit row. Throws `RescanStopped` when the block was replaced.
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

type Target = {
  readonly beforeUnits: bigint;
  readonly carriedUnits: bigint;
  readonly foundNumber: number | null;
  readonly arrivedUnits: bigint | null;
};

async function targetOf(
  em: Em,
  deps: Deps,
  attribution: Attribution,
): Promise<Target | { readonly refused: string }> {
  const { place, block, txHash, proof } = attribution;
  const kept = await em.findOne(BalanceDifference, { ...place });
  if (!kept || kept.foundNumber < block.number)
    return {
      refused:
        'no money is missing on the address by that block; run "reconcile" and compare it with an explorer',
    };
  const known = await em.findOne(Deposit, idOf(place, txHash), { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (known && isClosed(known)) {
    const amount = text(place, known.amountUnits);
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

function idOf({ network, addressKey, currency }: Place, transactionHash: string): string {
  return depositIdOf({ mode: 'live', network, transactionHash, addressKey, currency });
}

/** What of a deposit is counted as bound to a block of the chain. */
function countedOf(deposit: Deposit | null): bigint {
  if (deposit?.blockHash == null) return 0n;
  const { status: state, failureCode } = deposit;
  return accountOf({ state, failureCode: failureCode ?? null, onChain: true }) === 'chain'
    ? 0n
    : deposit.amountUnits;
}

type Named = Omit<Target, 'carriedUnits'> & { readonly counted: bigint; readonly missing: bigint };

function named(
  place: Place,
  carriedUnits: bigint,
  { counted, missing, ...evidence }: Named,
): Target | { readonly refused: string } {
  if (carriedUnits <= evidence.beforeUnits)
    return {
      refused: `${text(place, evidence.beforeUnits)} of that transaction are recorded already; --amount is the whole that it brought`,
    };
  if (carriedUnits - counted > missing) {
    const most = counted + missing;
    const more =
      most > evidence.beforeUnits ? `name at most ${text(place, most)}` : 'nothing more can be claimed';
    return {
      refused: `only ${text(place, missing < 0n ? 0n : missing)} are missing on the address: ${more}`,
    };
  }
  return { ...evidence, carriedUnits };
}

function text({ network, currency }: Place, units: bigint): string {
  return `${formatUnits(units, assetOf(network, currency).decimals)} ${currency}`;
}

type Reason = Target & {
  readonly place: Place;
  readonly txHash: string;
  readonly basis: DepositAttribution['basis'];
  readonly decider: Decider | undefined;
};

/**
 * The audit row; and the deposit counts as read twice, because that is
 * not what decides its amount. Money on a test-mode address has none.
 */
async function keepReason(
  em: Em,
  deps: Deps,
  { place, txHash, basis, decider, ...facts }: Reason,
): Promise<void> {
  const deposit = await em.findOne(Deposit, idOf(place, txHash), { refresh: true });
  if (!deposit || deposit.amountUnits !== facts.carriedUnits) return;
  deposit.verifiedAt ??= deps.now();
  const number = (await em.count(DepositAttribution, { depositId: deposit.id })) + 1;
  em.create(DepositAttribution, {
    depositId: deposit.id,
    number,
    ...place,
    basis,
    ...facts,
    byName: decider?.by ?? null,
    reason: decider?.reason ?? null,
    at: deps.now(),
  });
  await em.flush();
  const { merchantId, mode, id: subject } = deposit;
  const [before, after] = [facts.beforeUnits, facts.carriedUnits].map((units) => ({
    amount: text(place, units),
  }));
  const kept = {
    action: 'deposit.claim',
    merchantId,
    mode,
    subject,
    before,
    after,
    reason: decider?.reason,
  } as const;
  await recordAction(em, deps, kept);
}

export type TracedAttribution = {
  readonly block: ScannedBlock;
  readonly txHash: string;
  /** The whole of what the transaction brought, by currency and address. */
  readonly transfers: readonly Transfer[];
  /** What the balances of the addresses bound it by. */
  readonly bounds: readonly (Place & Bound)[];
  readonly decider?: Decider | undefined;
};

/**
 * Records what the trace of one transaction shows, as a read of the whole block with its trace would have;
 * see {@link allowanceOf} for what was attributed before. Returns how many deposits are new. Throws {@link
 * DecisionRefused} where the balances have no room for it, and `RescanStopped` when the block was replaced.
 */
export async function recordTraced(
  deps: Deps,
  { reader }: WatchedChain,
  traced: TracedAttribution,
): Promise<number> {
  const { network } = reader;
  const prices = await pricesFor(deps, traced.transfers);
  const { untraced: _, ...rest } = traced.block;
  const block: ScannedBlock = { ...rest, transfers: traced.transfers };
  return await transact(deps, async (tx) => {
    const cursor = await holdCursorAt(tx.em, reader, block);
    const { headNumber } = cursor;
    const before = await amountsOf(tx.em, network, traced.txHash);
    const isWhole = (deposit: Deposit): boolean => deposit.transactionHash === traced.txHash;
    const { record } = await allowanceOf(tx, deps, {
      network,
      block,
      headNumber,
      isWhole,
      bounds: traced.bounds,
    });
    if (
      record.transfers.length < traced.transfers.length ||
      record.transfers.some((one) => !traced.transfers.includes(one))
    )
      throw new DecisionRefused(
        `the trace of transaction ${traced.txHash} shows more than the balance of the address has room for; compare both with an explorer, and with "deposit show" of what is recorded`,
      );
    const { created } = await recordTransfers(tx, deps, {
      network,
      block: record,
      prices,
      headNumber,
      again: true,
      claimed: traced.txHash,
    });
    await keepTraced(tx, deps, { network, before, traced });
    return created;
  });
}

async function amountsOf(
  em: Em,
  network: Place['network'],
  transactionHash: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await em.find(Deposit, { mode: 'live', network, transactionHash });
  return new Map(rows.map((row) => [row.id, row.blockHash == null ? 0n : row.amountUnits]));
}

type Kept = {
  readonly network: Place['network'];
  readonly before: ReadonlyMap<string, bigint>;
  readonly traced: TracedAttribution;
};

async function keepTraced({ em }: Tx, deps: Deps, { network, before, traced }: Kept): Promise<void> {
  const { txHash, block, decider } = traced;
  const bound = { mode: 'live', network, transactionHash: txHash, blockHash: block.hash } as const;
  for (const deposit of await em.find(Deposit, bound, { refresh: true })) {
    const { id, addressKey, currency, amountUnits } = deposit;
    const shown = traced.transfers.find(
      (one) => addressKeyOf(network, one.to) === addressKey && one.currency === currency,
    );
    if (shown?.amountUnits !== amountUnits) continue;
    deposit.provenUnits = amountUnits;
    deposit.verifiedAt ??= deps.now();
    const beforeUnits = before.get(id) ?? 0n;
    if (beforeUnits === amountUnits) continue;
    const place = { network, addressKey, currency };
    const facts = { beforeUnits, carriedUnits: amountUnits, foundNumber: null, arrivedUnits: null };
    await keepReason(em, deps, { ...facts, place, txHash, basis: 'trace', decider });
  }
  await em.flush();
}
