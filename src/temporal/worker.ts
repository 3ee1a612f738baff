import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import { WEBHOOK_TASK_QUEUE } from '../../workflows/timeouts.ts';
import type { Log } from '../services/deps.ts';
import { TASK_QUEUE, type TemporalPlace } from './client.ts';
import { workflowBundle } from './workflow-bundle.ts';

export type RunningWorker = {
  /** Settles when the worker ends: after `stop`, or with an error when it cannot go on. */
  readonly finished: Promise<void>;
  /** Stops polling, lets activities finish and closes the connection. */
  stop(): Promise<void>;
};

const CONNECT_RETRY_MS = 1_000;
/** How workflows and their steps are worked on. Steps at the same time about as many as database connections: more would only queue for them. */
export const CORE_TUNING = {
  maxCachedWorkflows: 1_500,
  maxConcurrentActivityTaskExecutions: 30,
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
} as const;
/** How webhooks are worked on: most of their time they wait for receivers. */
export const WEBHOOK_TUNING = {
  maxConcurrentActivityTaskExecutions: 300,
  activityTaskPollerBehavior: { type: 'autoscaling' },
} as const;
/** Longer than a webhook's attempt with its record, so that a shutdown cuts none off. */
const GRACE_MS = 16_000;

let runtimeInstalled = false;

/** Sends the SDK's own log to ours. Once in a process: the runtime of the SDK is global by its nature. */
function installRuntime(log: Log): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const fields = { component: 'temporal', ...(meta ? { detail: String(meta['error'] ?? meta['failure'] ?? '') } : {}) };
    if (level === 'ERROR') log.error(fields, message);
    else log.warn(fields, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

/**
 * Runs the workers of this process: workflows with database and chain activities on one queue, webhooks on their own. Waits for Temporal
 * as long as it takes, and reconnects by itself after an absence.
 */
export async function runWorker(input: {
  place: TemporalPlace;
  deps: ActivityDeps;
  signal: AbortSignal;
  log: Log;
}): Promise<RunningWorker> {
  installRuntime(input.log);
  const bundle = await workflowBundle();
  const connection = await connectWhenThere(input.place, input.signal, input.log);
  const activities = createActivities(input.deps);
  const common = { connection, namespace: input.place.namespace, shutdownGraceTime: GRACE_MS, shutdownForceTime: GRACE_MS + 5_000 };
  const core = await Worker.create({
    ...common,
    taskQueue: TASK_QUEUE,
    workflowBundle: bundle,
    activities,
    ...CORE_TUNING,
  });
  const hooks = await Worker.create({
    ...common,
    taskQueue: WEBHOOK_TASK_QUEUE,
    activities: { deliverWebhook: activities.deliverWebhook },
    ...WEBHOOK_TUNING,
  });
  const finished = Promise.all([core.run(), hooks.run()]).then(() => connection.close());
  return {
    finished,
    stop: async () => {
      for (const worker of [core, hooks]) if (worker.getState() === 'RUNNING') worker.shutdown();
      await finished;
    },
  };
}

async function connectWhenThere(place: TemporalPlace, signal: AbortSignal, log: Log): Promise<NativeConnection> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await NativeConnection.connect({ address: place.address });
    } catch (error) {
      if (tries % 10 === 1) log.warn({ err: error, address: place.address }, 'Temporal does not answer; waiting for it');
      await new Promise((resolve) => setTimeout(resolve, CONNECT_RETRY_MS));
    }
  }
}
