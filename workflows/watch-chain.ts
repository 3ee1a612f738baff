import { CancellationScope, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WatchChainInput } from '../src/domain/actor-message.ts';
import { chainTaskQueue, WATCH_HEARTBEAT_MS, WATCH_START_TO_CLOSE_MS } from './timeouts.ts';

/** Follows one chain for ever: one long activity, whose heartbeat shows the progress, and a fresh history about every hour. */
export async function watchChain(input: WatchChainInput): Promise<never> {
  return await CancellationScope.nonCancellable(async () => {
    const { followChain } = proxyActivities<Activities>({
      taskQueue: chainTaskQueue(input.network),
      startToCloseTimeout: WATCH_START_TO_CLOSE_MS,
      heartbeatTimeout: WATCH_HEARTBEAT_MS,
      // Attempts are counted over the whole hour: a growing pause would make every later watcher wait longer for the one that was killed.
      retry: { initialInterval: 500, backoffCoefficient: 1 },
      activityId: `follow:${input.network}`,
      summary: `follow ${input.network}`,
    });
    await followChain(input);
    return await continueAsNew<typeof watchChain>(input);
  });
}
