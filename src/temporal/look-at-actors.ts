import type { Client } from '@temporalio/client';

const IDS_AT_A_TIME = 100;
const NOT_FOUND = 5;
/** A worker that dies makes the task be tried a second time; one that is tried again after that fails by itself. */
const FAILING_TRIES = 3;
const RUNNING = 1;
const PAUSED = 8;

/** Which of these actors run. As visibility has it: one that has just started or ended may be told as before. */
export async function runningOf(client: Client, workflowIds: readonly string[]): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  for (let from = 0; from < workflowIds.length; from += IDS_AT_A_TIME) {
    const ids = workflowIds.slice(from, from + IDS_AT_A_TIME).map((id) => `'${id}'`);
    const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${ids.join(', ')})`;
    for await (const { workflowId } of client.workflow.list({ query, pageSize: IDS_AT_A_TIME })) running.add(workflowId);
  }
  return running;
}

/** Whether an actor is there and cannot go on: its code fails again and again (after an upgrade, say), or it is paused as a whole. */
export async function hangs(client: Client, namespace: string, workflowId: string): Promise<boolean> {
  try {
    const found = await client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
    const status: number | null | undefined = found.workflowExecutionInfo?.status;
    if (status === PAUSED) return true;
    return status === RUNNING && (found.pendingWorkflowTask?.attempt ?? 0) >= FAILING_TRIES;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return false;
    throw error;
  }
}
