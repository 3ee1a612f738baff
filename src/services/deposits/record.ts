import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Price } from '../../chains/reader.ts';
import { Deposit } from '../../db/entities/index.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import { findAsset } from '../../domain/assets.ts';
import { CREDITED_STATES } from '../../domain/deposit.ts';
import { postingsOf } from '../../domain/ledger.ts';
import { LINK_CURRENCY } from '../../domain/payment-link.ts';
import type { TxDeps } from '../deps.ts';
import { nextPosting, postLedger } from '../ledger/post.ts';
import { lockPayers } from '../payment-links/money.ts';
import { recountLink } from '../payment-links/recount.ts';
import { pick } from '../pick.ts';
import type { Tx } from '../transact.ts';
import { depositStart, workflowIdOf } from './actor-message.ts';
import { followsBlock, holdsMoney, restoreReplaced, unbindHeld } from './held.ts';
import { depositIdOf } from './identity.ts';
import { freezePrice } from './price.ts';
import { applyTransition, applyTransitions } from './transition.ts';

/** A transfer to one of our addresses, in one block. */
export type IncomingTransfer = {
  readonly mode: Mode;
  readonly merchantId: string;
  readonly customerId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly addressKey: AddressKey;
  readonly fromAddress: string | null;
  readonly transactionHash: string;
  readonly amountUnits: bigint;
  readonly blockNumber: number;
  readonly blockHash: string | null;
  /** The time of that block. */
  readonly minedAt: Date;
  readonly headNumber: number | null;
  readonly price: Price | undefined;
  readonly simulated: boolean;
  /** The payment link that a simulation pays; unset means matched by amount and age. */
  readonly paymentLinkId?: string | undefined;
  /** Writes no event for `detected`: for a simulation that only announces its last state. */
  readonly silent?: boolean;
};

export type RecordOutcome = 'created' | 'rebound' | 'revived' | 'unchanged' | 'amount_differs';

export type Recorded = {
  readonly deposit: Deposit;
  readonly outcome: RecordOutcome;
  readonly deliveries: readonly string[];
};

/** {@link recordDeposits} for one transfer. */
export async function recordDeposit(tx: Tx, deps: TxDeps, transfer: IncomingTransfer): Promise<Recorded> {
  const [recorded] = await recordDeposits(tx, deps, [transfer]);
  if (!recorded) throw new Error(`transfer ${transfer.transactionHash} was not recorded`);
  return recorded;
}

/**
 * Records transfers as deposits, or recognises them as known ones: the identity decides, and no two of
 * the transfers may have the same. A known deposit is bound to the block it is in now; one that had
 * failed as REORGED begins a new generation, one that had failed otherwise stays failed and has its money
 * held again. New USDT deposits are matched with the payment links of their customers, whose locks come
 * before the deposits'. The number of statements does not depend on how many deposits are new or seen
 * again; only when an amount is corrected, or a failed one comes back, are there some for each. Does not
 * enqueue the actor of a simulated deposit: its maker does. Returns the results in the order given.
 */
export async function recordDeposits(
  tx: Tx,
  deps: TxDeps,
  transfers: readonly IncomingTransfer[],
): Promise<Recorded[]> {
  const { em } = tx;
  const paying = transfers
    .filter((transfer) => transfer.currency === LINK_CURRENCY)
    .map((transfer) => transfer.customerId);
  await lockPayers(em, [...new Set(paying)]);
  const ids = transfers.map(depositIdOf);
  const options = { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const known = new Map(
    (await em.find(Deposit, { id: { $in: ids } }, options)).map((deposit) => [deposit.id, deposit]),
  );
  const recorded = new Map<string, Recorded>();
  const added: Added[] = [];
  for (const [index, transfer] of transfers.entries()) {
    const id = ids[index] ?? '';
    const deposit = known.get(id);
    if (deposit) recorded.set(id, await recogniseDeposit(tx, deps, deposit, transfer));
    else added.push({ id, transfer });
  }
  await em.flush();
  for (const one of await addDeposits(tx, deps, added)) recorded.set(one.deposit.id, one);
  return ids.flatMap((id) => recorded.get(id) ?? []);
}

type Added = { readonly id: string; readonly transfer: IncomingTransfer };

async function addDeposits(tx: Tx, deps: TxDeps, added: readonly Added[]): Promise<Recorded[]> {
  const births = added.map(({ id, transfer }) => {
    const deposit = tx.em.create(Deposit, unborn(deps, id, transfer), { partial: true });
    freezePrice(deposit, transfer.price);
    const { headNumber, silent, paymentLinkId: named } = transfer;
    return { deposit, to: 'detected' as const, headNumber, silent, named };
  });
  const announced = await applyTransitions(tx, deps, births);
  const recorded = births.map(({ deposit }) => ({
    deposit,
    outcome: 'created' as const,
    deliveries: announced.get(deposit.id) ?? [],
  }));
  for (const { deposit, deliveries } of recorded)
    if (!deposit.simulated) await tx.enqueue(workflowIdOf(deposit), depositStart(deposit, deliveries));
  return recorded;
}

/** A deposit without a state: its first transition gives it one, with the times that belong to it. */
/** What a transfer says of a deposit from the beginning, and says by the same names. */
const OF_TRANSFER = [
  'merchantId',
  'customerId',
  'mode',
  'network',
  'currency',
  'address',
  'addressKey',
  'fromAddress',
  'transactionHash',
  'blockNumber',
  'blockHash',
  'minedAt',
  'amountUnits',
  'simulated',
] as const;

function unborn(deps: TxDeps, id: string, transfer: IncomingTransfer) {
  const { network, currency } = transfer;
  const token = findAsset(network, currency)?.kind === 'token';
  return {
    id,
    ...pick(transfer, OF_TRANSFER),
    generation: 0,
    sequence: 0,
    postingCount: 0,
    contractAddress: token ? deps.settings.contracts[network] : null,
    requiredConfirmations: deps.settings.requiredConfirmations[network],
  };
}

/** Binds a known deposit to its block. The caller flushes what changed. */
async function recogniseDeposit(
  tx: Tx,
  deps: TxDeps,
  deposit: Deposit,
  transfer: IncomingTransfer,
): Promise<Recorded> {
  const reply = (outcome: RecordOutcome, deliveries: readonly string[] = []): Recorded => ({
    deposit,
    outcome,
    deliveries,
  });
  if (deposit.blockHash === transfer.blockHash && deposit.amountUnits === transfer.amountUnits) {
    // The same block once more. A deposit that failed as
    // REORGED keeps no block, so this cannot hide its return.
    return reply('unchanged');
  }
  const amountDiffers = deposit.amountUnits !== transfer.amountUnits;
  const revives = deposit.status === 'failed' && deposit.failureCode === 'REORGED';
  const held = holdsMoney(deposit);
  // Another read, or another execution of the same transaction, may show
  // another amount, but money that was credited is never rewritten.
  if (amountDiffers && !revives && !held && !isOpen(deposit)) return reply('amount_differs');
  if (amountDiffers && held && deposit.blockHash != null) await unbindHeld(tx.em, deps, deposit);
  // Without a block nothing is held for a failed deposit, and what was paid out for a
  // settled one is a shortfall, so there is nothing that could be rewritten either.
  const returns = followsBlock(deposit) && deposit.blockHash == null;
  if (amountDiffers) {
    if (isOpen(deposit)) await correctAmount(tx, deps, deposit, transfer.amountUnits);
    else setAmount(deposit, transfer.amountUnits);
    deposit.fromAddress = transfer.fromAddress;
  }
  if (returns) await restoreReplaced(tx.em, deps, deposit);
  deposit.blockNumber = transfer.blockNumber;
  deposit.blockHash = transfer.blockHash;
  deposit.minedAt = transfer.minedAt;
  deposit.verifiedAt = null;
  if (CREDITED_STATES.includes(deposit.status)) deposit.alarmedAt = null;
  deposit.updatedAt = deps.now();
  if (!revives) {
    if (amountDiffers && deposit.paymentLinkId != null) {
      await tx.em.flush();
      await recountLink(tx, deps, deposit.paymentLinkId);
    }
    return reply('rebound');
  }
  const deliveries = await applyTransition(tx, deps, deposit, {
    to: 'detected',
    headNumber: transfer.headNumber,
    reason: 'mined again',
  });
  await tx.enqueue(workflowIdOf(deposit), depositStart(deposit, deliveries));
  return reply('revived', deliveries);
}

function isOpen({ status }: Deposit): boolean {
  return status === 'detected' || status === 'confirming';
}

/** Takes the old posting back and writes the new one; only done before `completed`. */
async function correctAmount(tx: Tx, deps: TxDeps, deposit: Deposit, amountUnits: bigint): Promise<void> {
  const before = postingsOf({
    from: null,
    to: 'detected',
    failureCode: null,
    amountUnits: -deposit.amountUnits,
  });
  await postLedger(tx.em, deps, {
    deposit,
    kind: 'deposit.reversed',
    number: nextPosting(deposit),
    postings: before,
  });
  setAmount(deposit, amountUnits);
  const after = postingsOf({ from: null, to: 'detected', failureCode: null, amountUnits });
  await postLedger(tx.em, deps, {
    deposit,
    kind: 'deposit.corrected',
    number: nextPosting(deposit),
    postings: after,
  });
}

function setAmount(deposit: Deposit, amountUnits: bigint): void {
  deposit.amountUnits = amountUnits;
  const { rateUnits } = deposit;
  if (rateUnits == null) return;
  const price = {
    usd8: rateUnits,
    source: deposit.rateSource ?? '',
    at: deposit.rateAt ?? deposit.detectedAt,
    stale: false,
  };
  deposit.rateUnits = null;
  freezePrice(deposit, price);
}
