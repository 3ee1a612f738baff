// What a person can press for an actor in Temporal's Web
// UI or its command line, as the calls that these make.
import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle, WorkflowService } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { TemporalLink } from '../../src/temporal/client.ts';

export type Payload = { readonly metadata: Record<string, Uint8Array>; readonly data: Uint8Array };

/** A value as JSON, as both forms send it. */
export function json(value: unknown): Payload {
  return { ...defaultPayloadConverter.toPayload(value) } as Payload;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** Payloads that no converter of ours can read: another encoding, and malformed JSON. */
export const UNREADABLE: readonly Payload[] = [
  { metadata: { encoding: bytes('json/protobuf'), messageType: bytes('a.b.C') }, data: bytes('{}') },
  { metadata: { encoding: bytes('json/plain') }, data: bytes('{not json') },
];

/** Anything, as a person might type it. */
export const ANYTHING: readonly Payload[] = [
  ...[
    null,
    true,
    7,
    'text',
    '',
    [],
    {},
    [[]],
    { by: 1, reason: {} },
    { state: 'completed' },
    { deliveries: 'x' },
  ].map(json),
  json({ state: 'confirming', sequence: 'x', generation: 1, since: 'never', deliveries: [], note: '' }),
  json({ status: 'completed', since: new Date(0).toISOString(), deliveries: ['x'], note: '', waitMs: -1 }),
  json('x'.repeat(1024 * 1024)),
  ...UNREADABLE,
];

/** The buttons for one actor, by its workflow id. */
export function webUi(link: TemporalLink, workflowId: string) {
  const client: Client = link.client;
  const { namespace } = client.options;
  const service = client.workflowService;
  const workflowExecution = { workflowId };
  const handle = client.workflow.getHandle(workflowId);
  const events = async () => (await handle.fetchHistory()).events ?? [];
  return {
    handle,
    ...stepButtons(service, namespace, workflowId),
    ...shownOf(handle),
    requestCancellation: () => handle.cancel(),
    terminate: () => handle.terminate('pressed'),
    /** Every place that the Web UI offers to reset to. */
    resetPoints: async (): Promise<number[]> =>
      (await events())
        .filter((event) => event.workflowTaskCompletedEventAttributes)
        .map((event) => Number(event.eventId)),
    resetTo: async (point: number) =>
      await service.resetWorkflowExecution({
        namespace,
        workflowExecution,
        reason: 'pressed',
        requestId: randomUUID(),
        workflowTaskFinishEventId: point as never,
      }),
    pause: () =>
      service.pauseWorkflowExecution({
        namespace,
        workflowId,
        identity: 'test',
        reason: 'pressed',
        requestId: randomUUID(),
      }),
    /** Refused, without any change, when it is pressed a second time or somebody else has ended the pause. */
    unpause: () =>
      service
        .unpauseWorkflowExecution({
          namespace,
          workflowId,
          identity: 'test',
          reason: 'pressed',
          requestId: randomUUID(),
        })
        .catch((error: unknown) => {
          if (!String(error).includes('workflow is not paused')) throw error;
        }),
    signal: (signalName: string, payloads: readonly Payload[]) =>
      service.signalWorkflowExecution({
        namespace,
        workflowExecution,
        signalName,
        input: { payloads: [...payloads] },
      }),
    /** Returns what the update was refused with, or undefined. */
    update: async (name: string, payloads: readonly Payload[]): Promise<string | undefined> => {
      const request = {
        meta: { updateId: randomUUID(), identity: 'test' },
        input: { name, args: { payloads: [...payloads] } },
      };
      const answer = await service.updateWorkflowExecution({
        namespace,
        workflowExecution,
        request,
        waitPolicy: { lifecycleStage: 3 },
      });
      return answer.outcome?.failure?.message ?? undefined;
    },
  };
}

/** The buttons for a single step, by the id of its activity. */
function stepButtons(service: WorkflowService, namespace: string, workflowId: string) {
  return {
    pauseActivity: (id: string) =>
      service.pauseActivity({ namespace, execution: { workflowId }, identity: 'test', id }),
    unpauseActivity: (id: string) =>
      service.unpauseActivity({ namespace, execution: { workflowId }, identity: 'test', id }),
    resetActivity: (id: string) =>
      service.resetActivity({ namespace, execution: { workflowId }, identity: 'test', id }),
    completeActivity: (activityId: string, result: Payload | undefined) =>
      service.respondActivityTaskCompletedById({
        namespace,
        workflowId,
        activityId,
        identity: 'test',
        ...(result ? { result: { payloads: [result] } } : {}),
      }),
    failActivity: (activityId: string, message: string) =>
      service.respondActivityTaskFailedById({
        namespace,
        workflowId,
        activityId,
        identity: 'test',
        failure: {
          message,
          source: 'CLI',
          applicationFailureInfo: { type: 'CLI-Failure', nonRetryable: true },
        },
      }),
  };
}

/** What is shown of the actor without pressing a button. */
function shownOf(handle: WorkflowHandle) {
  return {
    /** The ids of the activities that wait or are under way. */
    pending: async (): Promise<string[]> =>
      ((await handle.describe()).raw.pendingActivities ?? []).map((activity) => String(activity.activityId)),
    status: async (): Promise<string> => (await handle.describe()).status.name,
    /** Whether the server shows that the actor's code fails again and again. */
    taskAttempts: async (): Promise<number> =>
      Number((await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0),
  };
}
