import type { Deposit } from '../../db/entities/index.ts';
import type { ActorMessage, DepositActorInput } from '../../domain/actor-message.ts';
import { assetOf } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { depositWorkflowId, ROW_CHANGED } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';

/** The id of the actor that carries this generation of the deposit. */
export function workflowIdOf(deposit: Deposit): string {
  const { network, currency, generation } = deposit;
  return depositWorkflowId({
    network,
    currency,
    generation,
    txHash: deposit.transactionHash,
    address: deposit.address,
  });
}

/**
 * The start of a deposit's actor, with everything that an operator sees in a list: summary, memo, attributes.
 */
export function depositStart(deposit: Deposit, deliveries: readonly string[]): ActorMessage {
  return messageTo(deposit, { deliveries, sequence: deposit.sequence });
}

/**
 * Tells the actor of this generation that the row has changed; one that has ended is started
 * again. Whatever it is doing, it reads the row once more and sends what is still to be sent.
 */
export function depositWake(deposit: Deposit): ActorMessage {
  return { ...messageTo(deposit, { deliveries: [], sequence: 0 }), signal: { name: ROW_CHANGED, args: [] } };
}

function messageTo(
  deposit: Deposit,
  knows: Pick<DepositActorInput, 'deliveries' | 'sequence'>,
): ActorMessage {
  const amount = formatUnits(deposit.amountUnits, assetOf(deposit.network, deposit.currency).decimals);
  const { id: depositId, status: state, generation, simulated: rests } = deposit;
  const input: DepositActorInput = { depositId, state, generation, rests, ...knows };
  return {
    workflowType: 'deposit',
    args: [input],
    attributes: {
      MerchantId: deposit.merchantId,
      Network: deposit.network,
      DepositStage: deposit.status,
      StageSince: isoSeconds(deposit.stateSince),
      NeedsOperator: false,
    },
    memo: {
      deposit_id: deposit.id,
      transaction_hash: deposit.transactionHash,
      address: deposit.address,
      amount: `${amount} ${deposit.currency}`,
    },
    summary: `${amount} ${deposit.currency} on ${deposit.network}${deposit.mode === 'test' ? ' (test mode)' : ''}`,
    owner: { merchantId: deposit.merchantId, mode: deposit.mode },
  };
}
