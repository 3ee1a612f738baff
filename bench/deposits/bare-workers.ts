// The gateway's own workflows without the gateway: what Temporal alone can do.
import { randomUUID } from 'node:crypto';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { ownTemporal } from '../../dev/support/parts.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { createWorkers } from '../../src/temporal/worker.ts';
import { atLeast, numberOf, percentile, type Row, ratioText, told } from '../bench.ts';

/** What stands in for the gateway's activities and does nothing that takes time. */
type BareActivities = {
  deliverWebhook(): Promise<object>;
  advanceDeposit?(input: { depositId: string }): Promise<object>;
  advanceSettlement?(input: { addressKey: string }): Promise<object>;
};
type BareTemporal = {
  readonly link: TemporalLink;
  /** Starts the gateway's own two workers. To be called once. */
  work(activities: BareActivities): Promise<void>;
};

/** Does the work with a Temporal server of its own, at which nothing works until `work` is called. */
export async function withBareTemporal<T>(use: (temporal: BareTemporal) => Promise<T>): Promise<T> {
  const temporal = await ownTemporal();
  const place = { address: temporal.now.address, namespace: 'default' };
  const link = linkTemporal(place);
  await ensureSearchAttributes(link, place.namespace);
  const connection = await NativeConnection.connect({ address: place.address });
  let workers: readonly Worker[] = [];
  let running: Promise<unknown> = Promise.resolve();
  const work = async (activities: BareActivities): Promise<void> => {
    workers = await createWorkers({ connection, namespace: place.namespace }, activities);
    running = Promise.all(workers.map((worker) => worker.run()));
  };
  const result = await use({ link, work });
  for (const worker of workers) worker.shutdown();
  await running;
  await connection.close();
  await link.close();
  await temporal.stop();
  return result;
}

/** Starts the actor of a deposit as the outbox does, with what it knows. */
export function startBareDeposit(
  { actors }: TemporalLink,
  id: string,
  knows: { state: string; sequence: number },
) {
  const depositId = randomUUID();
  const deliveries = knows.sequence > 0 ? [randomUUID()] : [];
  return actors.start(id, {
    workflowType: 'deposit',
    args: [{ depositId, ...knows, generation: 1, rests: false, deliveries }],
    attributes: {
      MerchantId: 'm',
      Network: 'bsc',
      DepositStage: knows.state,
      StageSince: new Date().toISOString(),
      NeedsOperator: false,
    },
    memo: { deposit_id: depositId, transaction_hash: depositId, address: depositId, amount: '1 USDT' },
    summary: 'bare',
    owner: { merchantId: 'm', mode: 'live' },
  });
}

type Pair = { readonly gateway: number; readonly bare: number };

/**
 * Pairs of runs (BENCH_PAIRS), each side first in turn, of so many a second. A ratio is taken
 * within a pair, and their median counts. No pair begins later than `withinMs`.
 */
export async function inPairs(
  what: string,
  sides: { readonly bare: () => Promise<number>; readonly gateway: () => Promise<number> },
  { pairs: standard, goal, withinMs }: { pairs: number; goal: number; withinMs: number },
): Promise<Row[]> {
  const count = numberOf('BENCH_PAIRS', standard);
  const began = Date.now();
  const pairs: Pair[] = [];
  while (pairs.length < count && Date.now() - began < withinMs) {
    const bareFirst = pairs.length % 2 === 0 ? await sides.bare() : undefined;
    const gateway = await sides.gateway();
    pairs.push({ gateway, bare: bareFirst ?? (await sides.bare()) });
    process.stderr.write(`  ${what}pair ${pairs.length} of ${count}: ${textOf(pairs.at(-1) as Pair)}\n`);
  }
  const median = percentile(
    pairs.map((pair) => pair.gateway / pair.bare),
    0.5,
  );
  return [
    ...pairs.map((pair, index) => told(`${what}gateway / bare, pair ${index + 1}`, textOf(pair))),
    atLeast(`${what}gateway / bare, median of ${pairs.length}`, median.toFixed(2), [median, goal]),
  ];
}

const textOf = ({ gateway, bare }: Pair): string => ratioText(gateway, bare, '/s');
