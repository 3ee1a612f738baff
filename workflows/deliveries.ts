import { ActivityFailure, ApplicationFailure, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { deliveryActivityId } from '../src/domain/ids.ts';
import { isSucceeded } from './results.ts';
import {
  ASK_AGAIN_MS,
  CRASH_RETRY,
  DELIVER_START_TO_CLOSE_MS,
  DELIVERY_FAILED,
  WEBHOOK_TASK_QUEUE,
} from './timeouts.ts';

/**
 * Deliveries that run beside the actor's own steps. Each is one
 * activity, which the server retries on the activity's own schedule.
 */
export type Deliveries = {
  /**
   * Starts every delivery that is not under way and has not ended. `read` is what
   * {@link ended} said before the row that names these ids was read: a delivery that
   * had ended by then and is still named did not end by itself, and is started again.
   */
  start(ids: readonly string[], read?: number): void;
  /** Tells what deliveries are called from now on in the Web UI, by id. */
  name(names: Readonly<Record<string, string>>): void;
  /** How many deliveries have ended so far. */
  ended(): number;
  /** Whether every started delivery is at its end. One that failed is a row that merchants see. */
  settled(): boolean;
  /** One line for the Web UI: how many are done, and what the failed ones said. */
  summary(): string;
};

/**
 * A set of deliveries of one actor. `label` names those in the Web UI that have no name of their own, and
 * `hear` is told of each that ended.
 */
export function openDeliveries(label: string, hear?: () => void): Deliveries {
  const running = new Set<string>();
  /** The deliveries that ended, each with its position in the order in which they ended. */
  const over = new Map<string, number>();
  const failures: string[] = [];
  const known = new Map<string, string>();
  let ends = 0;
  const run = async (id: string): Promise<void> => {
    const failure = await deliver(id, known.get(id) ?? label);
    if (failure !== undefined) failures.push(failure);
    running.delete(id);
    ends += 1;
    over.set(id, ends);
    hear?.();
  };
  return {
    start: (ids, read = 0) => {
      for (const id of ids) {
        const endedAt = over.get(id);
        if (running.has(id) || (endedAt !== undefined && endedAt > read)) continue;
        running.add(id);
        // The handler is attached at once: an unhandled rejection would make the workflow hang.
        run(id).catch(() => undefined);
      }
    },
    name: (names) => {
      for (const [id, name] of Object.entries(names)) known.set(id, name);
    },
    ended: () => ends,
    settled: () => running.size === 0,
    summary: () =>
      `webhooks: ${over.size} of ${new Set([...running, ...over.keys()]).size} finished${failures.length > 0 ? `; ${failures.slice(-3).join('; ')}` : ''}`,
  };
}

/**
 * Delivers until the delivery is finished; returns the message of one that failed. An
 * activity that ended in a way that only a person can cause is asked again: the row knows.
 */
async function deliver(id: string, label: string): Promise<string | undefined> {
  const { deliverWebhook } = proxyActivities<Activities>({
    taskQueue: WEBHOOK_TASK_QUEUE,
    startToCloseTimeout: DELIVER_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    activityId: deliveryActivityId(id),
    summary: label,
  });
  for (;;) {
    try {
      if (isSucceeded(await deliverWebhook({ deliveryId: id }))) return undefined;
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : undefined;
      if (cause instanceof ApplicationFailure && cause.type === DELIVERY_FAILED) return cause.message;
    }
    await sleep(ASK_AGAIN_MS);
  }
}
