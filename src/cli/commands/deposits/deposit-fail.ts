import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { OperatorError } from '../../../base/errors.ts';
import { reasonOf } from '../../../base/reason.ts';
import { Deposit } from '../../../db/entities/index.ts';
import { WAITING_STATES } from '../../../domain/deposit.ts';
import { isUuid } from '../../../domain/ids.ts';
import { depositWake, workflowIdOf } from '../../../services/deposits/actor-message.ts';
import { type Decision, DecisionRefused, recordDecision } from '../../../services/deposits/decisions.ts';
import { decideToFail, refusalToFail } from '../../../services/deposits/operator.ts';
import type { Deps } from '../../../services/deps.ts';
import { type CommandGateway, requireTemporal } from '../../process.ts';

const UPDATE_WITHIN_MS = 10_000;

export type Failed = {
  readonly deposit_id: string;
  readonly status: string;
  readonly failure_code: string | null;
};

/**
 * Fails a deposit by an operator's decision. An open deposit is failed through its actor, which may be in the
 * middle of a step. Where no actor runs, or the deposit is completed already, the row is changed directly and
 * the outbox starts what has to follow. The same happens where the actor cannot answer, because it is paused
 * or its code fails; a new one takes its place. The decision is written down first.
 */
export async function failByOperator(gateway: CommandGateway, decision: Decision): Promise<Failed> {
  const { deps } = gateway;
  const before = await requireDeposit(deps, decision.depositId);
  const refusal = refusalToFail(before);
  if (refusal) throw new DecisionRefused(refusal);
  const asked = WAITING_STATES.includes(before.status)
    ? await askActor(gateway, workflowIdOf(before), decision)
    : 'none runs';
  if (asked !== 'done') await decideToFail(deps, decision);
  const after = await requireDeposit(deps, decision.depositId);
  if (asked === 'it hangs') await replaceActor(gateway, after);
  return { deposit_id: after.id, status: after.status, failure_code: after.failureCode ?? null };
}

/**
 * This only makes sure that no actor is left behind that never ends: the decision is in the
 * row, and what is to be sent is in the outbox.
 */
async function replaceActor({ deps }: CommandGateway, deposit: Deposit): Promise<void> {
  const workflowId = workflowIdOf(deposit);
  await deps.actors
    ?.start(workflowId, depositWake(deposit), { replace: true })
    .catch((error: unknown) =>
      deps.log.warn({ err: error, workflowId }, 'the actor of a failed deposit could not be replaced'),
    );
}

/** Throws a refusal with the actor's own words, or one that says that nothing answers. */
async function askActor(
  gateway: CommandGateway,
  workflowId: string,
  decision: Decision,
): Promise<'done' | 'none runs' | 'it hangs'> {
  const { temporal } = gateway;
  const { by, reason } = decision;
  if (!temporal) {
    throw new OperatorError(
      'An open deposit is failed through its actor, and there is no Temporal to ask',
      'Run "gateway start", or set TEMPORAL_ADDRESS, and try again',
    );
  }
  await requireTemporal(temporal);
  const { client, actors } = temporal.link;
  try {
    if (await actors.isUnresponsive(workflowId)) return 'it hangs';
    // A decision that is asked of an actor counts only with its row.
    await recordDecision(gateway.deps, decision);
    const handle = client.workflow.getHandle(workflowId);
    await client.withDeadline(Date.now() + UPDATE_WITHIN_MS, () =>
      handle.executeUpdate('fail', { args: [{ by, reason }] }),
    );
    return 'done';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'none runs';
    if (error instanceof WorkflowUpdateFailedError)
      throw new OperatorError(reasonOf(innermost(error)), 'Look at it with "gateway deposit show"', {
        cause: error,
      });
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcServiceError(error)) {
      throw new OperatorError(
        `The deposit's actor did not answer within ${UPDATE_WITHIN_MS / 1_000} s, and may still do it`,
        'See that a worker runs ("gateway doctor"), then look with "gateway deposit show" before you try again',
        { cause: error },
      );
    }
    throw error;
  }
}

/** The actor's own words are the innermost cause: update, activity and refusal wrap one another. */
function innermost(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < 8 && inner instanceof Error && inner.cause !== undefined; depth += 1)
    inner = inner.cause;
  return inner;
}

/** The deposit's row, or a refusal that says how to find the right id. */
export async function requireDeposit(deps: Deps, id: string): Promise<Deposit> {
  const deposit = isUuid(id) ? await deps.orm.em.fork().findOne(Deposit, id) : null;
  if (!deposit)
    throw new OperatorError(
      `There is no deposit ${id.slice(0, 100)}`,
      'List them with "gateway deposit list"',
    );
  return deposit;
}
