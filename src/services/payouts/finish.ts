// How a payout ends: what final blocks show of its transactions, and nothing else, decides it.
import { addressKeyOf } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import { type Deposit, type Payout, SentTransaction, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { assetOf } from '../../domain/assets.ts';
import { settledParts } from '../../domain/settlement.ts';
import { depositWake, workflowIdOf } from '../deposits/actor-message.ts';
import { applyTransitions } from '../deposits/transition.ts';
import type { TxDeps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import type { Tx } from '../transact.ts';
import { createPayout, lockCovered, lockPayout, movePayout, release } from './plan.ts';
import { wakeAddress } from './wakes.ts';

/**
 * Settles a payout whose transaction is final and succeeded, in the caller's transaction: the payout, its
 * deposits with their parts, postings, events, deliveries and the news to their actors. The address's own
 * actor is told nothing: this is a step of it, after which it looks again. `headNumber` is the head of the
 * chain, from which the events' confirmations are shown; `hold` is called once everything is locked. Throws
 * where it is not paying, or no such transaction has moved what was signed; nothing was changed then.
 */
export async function settlePayout(
  tx: Tx,
  deps: TxDeps,
  { payoutId, headNumber, hold }: Ending & { readonly headNumber: number | null },
): Promise<readonly Deposit[]> {
  const { em } = tx;
  const deposits = await lockWithPayers(em, payoutId);
  await hold?.();
  const payout = await lockPayout(em, payoutId, 'paying');
  const sent = await em.find(SentTransaction, { payoutId, blockHash: { $ne: null } });
  const paid = sent.find(({ purpose, state, ok }) => purpose === 'payout' && state === 'final' && ok);
  const netUnits = paid ? arrivedUnits(payout, paid) : 0n;
  if (!paid || netUnits !== paid.amountUnits)
    throw new Error(`no final transaction of payout ${payoutId} has paid what was signed`);
  await settleBy(tx, deps, { payout, deposits, paid, netUnits, headNumber });
  return deposits;
}

/** `hold` makes sure, once its rows are locked, that it is still to end so. */
type Ending = { readonly payoutId: string; readonly hold?: () => Promise<unknown> };

/** What a transaction brought to the destination of a payout, as blocks show it. */
export function arrivedUnits(
  { network, destination, currency }: Payout,
  { moves }: Pick<SentTransaction, 'moves'>,
): bigint {
  const key = addressKeyOf(network, destination);
  const there = (moves ?? []).filter(
    (move) => move.currency === currency && addressKeyOf(network, move.to) === key,
  );
  return there.reduce((sum, { units }) => sum + BigInt(units), 0n);
}

/**
 * Settles a payout, which the caller holds locked after its deposits, by a transaction that brought so much
 * to its destination. What a token's deposits are more than that goes to `fees`.
 */
export async function settleBy(
  tx: Tx,
  deps: TxDeps,
  by: {
    readonly payout: Payout;
    readonly deposits: readonly Deposit[];
    readonly paid: Pick<SentTransaction, 'hash'>;
    readonly netUnits: bigint;
    readonly headNumber: number | null;
  },
): Promise<void> {
  const { payout, deposits, paid, netUnits, headNumber } = by;
  const paysOwnFee = assetOf(payout.network, payout.currency).kind === 'native';
  const sent = await tx.em.find(SentTransaction, { payoutId: payout.id, blockHash: { $ne: null } });
  const feeUnits = paysOwnFee
    ? payout.grossUnits - netUnits
    : sent.reduce((sum, one) => sum + (one.feeUnits ?? 0n), 0n);
  Object.assign(payout, { netUnits, feeUnits, transactionHash: paid.hash, settledAt: deps.now() });
  movePayout(deps, payout, 'settled');
  const amounts = deposits.map(({ amountUnits }) => amountUnits);
  const parts = settledParts({ amounts, netUnits, feeUnits, paysOwnFee });
  await settleDeposits(tx, deps, deposits, parts, headNumber);
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
 * Ends a payout of which no transaction can succeed any more: its deposits are free for another one. `hold`
 * is called once everything is locked. Throws where it is not paying.
 */
export async function failPayout(
  em: Em,
  deps: TxDeps,
  { payoutId, reason, hold }: Ending & { readonly reason: string },
): Promise<Payout> {
  const deposits = await lockWithPayers(em, payoutId);
  await hold?.();
  const payout = await lockPayout(em, payoutId, 'paying');
  movePayout(deps, payout, 'failed', reason);
  await release(em, deps, deposits);
  await wakeAddress(em, deps, payout);
  return payout;
}

/** A deposit that is settled may bring its payment link up to date: customers' locks come first. */
export async function lockWithPayers(em: Em, payoutId: string): Promise<Deposit[]> {
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

/**
 * Gives a simulated deposit, which is about to be settled, a payout of its own: the same row as live money
 * has, without a chain. It costs a fixed fee; a coin that is worth less than the fee pays none.
 */
export async function simulatePayout(
  em: Em,
  deps: TxDeps,
  deposit: Deposit,
  transactionHash: string,
): Promise<void> {
  const { merchantId, network, currency, amountUnits: grossUnits } = deposit;
  const wanted = await em.findOne(WithdrawAddress, { merchantId, network });
  const paysOwnFee = assetOf(network, currency).kind === 'native';
  const { simulatedPayout } = chainOf(network);
  const feeUnits = paysOwnFee && grossUnits <= simulatedPayout.feeUnits ? 0n : simulatedPayout.feeUnits;
  const netUnits = paysOwnFee ? grossUnits - feeUnits : grossUnits;
  const payout = createPayout(em, deps, deposit, {
    id: deps.newId(),
    destination: wanted?.address ?? simulatedPayout.destination,
    grossUnits,
    netUnits,
    feeUnits,
    transactionHash,
    simulated: true,
    state: 'settled',
    settledAt: deps.now(),
  });
  // The payout is written before its deposit: the database asks it whether the deposit may be settled.
  await em.flush();
  const [part] = settledParts({ amounts: [grossUnits], netUnits, feeUnits, paysOwnFee });
  Object.assign(deposit, {
    payoutId: payout.id,
    settledUnits: part?.settledUnits ?? null,
    settlementFeeUnits: part?.feeUnits ?? null,
  });
}
