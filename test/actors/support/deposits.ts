// Deposits of a running gateway, as an operator meets them.
import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Json, LiveMoney } from '../../../dev/support/live-money.ts';
import { recordDecision } from '../../../src/services/deposits/decisions.ts';

type Paid = { readonly hash: string; readonly actor: WorkflowHandle };
type Command = { readonly by: string; readonly reason: string };

/** What is paid, looked up and decided. The gateway may start later than this is called. */
export function depositsOf(live: () => LiveMoney) {
  const rowOf = async (hash: string): Promise<Json> => (await live().deposits(hash))[0] ?? {};
  const actorOf = async (hash: string, generation = ''): Promise<WorkflowHandle> => {
    const client = live().gateway.gateway.link?.client;
    if (!client) throw new Error('no client');
    return client.workflow.getHandle(
      `deposit:bsc:${hash}:${String((await rowOf(hash))['address'])}:USDT${generation}`,
    );
  };
  return {
    rowOf,
    actorOf,
    /** Pays, mines the block and waits until the deposit is announced. */
    pay: async (amountUnits: bigint, to = live().address): Promise<Paid> => {
      const hash = await live().chain.usdt.call('transfer', [to, amountUnits]);
      await live().chain.mine();
      await live().eventOf('deposit.detected', hash);
      return { hash, actor: await actorOf(hash) };
    },
    balance: async (account: string): Promise<bigint> => (await live().ledger())[account] ?? 0n,
    /** As the command line asks: the decision is a row first. */
    fail: async ({ hash, actor }: Paid, command: Command): Promise<string> => {
      const depositId = String((await rowOf(hash))['id']);
      await recordDecision(live().gateway.deps, { depositId, ...command });
      return await type(actor, command);
    },
    /**
     * Makes the watcher's cursor say that the chain stands still
     * for an hour, until the deposit has gone to sleep for long.
     */
    putToSleep: async (hash: string, actor: WorkflowHandle): Promise<void> => {
      await eventually(
        'a long sleep',
        async () => {
          await live()
            .gateway.deps.orm.em.fork()
            .execute(
              `update chain_cursors set moved_at = now() - interval '1 hour',
                finalized_moved_at = now() - interval '1 hour'`,
            );
          const { dueInMs, reason } = await waitingFor(actor);
          return (
            (await rowOf(hash))['wake_at'] != null &&
            dueInMs > 45_000 &&
            /stands at block \d+ for \d+ s/.test(reason)
          );
        },
        45_000,
      );
    },
  };
}

/** The update alone, as somebody types it in Temporal's Web UI. */
export async function type(actor: WorkflowHandle, command: Command): Promise<string> {
  return await actor.executeUpdate<string, [Command]>('fail', { args: [command] });
}

/** Of an actor; undefined where there is none. */
export async function statusOf(actor: WorkflowHandle) {
  return (await actor.describe().catch(() => undefined))?.status.name;
}

/** The message of the refused update. Fails when it was not refused by the actor. */
export async function refusalOf(update: Promise<unknown>): Promise<string> {
  try {
    await update;
  } catch (error) {
    expect(error).to.be.instanceOf(WorkflowUpdateFailedError);
    const { cause } = error as WorkflowUpdateFailedError;
    return String((cause?.cause instanceof Error ? cause.cause : cause)?.message);
  }
  throw new Error('the update was not refused');
}

/** What the Web UI shows for the step in which the actor waits. */
export async function waitingFor(actor: WorkflowHandle): Promise<{ reason: string; dueInMs: number }> {
  const { raw } = await actor.describe();
  const step = raw.pendingActivities?.find((activity) => activity.activityId?.startsWith('advance:'));
  const due = step?.nextAttemptScheduleTime;
  return {
    reason: step?.lastFailure?.message ?? '',
    dueInMs: due ? Number(due.seconds) * 1_000 - Date.now() : 0,
  };
}
