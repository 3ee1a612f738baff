import { LockMode } from '@mikro-orm/core';
import type { Price } from '../../chain/port.ts';
import { Deposit } from '../../db/entities/index.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import { findAsset } from '../../domain/assets.ts';
import { postingsOf } from '../../domain/ledger.ts';
import { LINK_CURRENCY } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { nextPosting, postLedger } from '../ledger.ts';
import { assignDeposit } from '../payments/match.ts';
import { lockPayers } from '../payments/money.ts';
import { recountLink } from '../payments/recount.ts';
import type { Tx } from '../transact.ts';
import { depositStart, workflowIdOf } from './actor-message.ts';
import { holdsMoney, restoreHeld, unbindHeld } from './held.ts';
import { depositIdOf } from './identity.ts';
import { freezePrice } from './price.ts';
import { recordTransitions } from './trail.ts';
import { applyTransition, recordDepositEvent } from './transition.ts';

/** A transfer to one of our addresses, in one block. */
export type IncomingTransfer = {
  readonly mode: Mode;
  readonly merchantId: string;
  readonly customerId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly address: string;
  readonly addressKey: string;
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
  /** The payment link that a simulation pays; matched by amount and age where absent. */
  readonly paymentLinkId?: string | undefined;
  /** No event for `detected`: a simulation that only announces its last state. */
  readonly silent?: boolean;
};

export type RecordOutcome = 'created' | 'rebound' | 'revived' | 'unchanged' | 'amount_differs';

/**
 * Records a transfer as a deposit, or recognises it as one that is known: the identity decides. A known deposit is bound to the block
 * it is in now; one that had failed as REORGED begins a new generation, one that had failed otherwise stays failed and has its money held
 * again. A new USDT deposit is matched with the payment links of its customer, whose lock comes before the deposit's. Does not enqueue the actor of a simulated deposit: its maker does.
 */
export async function recordDeposit(
  tx: Tx,
  deps: Deps,
  transfer: IncomingTransfer,
): Promise<{ deposit: Deposit; outcome: RecordOutcome; deliveries: string[] }> {
  const pays = transfer.currency === LINK_CURRENCY && (await lockPayers(tx.em, [transfer.customerId])).size > 0;
  const id = depositIdOf(transfer);
  const known = await tx.em.findOne(Deposit, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (known) return await recogniseDeposit(tx, deps, known, transfer);
  const deposit = tx.em.create(Deposit, newDeposit(deps, id, transfer));
  freezePrice(deposit, transfer.price);
  await tx.em.flush();
  await recordTransitions(tx.em, [{ deposit, facts: { from: null, reason: null, by: null, failureCode: null } }]);
  const postings = postingsOf({ from: null, to: 'detected', failureCode: null, amountUnits: deposit.amountUnits });
  await postLedger(tx.em, deps, { deposit, kind: 'deposit.detected', number: deposit.postingCount, postings });
  if (pays) await assignDeposit(tx, deps, deposit, transfer.paymentLinkId);
  const deliveries = transfer.silent ? [] : await recordDepositEvent(tx.em, deps, deposit, transfer.headNumber);
  if (!transfer.simulated) await tx.enqueue(workflowIdOf(deposit), depositStart(deposit, deliveries));
  return { deposit, outcome: 'created', deliveries };
}

function newDeposit(deps: Deps, id: string, transfer: IncomingTransfer) {
  const now = deps.now();
  const token = findAsset(transfer.network, transfer.currency)?.kind === 'token';
  return {
    id,
    ...{ merchantId: transfer.merchantId, customerId: transfer.customerId, mode: transfer.mode },
    ...{ network: transfer.network, currency: transfer.currency, address: transfer.address, addressKey: transfer.addressKey },
    contractAddress: token ? deps.settings.contracts[transfer.network] : null,
    fromAddress: transfer.fromAddress,
    transactionHash: transfer.transactionHash,
    ...{ blockNumber: transfer.blockNumber, blockHash: transfer.blockHash, minedAt: transfer.minedAt, amountUnits: transfer.amountUnits },
    ...{ status: 'detected' as const, stateSince: now, generation: 1, sequence: 1, postingCount: 1, simulated: transfer.simulated },
    requiredConfirmations: deps.settings.requiredConfirmations[transfer.network],
    ...{ detectedAt: now, createdAt: now, updatedAt: now },
  };
}

async function recogniseDeposit(tx: Tx, deps: Deps, deposit: Deposit, transfer: IncomingTransfer) {
  const reply = (outcome: RecordOutcome, deliveries: string[] = []) => ({ deposit, outcome, deliveries });
  if (deposit.blockHash === transfer.blockHash && deposit.amountUnits === transfer.amountUnits) {
    // The same block once more. A deposit that failed as REORGED keeps no block, so this cannot hide its return.
    return reply('unchanged');
  }
  const amountDiffers = deposit.amountUnits !== transfer.amountUnits;
  const revives = deposit.status === 'failed' && deposit.failureCode === 'REORGED';
  const held = holdsMoney(deposit);
  // Another read, or another execution of the same transaction, may show another amount, but money that was credited is never rewritten.
  if (amountDiffers && !revives && !held && !isOpen(deposit)) return reply('amount_differs');
  if (amountDiffers && held && deposit.blockHash != null) await unbindHeld(tx.em, deps, deposit);
  // A failed deposit without a block: nothing is held for it until now, so there is nothing that could be rewritten either.
  const returns = held && deposit.blockHash == null;
  if (amountDiffers) {
    if (isOpen(deposit)) await correctAmount(tx, deps, deposit, transfer.amountUnits);
    else setAmount(deposit, transfer.amountUnits);
    deposit.fromAddress = transfer.fromAddress;
  }
  if (returns) await restoreHeld(tx.em, deps, deposit);
  deposit.blockNumber = transfer.blockNumber;
  deposit.blockHash = transfer.blockHash;
  deposit.minedAt = transfer.minedAt;
  deposit.verifiedAt = null;
  if (deposit.status === 'completed') deposit.alarmedAt = null;
  deposit.updatedAt = deps.now();
  if (!revives) {
    await tx.em.flush();
    if (amountDiffers && deposit.paymentLinkId != null) await recountLink(tx, deps, deposit.paymentLinkId);
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

/** Takes the old posting back and writes the new one; only before `completed`. */
async function correctAmount(tx: Tx, deps: Deps, deposit: Deposit, amountUnits: bigint): Promise<void> {
  const before = postingsOf({ from: null, to: 'detected', failureCode: null, amountUnits: -deposit.amountUnits });
  await postLedger(tx.em, deps, { deposit, kind: 'deposit.reversed', number: nextPosting(deposit), postings: before });
  setAmount(deposit, amountUnits);
  const after = postingsOf({ from: null, to: 'detected', failureCode: null, amountUnits });
  await postLedger(tx.em, deps, { deposit, kind: 'deposit.corrected', number: nextPosting(deposit), postings: after });
}

function setAmount(deposit: Deposit, amountUnits: bigint): void {
  deposit.amountUnits = amountUnits;
  const { rateUnits } = deposit;
  if (rateUnits == null) return;
  const price = { usd8: rateUnits, source: deposit.rateSource ?? '', at: deposit.rateAt ?? deposit.detectedAt, stale: false };
  deposit.rateUnits = null;
  freezePrice(deposit, price);
}
