import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { type ActivityDeps, createActivities } from '../../activities/index.ts';
import { chainTaskQueue, WEBHOOK_TASK_QUEUE } from '../../workflows/timeouts.ts';
import { pause } from '../base/async/pause.ts';
import { outageOf } from '../base/outage-of.ts';
import { reasonOf } from '../base/reason.ts';
import type { Logger } from '../services/deps.ts';
import { TASK_QUEUE } from './client.ts';
import { connectionOptions, type TemporalPlace } from './place.ts';
import { workflowBundle } from './workflow-bundle.ts';

export type RunningWorker = {
  /** Settles when the worker ends: after `stop`, or with an error when it cannot go on. */
  readonly finished: Promise<void>;
  /** Stops polling, lets activities finish and closes the connection. */
  stop(): Promise<void>;
};

const CONNECT_RETRY_MS = 1_000;
const GRPC_UNAVAILABLE = 14;
const CACHED_WORKFLOWS = 1_500;
/**
 * How many steps of deposits run at the same time: as many as they have connections
 * (src/app/pools.ts), so none waits for one.
 */
const CONCURRENT_STEPS = 20;
/** Webhooks at the same time; most of their time they wait for receivers. */
const CONCURRENT_WEBHOOKS = 300;
/** Longer than a webhook's attempt with its record, so that a shutdown cuts none off. */
const GRACE_MS = 16_000;

/** Said of the workers of webhooks and watchers, which are made to have none. */
const NO_WORKFLOWS = 'No workflows registered';

let runtimeInstalled = false;

/**
 * Sends the SDK's own log to ours. Done once in a process: the runtime of the SDK is global by its nature.
 */
function installRuntime(log: Logger): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (message.startsWith(NO_WORKFLOWS)) return;
    const detail = meta ? String(meta['error'] ?? meta['failure'] ?? '') : '';
    const fields = outageOf(meta?.['error']) ? { err: meta?.['error'] } : meta ? { detail } : {};
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
 * Runs the workers of this process: workflows with database and chain activities on one queue, webhooks on
 * their own. Waits for Temporal as long as it takes, and reconnects by itself after an outage.
 */
export async function runWorker(input: {
  place: TemporalPlace;
  deps: ActivityDeps;
  signal: AbortSignal;
  log: Logger;
}): Promise<RunningWorker> {
  installRuntime(input.log);
  const connection = await connectWhenThere(input.place, input.signal, input.log);
  const activities = createActivities(input.deps);
  const common = {
    connection,
    namespace: input.place.namespace,
    shutdownGraceTime: GRACE_MS,
    shutdownForceTime: GRACE_MS + 5_000,
  };
  const workers = [
    ...(await createWorkers(common, activities)),
    ...(await createWatchers(common, activities, [...input.deps.chains.keys()])),
  ];
  const finished = Promise.all(workers.map((worker) => worker.run())).then(() => connection.close());
  return {
    finished,
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await finished;
    },
  };
}

/**
 * Makes the worker of workflows and their steps, and the one of
 * webhooks, over one connection. They do nothing before `run`.
 */
export async function createWorkers(
  common: Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'shutdownForceTime'>,
  activities: { readonly deliverWebhook: (...input: never[]) => Promise<unknown> },
): Promise<readonly Worker[]> {
  const core = await Worker.create({
    ...common,
    taskQueue: TASK_QUEUE,
    workflowBundle: await workflowBundle(),
    activities,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentActivityTaskExecutions: CONCURRENT_STEPS,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  });
  const webhooks = await Worker.create({
    ...common,
    taskQueue: WEBHOOK_TASK_QUEUE,
    activities: { deliverWebhook: activities.deliverWebhook },
    maxConcurrentActivityTaskExecutions: CONCURRENT_WEBHOOKS,
    activityTaskPollerBehavior: { type: 'autoscaling' },
  });
  return [core, webhooks];
}

/**
 * One worker for each chain that this process can read, with room for its watcher alone. While the watcher
 * runs here the worker asks the server for nothing, so a process that is frozen or cut off holds no open
 * request that the server would answer with the watcher's next try.
 */
async function createWatchers(
  common: Pick<WorkerOptions, 'connection' | 'namespace' | 'shutdownGraceTime' | 'shutdownForceTime'>,
  activities: { readonly followChain: (...input: never[]) => Promise<unknown> },
  networks: readonly string[],
): Promise<readonly Worker[]> {
  return await Promise.all(
    networks.map((network) =>
      Worker.create({
        ...common,
        taskQueue: chainTaskQueue(network),
        activities: { followChain: activities.followChain },
        maxConcurrentActivityTaskExecutions: 1,
        activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
      }),
    ),
  );
}

async function connectWhenThere(
  place: TemporalPlace,
  signal: AbortSignal,
  log: Logger,
): Promise<NativeConnection> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await NativeConnection.connect(connectionOptions(place));
    } catch (error) {
      // An error that says that nobody answers is one line of the outage; any other is said as it is.
      const isAway = outageOf(error) !== undefined;
      const unwell = new Error(`it does not answer as it should: ${reasonOf(error)}`, { cause: error });
      log.warn({ err: isAway ? error : Object.assign(unwell, { code: GRPC_UNAVAILABLE }) }, 'waiting');
      await pause(CONNECT_RETRY_MS, signal);
    }
  }
}
