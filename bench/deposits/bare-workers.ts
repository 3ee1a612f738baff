import { NativeConnection, type Worker } from '@temporalio/worker';
import { ownTemporal } from '../../dev/support/parts.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { createWorkers } from '../../src/temporal/worker.ts';

/** What stands in for the gateway's activities and does nothing that takes time. */
export type BareActivities = {
  deliverWebhook(): Promise<object>;
  advanceDeposit?(input: { depositId: string }): Promise<object>;
  advanceSettlement?(input: { addressKey: string }): Promise<object>;
};

/** The gateway's own workflows on a Temporal server of their own, without the gateway. */
export type BareTemporal = {
  readonly link: TemporalLink;
  /** Starts the gateway's own two workers. To be called once. */
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
  let workers: readonly Worker[] = [];
  let running: Promise<unknown> = Promise.resolve();
  return {
    link,
    work: async (activities) => {
      workers = await createWorkers({ connection, namespace: place.namespace }, activities);
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
