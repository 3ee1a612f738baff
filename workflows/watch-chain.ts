import { CancellationScope, continueAsNew, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WatchChainInput } from '../src/domain/actor-message.ts';
import { refuseInput } from './input.ts';
import { ASK_AGAIN_MS, chainTaskQueue, WATCH_HEARTBEAT_MS, WATCH_START_TO_CLOSE_MS } from './timeouts.ts';

/**
 * Watches one chain for ever: one long activity, whose heartbeat
 * shows the progress, and a fresh history about every hour.
 */
export async function watchChain(input: WatchChainInput): Promise<never> {
  if (typeof input?.network !== 'string') throw refuseInput('network');
  return await CancellationScope.nonCancellable(async () => {
    const { followChain } = proxyActivities<Activities>({
      taskQueue: chainTaskQueue(input.network),
      startToCloseTimeout: WATCH_START_TO_CLOSE_MS,
      heartbeatTimeout: WATCH_HEARTBEAT_MS,
      // Attempts are counted over the whole hour: a growing pause would make
      // every later watcher wait longer to take over from one that was killed.
      retry: { initialInterval: 500, backoffCoefficient: 1 },
      activityId: `follow:${input.network}`,
      summary: `follow ${input.network}`,
    });
    try {
      await followChain(input);
    } catch {
      // Only a person can end it like this: otherwise it is retried without end.
      await sleep(ASK_AGAIN_MS);
    }
    return await continueAsNew<typeof watchChain>(input);
  });
}
