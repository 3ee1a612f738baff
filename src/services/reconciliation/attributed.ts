import type { Deposit } from '../../db/entities/index.ts';
import { depositStart, workflowIdOf } from '../deposits/actor-message.ts';
import { unbindHeld } from '../deposits/held.ts';
import { recordDeposit } from '../deposits/record.ts';
import { applyTransition } from '../deposits/transition.ts';
import type { Deps } from '../deps.ts';
import { pick } from '../pick.ts';
import type { Tx } from '../transact.ts';

/** What of a deposit says whose money came where, and by which transaction. */
const WHERE = [
  'mode',
  'merchantId',
  'customerId',
  'network',
  'currency',
  'address',
  'addressKey',
  'transactionHash',
  'blockNumber',
] as const;

/** Whether the deposit's money was credited: then it is never rewritten. */
export function isClosed({ status }: Deposit): boolean {
  return status === 'completed' || status === 'settled';
}

type Lessening = { readonly deposit: Deposit; readonly units: bigint; readonly headNumber: number };

/**
 * Takes money from a deposit that is not completed and is locked by the caller's
 * transaction, because the money turned out to have come with another
 * transaction. A deposit that keeps nothing fails as REORGED: no block holds it.
 */
export async function lessen(tx: Tx, deps: Deps, { deposit, units, headNumber }: Lessening): Promise<void> {
  deps.log.warn(
    { depositId: deposit.id, units: units.toString() },
    'attributed money turned out to be that of another transaction',
  );
  if (units < deposit.amountUnits) {
    await rewrite(tx, deps, deposit, { amountUnits: deposit.amountUnits - units, headNumber });
    return;
  }
  if (deposit.status === 'failed') {
    await unbindHeld(tx.em, deps, deposit);
    return;
  }
  deposit.blockHash = null;
  deposit.verifiedAt = null;
  const reason = 'the money that was attributed to this transaction came with another one';
  const deliveries = await applyTransition(tx, deps, deposit, {
    to: 'failed',
    failureCode: 'REORGED',
    reason,
    headNumber,
  });
  // The running actor delivers them; this start is for a deposit whose actor had ended.
  await tx.enqueue(workflowIdOf(deposit), depositStart(deposit, deliveries));
}

/** Records the same transfer once more, with another amount: there is only one way to correct a deposit. */
async function rewrite(
  tx: Tx,
  deps: Deps,
  deposit: Deposit,
  { amountUnits, headNumber }: { readonly amountUnits: bigint; readonly headNumber: number },
): Promise<void> {
  await recordDeposit(tx, deps, {
    ...pick(deposit, WHERE),
    amountUnits,
    headNumber,
    fromAddress: null,
    blockHash: deposit.blockHash ?? null,
    minedAt: deposit.minedAt ?? deposit.detectedAt,
    price: undefined,
    simulated: false,
  });
  // Only blocks that were read twice are attributed to.
  deposit.verifiedAt = deps.now();
  await tx.em.flush();
}
