import { LockMode } from '@mikro-orm/core';
import { ChainCursor, Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { RELEASABLE_CODES } from '../../domain/deposit.ts';
import { type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import { transact } from '../transact.ts';
import { openDeliveriesOf } from '../webhooks/open-deliveries.ts';
import { depositStart, depositWake, workflowIdOf } from './actor-message.ts';
import { type Decision, DecisionRefused, recordDecision, requireDecision } from './decisions.ts';
import { countReleased, giveBackMonthlyLimit } from './monthly-limit.ts';
import { currentPrice, freezePrice } from './price.ts';
import { applyTransition } from './transition.ts';

/**
 * Fails an open deposit as REJECTED_BY_OPERATOR, or withdraws a completed one whose finality broke
 * (its block was replaced) as REORGED. Returns every delivery of it that is not finished. Throws
 * {@link DecisionRefused}, also when the decision was not recorded before ({@link recordDecision}).
 */
export async function failDeposit(
  deps: Deps,
  decision: Decision,
): Promise<{ deposit: Deposit; deliveries: string[] }> {
  const { depositId, by, reason, generation } = decision;
  return await transact(deps, async (tx) => {
    const deposit = await lockWithPayer(tx.em, depositId);
    if (generation !== undefined && deposit.generation !== generation)
      throw new DecisionRefused(
        `deposit ${depositId} came back as generation ${deposit.generation}; look at it with "deposit show"`,
      );
    // The same decision once more: a repetition after a crash that came between the commit and its result.
    if (await isDecided(tx.em, deposit, { by, reason }))
      return { deposit, deliveries: await openDeliveriesOf(tx.em, deposit.id) };
    const refusal = refusalToFail(deposit);
    if (refusal) throw new DecisionRefused(refusal);
    await requireDecision(tx.em, deposit, decision);
    const cursor = await tx.em.findOne(ChainCursor, deposit.network);
    const wasCompleted = deposit.status === 'completed';
    const failureCode = wasCompleted ? 'REORGED' : 'REJECTED_BY_OPERATOR';
    if (wasCompleted) await giveBackMonthlyLimit(tx.em, deposit);
    const headNumber = cursor?.headNumber ?? null;
    const before = factsOf(deposit);
    await applyTransition(tx, deps, deposit, { to: 'failed', failureCode, reason, by, headNumber });
    await record(tx.em, deps, 'deposit.fail', { deposit, by, reason, before });
    const deliveries = await openDeliveriesOf(tx.em, deposit.id);
    // The actor may have ended, or be about to: this starts it or tells it, as needed.
    await tx.enqueue(workflowIdOf(deposit), depositWake(deposit));
    return { deposit, deliveries };
  });
}

/**
 * Records the decision and carries it out without the deposit's
 * actor. Otherwise it works as {@link failDeposit} does.
 */
export async function decideToFail(deps: Deps, decision: Decision): ReturnType<typeof failDeposit> {
  await recordDecision(deps, decision);
  return await failDeposit(deps, decision);
}

/** The deposit, locked after its customer: the decision may take it from a payment link or give it one. */
async function lockWithPayer(em: Em, depositId: string): Promise<Deposit> {
  const known = await firstRow(
    em,
    sql<{ customerId: string }>`select customer_id from deposits where id = ${depositId}`,
  );
  if (!known) throw new DecisionRefused(`there is no deposit ${depositId}; list them with "deposit list"`);
  await lockPayers(em, [known.customerId]);
  return await em.findOneOrFail(Deposit, depositId, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

async function isDecided(
  em: Em,
  deposit: Deposit,
  decision: { by: string; reason: string },
): Promise<boolean> {
  if (deposit.status !== 'failed') return false;
  const decided = await firstRow(
    em,
    sql`select 1 from deposit_transitions
     where deposit_id = ${deposit.id} and sequence = ${deposit.sequence} and by_name = ${decision.by}
       and reason = ${decision.reason}`,
  );
  return decided !== undefined;
}

/**
 * Why a deposit cannot be failed by hand now, or undefined when it can. The actor's validator asks the same.
 */
export function refusalToFail(
  deposit: Pick<Deposit, 'id' | 'status' | 'blockHash' | 'simulated' | 'payoutId'>,
): string | undefined {
  if (deposit.simulated)
    return `deposit ${deposit.id} is simulated and stays as it is; simulate another one with the outcome you need`;
  if (deposit.status === 'failed')
    return `deposit ${deposit.id} has failed already; look at it with "deposit show"`;
  if (deposit.status === 'settled')
    return `deposit ${deposit.id} is settled: the money has left; nothing can be failed any more`;
  if (deposit.status === 'completed' && deposit.blockHash != null) {
    if (deposit.payoutId != null)
      return `deposit ${deposit.id} is completed, its block is still in the chain, and payout ${deposit.payoutId} pays it out; only a completed deposit whose block was replaced can be failed`;
    return `deposit ${deposit.id} is completed and its block is still in the chain; only a completed deposit whose block was replaced can be failed`;
  }
  if (deposit.payoutId != null)
    return `deposit ${deposit.id} is part of payout ${deposit.payoutId}, which is not over; its money may be on its way already. Try again once the payout has failed or is cancelled`;
  return undefined;
}

/**
 * Releases a failed deposit whose money did arrive: `failed → completed` in
 * a new generation with a new actor. Throws {@link DecisionRefused} for
 * REORGED, for a transfer that is not final, and for a coin without a price.
 */
export async function releaseDeposit(deps: Deps, { depositId, by, reason }: Decision): Promise<Deposit> {
  const found = await deps.orm.em.fork().findOne(Deposit, depositId);
  const price = found && found.rateUnits == null ? await currentPrice(deps, found.currency) : undefined;
  return await transact(deps, async (tx) => {
    const deposit = await lockWithPayer(tx.em, depositId);
    const cursor = await tx.em.findOne(ChainCursor, deposit.network);
    const refusal = refusalToRelease(deposit, cursor?.verifiedNumber ?? -1);
    if (refusal) throw new DecisionRefused(refusal);
    freezePrice(deposit, price);
    if (deposit.rateUnits == null)
      throw new DecisionRefused(
        `there is no price for ${deposit.currency} yet; try again when the price source answers`,
      );
    await countReleased(tx.em, deposit);
    const before = factsOf(deposit);
    const headNumber = cursor?.headNumber ?? null;
    const deliveries = await applyTransition(tx, deps, deposit, { to: 'completed', reason, by, headNumber });
    await record(tx.em, deps, 'deposit.release', { deposit, by, reason, before });
    await tx.enqueue(workflowIdOf(deposit), depositStart(deposit, deliveries));
    return deposit;
  });
}

type Decided = {
  readonly deposit: Deposit;
  readonly by: string;
  readonly reason: string;
  readonly before: Facts;
};

/** When the deposit's actor carries the decision out, it is no longer known where it came from. */
async function record(
  em: Em,
  deps: Deps,
  action: 'deposit.fail' | 'deposit.release',
  decided: Decided,
): Promise<void> {
  const { deposit, by, reason, before } = decided;
  const { merchantId, mode, id: subject } = deposit;
  const actor = { kind: 'operator', name: by, from: deps.actor?.from ?? null } as const;
  await recordAction(
    em,
    { ...deps, actor },
    { action, merchantId, mode, subject, before, after: factsOf(deposit), reason },
  );
}

function factsOf({ status, failureCode }: Deposit): Facts {
  return { status, failure_code: failureCode ?? null };
}

function refusalToRelease(deposit: Deposit, verifiedNumber: number): string | undefined {
  if (deposit.status !== 'failed')
    return `deposit ${deposit.id} is ${deposit.status}, not failed; there is nothing to release`;
  if (deposit.failureCode == null || !RELEASABLE_CODES.includes(deposit.failureCode)) {
    return `deposit ${deposit.id} failed as ${deposit.failureCode}: its money is not on the chain; it comes back by itself when it is mined again`;
  }
  if (deposit.simulated) return undefined;
  if (deposit.blockHash == null)
    return `block ${deposit.blockNumber}, which held the transfer of deposit ${deposit.id}, was replaced: nothing is there to release; try again when the transaction is mined again`;
  if (deposit.verifiedAt == null || verifiedNumber < deposit.blockNumber) {
    return `deposit ${deposit.id} is not final yet (block ${deposit.blockNumber}, final and read twice up to ${verifiedNumber}); try again in a minute`;
  }
  return undefined;
}
