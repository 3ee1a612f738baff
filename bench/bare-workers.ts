import { NativeConnection, Worker } from '@temporalio/worker';
import { linkTemporal, TASK_QUEUE, type TemporalLink } from '../src/temporal/client.ts';
import { ensureSearchAttributes } from '../src/temporal/search-attributes.ts';
import { CORE_TUNING, WEBHOOK_TUNING } from '../src/temporal/worker.ts';
import { workflowBundle } from '../src/temporal/workflow-bundle.ts';
import { ownTemporal } from '../test/support/parts.ts';
import { WEBHOOK_TASK_QUEUE } from '../workflows/timeouts.ts';

/** What stands in for the gateway's activities and does nothing that takes time. */
export type BareActivities = {
  deliverWebhook(): Promise<object>;
  advanceDeposit?(input: { depositId: string }): Promise<object>;
};

/** The gateway's own workflows on a Temporal server of their own, without the gateway. */
export type BareTemporal = {
  readonly link: TemporalLink;
  /** Starts workers for both queues tuned as the gateway's are. To be called once. */
  work(activities: BareActivities): Promise<void>;
  /** Ends the workers and the server. */
  stop(): Promise<void>;
};

/** Starts the server; nothing works there until `work` is called. */
export async function startBareTemporal(): Promise<BareTemporal> {
  const temporal = await ownTemporal();
  const place = { address: temporal.now.address, namespace: 'default' };
  const link = linkTemporal(place);
  await ensureSearchAttributes(link, place.namespace);
  const connection = await NativeConnection.connect({ address: place.address });
  const common = { connection, namespace: place.namespace };
  let workers: readonly Worker[] = [];
  let running: Promise<unknown> = Promise.resolve();
  return {
    link,
    work: async (activities) => {
      const core = await Worker.create({
        ...common,
        taskQueue: TASK_QUEUE,
        workflowBundle: await workflowBundle(),
        activities,
        ...CORE_TUNING,
      });
      const hooks = await Worker.create({
        ...common,
        taskQueue: WEBHOOK_TASK_QUEUE,
        activities: { deliverWebhook: activities.deliverWebhook },
        ...WEBHOOK_TUNING,
      });
      workers = [core, hooks];
      running = Promise.all(workers.map((worker) => worker.run()));
    },
    stop: async () => {
      for (const worker of workers) worker.shutdown();
      await running;
      await connection.close();
      await link.close();
      await temporal.stop();
    },
  };
}
