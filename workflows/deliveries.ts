import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { deliveryActivityId } from '../src/domain/ids.ts';
import { CRASH_RETRY, DELIVER_START_TO_CLOSE_MS, WEBHOOK_TASK_QUEUE } from './timeouts.ts';

/** Deliveries that run beside an actor's own way. Each is one activity that the server retries on the activity's own schedule. */
export type Deliveries = {
  /** Starts the deliveries that were not started yet; repeated ids are ignored. */
  start(ids: readonly string[]): void;
  /** Waits until every started delivery is at its end. Never throws: a delivery that failed is a row that merchants see. */
  settled(): Promise<void>;
  /** One line for the Web UI: how many are done, and what the failed ones said. */
  summary(): string;
};

/** A set of deliveries of one actor. `label` names them in the Web UI. */
export function openDeliveries(label: string): Deliveries {
  const running: Promise<void>[] = [];
  const started = new Set<string>();
  const failures: string[] = [];
  let done = 0;
  const run = async (id: string): Promise<void> => {
    const { deliverWebhook } = proxyActivities<Activities>({
      taskQueue: WEBHOOK_TASK_QUEUE,
      startToCloseTimeout: DELIVER_START_TO_CLOSE_MS,
      retry: CRASH_RETRY,
      activityId: deliveryActivityId(id),
      summary: label,
    });
    try {
      await deliverWebhook({ deliveryId: id });
    } catch (error) {
      failures.push(reasonOf(error));
    }
    done += 1;
  };
  return {
    start: (ids) => {
      for (const id of ids) {
        if (started.has(id)) continue;
        started.add(id);
        // The handler is attached at once: a delivery that fails before it is joined would hang the workflow as an unhandled rejection.
        running.push(run(id).catch(() => undefined));
      }
    },
    settled: async () => {
      // Deliveries may be added while we wait.
      for (let joined = 0; joined < running.length; joined += 1) await running[joined];
    },
    summary: () => `webhooks: ${done} of ${started.size} finished${failures.length > 0 ? `; ${failures.slice(-3).join('; ')}` : ''}`,
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) return error.cause.message;
  return error instanceof Error ? error.message : String(error);
}
