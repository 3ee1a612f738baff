import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { defineSearchAttributeKey, type Priority, type SearchAttributePair } from '@temporalio/common';
import { chainTaskQueue, WEBHOOK_TASK_QUEUE } from '../../workflows/timeouts.ts';
import { pause } from '../base/async/pause.ts';
import type { ActorAttributes, ActorMessage, ActorOwner } from '../domain/actor-message.ts';
import { type ActorPort, ActorRefused } from '../services/deps.ts';
import { type QueueBacklog, readBacklogs } from './backlog.ts';
import { hangs, runningOf } from './look-at-actors.ts';
import { connectionOptions, type TemporalPlace } from './place.ts';
import { createStartTurns } from './start-turns.ts';

/**
 * The queue of workflows and of the activities that work
 * on the database and the chain. Webhooks have their own.
 */
export const TASK_QUEUE = 'gateway';

const CALL_TIMEOUT_MS = 5_000;
const LIST_TIMEOUT_MS = 20_000;
const FIGURES_TIMEOUT_MS = 3_000;
/** A timer of Node may run this much before a longer one that was set earlier. */
const TIMER_SLACK_MS = 20;
/**
 * Temporal has five priorities, and the third is the usual one: work of test
 * mode is taken where no live task is left.
 */
const TEST_PRIORITY = 4;
/** The weight beside live work of the same priority, for an older server, which knows only the weight. */
const TEST_WEIGHT = 0.1;
/**
 * The one code by which Temporal says that the message itself can never be accepted: too large, an unknown
 * search attribute, a name that is missing. All others are about the server or the namespace: its store fails
 * (UNKNOWN, INTERNAL, DATA_LOSS), a shard moves (ABORTED), the namespace is passive or the versions do not
 * fit (FAILED_PRECONDITION, UNIMPLEMENTED). They pass, and the message is as good as before.
 */
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const MAX_SUMMARY = 200;

export type TemporalLink = {
  readonly client: Client;
  readonly actors: ActorPort;
  ping(): Promise<void>;
  /**
   * The backlog in the queues of the workers and of the watchers of these networks. Rejects
   * within a few seconds where Temporal is unreachable.
   */
  backlogs(networks: readonly string[]): Promise<QueueBacklog[]>;
  /** Waits for what the SDK is about to repeat, within seconds; calls that are open then fail. */
  close(): Promise<void>;
};

/**
 * A client that connects by itself whenever Temporal is there. It is made without a connection, so
 * this never fails because Temporal is unreachable.
 */
export function linkTemporal(place: TemporalPlace): TemporalLink {
  const repeats = createRepeats();
  const connection = Connection.lazy({
    ...connectionOptions(place),
    connectTimeout: CALL_TIMEOUT_MS,
    interceptors: [repeats.interceptor],
  });
  const client = new Client({ connection, namespace: place.namespace });
  const starts = createStartTurns();
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
  return {
    client,
    actors: {
      start: (workflowId, message, { maxWaitMs, replace } = {}) =>
        starts(
          message,
          () => within(() => startActor(client, workflowId, message, replace)),
          maxWaitMs,
        ).catch(sayRefused),
      wake: async (workflowId, activityId, otherwise) => {
        const woken = await within(() => wakeActivity(client, place.namespace, workflowId, activityId));
        if (!woken) await starts(otherwise, () => within(() => startActor(client, workflowId, otherwise)));
      },
      running: (workflowIds) =>
        client.withDeadline(Date.now() + LIST_TIMEOUT_MS, () => runningOf(client, workflowIds)),
      isUnresponsive: (workflowId) => within(() => hangs(client, place.namespace, workflowId)),
    },
    ping: async () => {
      await within(() => client.workflowService.describeNamespace({ namespace: place.namespace }));
    },
    backlogs: (networks) => {
      const queues = [
        { queue: TASK_QUEUE, kind: 'workflow' as const },
        { queue: TASK_QUEUE, kind: 'activity' as const },
        ...[WEBHOOK_TASK_QUEUE, ...networks.map(chainTaskQueue)].map((queue) => ({
          queue,
          kind: 'activity' as const,
        })),
      ];
      return client.withDeadline(Date.now() + FIGURES_TIMEOUT_MS, () =>
        readBacklogs(client, { namespace: place.namespace, queues, testPriority: TEST_PRIORITY }),
      );
    },
    close: async () => {
      await repeats.end();
      await connection.close();
    },
  };
}

/**
 * The SDK repeats a call from a timer. Where the connection was closed meanwhile, this timer throws
 * with nobody to catch it, and the process ends. So the last timer is waited for, and none follows.
 */
function createRepeats() {
  const usual = defaultGrpcRetryOptions();
  let ending = false;
  let lastAt = 0;
  return {
    interceptor: makeGrpcRetryInterceptor({
      retryableDecider: (attempt, status) => !ending && usual.retryableDecider(attempt, status),
      delayFunction: (attempt, status) => {
        const waitMs = usual.delayFunction(attempt, status);
        lastAt = Math.max(lastAt, performance.now() + waitMs);
        return waitMs;
      },
    }),
    async end(): Promise<void> {
      ending = true;
      await pause(Math.max(0, lastAt - performance.now()) + TIMER_SLACK_MS);
    },
  };
}

/**
 * Everything that the actor asks for has the same priority: activities inherit it. The key
 * is well below the 64 bytes that it may have.
 */
function priorityOf({ merchantId, mode }: ActorOwner): Priority {
  const fairnessKey = `${merchantId}:${mode}`;
  return mode === 'test'
    ? { fairnessKey, fairnessWeight: TEST_WEIGHT, priorityKey: TEST_PRIORITY }
    : { fairnessKey };
}

async function startActor(
  client: Client,
  workflowId: string,
  message: ActorMessage,
  replace = false,
): Promise<void> {
  const options: WorkflowStartOptions = {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [...message.args],
    // Every actor reads its row first, so a second run after the end
    // of the first is harmless, and a running one is left alone.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: replace ? 'TERMINATE_EXISTING' : 'USE_EXISTING',
    typedSearchAttributes: attributePairs(message.attributes ?? {}),
    memo: { ...message.memo },
    ...(message.summary ? { staticSummary: message.summary.slice(0, MAX_SUMMARY) } : {}),
    ...(message.owner ? { priority: priorityOf(message.owner) } : {}),
  };
  // A new actor reads its row in any case, and a signal would need one that already runs.
  if (message.signal && !replace) {
    await client.workflow.signalWithStart(message.workflowType, {
      ...options,
      signal: message.signal.name,
      signalArgs: [...message.signal.args],
    });
  } else {
    await client.workflow.start(message.workflowType, options);
  }
}

/**
 * False where the actor does not wait in this activity: it is elsewhere, or
 * gone. What an operator paused stays paused.
 */
async function wakeActivity(
  client: Client,
  namespace: string,
  workflowId: string,
  activityId: string,
): Promise<boolean> {
  try {
    const activity = { namespace, execution: { workflowId }, identity: 'gateway', id: activityId };
    await client.workflowService.resetActivity({ ...activity, keepPaused: true });
    return true;
  } catch (error) {
    if (codeOf(error) !== NOT_FOUND) throw error;
    return false;
  }
}

/**
 * A message that is refused for its content differs from a Temporal that is
 * unreachable: the first has an error of its own.
 */
function sayRefused(error: unknown): never {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (codeOf(cause) !== INVALID_ARGUMENT) throw error;
  throw new ActorRefused(cause instanceof Error ? cause.message : String(cause), { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The attributes that the server must know before the first actor starts, by name and type. */
export const SEARCH_ATTRIBUTES = {
  MerchantId: 'Keyword',
  Network: 'Keyword',
  DepositStage: 'Keyword',
  StageSince: 'Datetime',
  NeedsOperator: 'Bool',
} as const;

function attributePairs(attributes: ActorAttributes): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  if (attributes.MerchantId)
    pairs.push({ key: defineSearchAttributeKey('MerchantId', 'KEYWORD'), value: attributes.MerchantId });
  if (attributes.Network)
    pairs.push({ key: defineSearchAttributeKey('Network', 'KEYWORD'), value: attributes.Network });
  if (attributes.DepositStage)
    pairs.push({ key: defineSearchAttributeKey('DepositStage', 'KEYWORD'), value: attributes.DepositStage });
  if (attributes.StageSince)
    pairs.push({
      key: defineSearchAttributeKey('StageSince', 'DATETIME'),
      value: new Date(attributes.StageSince),
    });
  if (attributes.NeedsOperator !== undefined)
    pairs.push({ key: defineSearchAttributeKey('NeedsOperator', 'BOOL'), value: attributes.NeedsOperator });
  return pairs;
}
