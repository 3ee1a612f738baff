import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

const STAGE = { name: 'DepositStage', type: 'KEYWORD' } as const;
const SINCE = { name: 'StageSince', type: 'DATETIME' } as const;
const NEEDS = { name: 'NeedsOperator', type: 'BOOL' } as const;

/** Shows the stage in lists and filters of the Web UI. One history event. */
export function showStage(stage: string, sinceIso: string): void {
  upsertSearchAttributes([
    { key: STAGE, value: stage },
    { key: SINCE, value: new Date(sinceIso) },
    { key: NEEDS, value: false },
  ]);
}

/** Marks or unmarks the actor as one that waits for a person. */
export function showNeedsOperator(value: boolean): void {
  upsertSearchAttributes([{ key: NEEDS, value }]);
}

/** Whether the run before this one has marked it so. */
export function showsNeedsOperator(): boolean {
  return workflowInfo().typedSearchAttributes.get(NEEDS) === true;
}
