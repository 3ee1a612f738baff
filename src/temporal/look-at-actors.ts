import type { Client } from '@temporalio/client';

const IDS_AT_A_TIME = 100;
const NOT_FOUND = 5;
/**
 * A worker that dies causes a second try of the task; a task that is tried again after that fails by itself.
 */
const FAILING_TRIES = 3;
const RUNNING = 1;
const PAUSED = 8;
/** A task that no worker has taken: the number that the field has for it. */
const TASK_SCHEDULED = 1;
const TASK_SCHEDULED_EVENT = 5;
const UNPAUSED_EVENT = 59;
const EVENTS_AT_A_TIME = 100;
/** A waiting task is not followed by more events than this, unless somebody floods the actor with signals. */
const EVENTS_LOOKED_AT = 2_000;

/**
 * Which of these actors run, according to visibility: an actor that has just started
 * or ended may still be reported as before.
 */
export async function runningOf(
  client: Client,
  workflowIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  for (let from = 0; from < workflowIds.length; from += IDS_AT_A_TIME) {
    const ids = workflowIds.slice(from, from + IDS_AT_A_TIME).map((id) => `'${id}'`);
    const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${ids.join(', ')})`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: IDS_AT_A_TIME }))
      running.add(workflowId);
  }
  return running;
}

/**
 * Whether an actor exists and cannot go on: its code fails again and again (after an upgrade, say), it
 * is paused as a whole, or the server lost track of it. Up to 1.31.2 the server forgets the task that
 * waits while somebody presses Pause and Unpause, and makes no other (temporalio/temporal#10980); and
 * where a task is under way at a Pause it calls the actor running, but holds its activities and knows
 * of nothing to unpause (temporalio/temporal#10239).
 */
export async function hangs(client: Client, namespace: string, workflowId: string): Promise<boolean> {
  try {
    const found = await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    const status: number | null | undefined = found.workflowExecutionInfo?.status;
    if (status === PAUSED || (status === RUNNING && found.workflowExtendedInfo?.pauseInfo)) return true;
    if (status !== RUNNING || !found.pendingWorkflowTask) return false;
    const { attempt, state } = found.pendingWorkflowTask;
    if ((attempt ?? 0) >= FAILING_TRIES) return true;
    return Number(state) === TASK_SCHEDULED && (await wasUnpausedSinceItsTask(client, namespace, workflowId));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return false;
    throw error;
  }
}

/** A task that waits for a worker looks the same from outside, so the order of the events decides. */
async function wasUnpausedSinceItsTask(
  client: Client,
  namespace: string,
  workflowId: string,
): Promise<boolean> {
  let nextPageToken = new Uint8Array();
  for (let looked = 0; looked < EVENTS_LOOKED_AT; looked += EVENTS_AT_A_TIME) {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution: { workflowId },
      maximumPageSize: EVENTS_AT_A_TIME,
      nextPageToken,
    });
    for (const { eventType } of page.history?.events ?? []) {
      if (Number(eventType) === UNPAUSED_EVENT) return true;
      if (Number(eventType) === TASK_SCHEDULED_EVENT) return false;
    }
    nextPageToken = page.nextPageToken as typeof nextPageToken;
    if (!nextPageToken?.length) return false;
  }
  return false;
}
