// How a payout ends: what final blocks show of its transactions, and nothing else, decides it.

import { type Deposit, type Payout, SentTransaction } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { assetOf } from '../../domain/assets.ts';
import { settledParts } from '../../domain/settlement.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import { applyTransitions } from '../deposits/transition.ts';
import type { TxDeps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import type { Tx } from '../transact.ts';
import { movePayout } from './move.ts';
import { lockCovered, lockPayout, release } from './plan.ts';
import { wakeAfterPayout } from './wakes.ts';

/**
 * Settles a payout whose transaction is final and succeeded, in the caller's transaction: the payout, its
 * deposits with their parts, postings, events, deliveries and the news to their actors. The address's own
 * actor is told nothing: this is a step of it, after which it looks again. `headNumber` is the head of the
 * chain, from which the events' confirmations are shown. Throws where it is not paying, or no such
 * transaction is known; nothing was changed then.
 */
export async function settlePayout(
  tx: Tx,
  deps: TxDeps,
  { payoutId, headNumber }: { readonly payoutId: string; readonly headNumber: number | null },
): Promise<readonly Deposit[]> {
  const { em } = tx;
  const deposits = await lockWithPayers(em, payoutId);
  const payout = await lockPayout(em, payoutId, 'paying');
  const sent = await em.find(SentTransaction, { payoutId, blockHash: { $ne: null } });
  const paid = sent.find(({ purpose, state, ok }) => purpose === 'payout' && state === 'final' && ok);
  if (!paid) throw new Error(`no final transaction of payout ${payoutId} has succeeded`);
  const netUnits = paid.amountUnits ?? 0n;
  const paysOwnFee = assetOf(payout.network, payout.currency).kind === 'native';
  const feeUnits = paysOwnFee
    ? payout.grossUnits - netUnits
    : sent.reduce((sum, one) => sum + (one.feeUnits ?? 0n), 0n);
  Object.assign(payout, { netUnits, feeUnits, transactionHash: paid.hash, settledAt: deps.now() });
  movePayout(deps, payout, 'settled');
  const amounts = deposits.map(({ amountUnits }) => amountUnits);
  await settleDeposits(
    tx,
    deps,
    deposits,
    settledParts({ amounts, netUnits, feeUnits, paysOwnFee }),
    headNumber,
  );
  return deposits;
}

async function settleDeposits(
  tx: Tx,
  deps: TxDeps,
  deposits: readonly Deposit[],
  parts: ReturnType<typeof settledParts>,
  headNumber: number | null,
): Promise<void> {
  // The payout is written before its deposits: the database asks it whether they may be settled.
  await tx.em.flush();
  for (const [index, deposit] of deposits.entries()) {
    const { settledUnits = null, feeUnits: settlementFeeUnits = null } = parts[index] ?? {};
    Object.assign(deposit, { settledUnits, settlementFeeUnits });
  }
  await applyTransitions(
    tx,
    deps,
    deposits.map((deposit) => ({ deposit, to: 'settled' as const, headNumber })),
  );
  for (const deposit of deposits) await tx.enqueue(workflowIdOf(deposit), depositWake(deposit));
}

/**
 * Ends a payout of which no transaction can succeed any more: its deposits are free for another one. Throws
 * where it is not paying.
 */
export async function failPayout(em: Em, deps: TxDeps, payoutId: string, reason: string): Promise<Payout> {
  const deposits = await lockWithPayers(em, payoutId);
  const payout = await lockPayout(em, payoutId, 'paying');
  movePayout(deps, payout, 'failed', reason);
  await release(em, deps, deposits);
  await wakeAfterPayout(em, deps, payout);
  return payout;
}

/** A deposit that is settled may bring its payment link up to date: customers' locks come first. */
async function lockWithPayers(em: Em, payoutId: string): Promise<Deposit[]> {
  const payers = await rows(
    em,
    sql<{ customerId: string }>`select distinct customer_id from deposits where payout_id = ${payoutId}`,
  );
  await lockPayers(
    em,
    payers.map(({ customerId }) => customerId),
  );
  return await lockCovered(em, payoutId);
}
