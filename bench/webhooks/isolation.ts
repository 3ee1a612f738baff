import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../dev/support/eventually.ts';
import type { LiveGateway } from '../../dev/support/live-gateway.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../dev/support/receiver.ts';
import { createTestAuthority } from '../../dev/support/tls.ts';
import { sendTestEvent } from '../../dev/support/use-cases.ts';
import { atMost, inParallel, numberOf, p50p95, percentile, type Row, told } from '../bench.ts';
import { countOf, newEndpoint, newShop } from '../deps.ts';
import { cpuShare } from '../process-costs.ts';
import { latencies, withGateway } from './stage.ts';

const BACKLOG = numberOf('BENCH_BACKLOG', 500);
const SAMPLES = numberOf('BENCH_SAMPLES', 100);
const ROUNDS = numberOf('BENCH_ROUNDS', 2);
const WARM_UP = 30;
const EVERY_MS = 100;
/** What has not arrived by then counts as never. */
const LIMIT_MS = 60_000;
const START_LIMIT_MS = 15 * 60_000;
const PARALLEL = 3;
/**
 * By then each neighbour's rush is over: those that fail at
 * once wait for a late attempt, the others for a connection.
 */
const SETTLE_MS = numberOf('BENCH_SETTLE_MS', 120_000);
/** Long enough for every wait of a delivery to a receiver that hangs to be in it. */
const CPU_WINDOW_MS = numberOf('BENCH_WINDOW_MS', 30_000);

const NEIGHBOURS: Readonly<Record<string, ReceiverOptions>> = {
  hung: { behaviour: { kind: 'hang' } },
  dripping: { behaviour: { kind: 'drip-headers', everyMs: 500 } },
  resetting: { behaviour: { kind: 'reset' } },
  // Signed by nobody that the gateway knows.
  'TLS-failing': { tls: createTestAuthority().issue(['127.0.0.1']) },
};

type Neighbour = {
  readonly name: string;
  readonly receiver: Receiver;
  readonly endpointId: string;
  send(): Promise<string>;
};

/**
 * A healthy merchant's events, alone and beside four merchants whose receivers are broken and who have
 * a backlog each. The two are measured in turn, so that a machine whose speed changes does not decide.
 */
export function run(): Promise<Row[]> {
  // A sixth attempt after five minutes keeps those in the backlog that fail at once.
  return withGateway(measure, { webhookMaxAttempts: 6 });
}

async function measure(gateway: LiveGateway): Promise<Row[]> {
  const healthy = await openShop(gateway, 'healthy', {});
  await latenciesOf(healthy, WARM_UP);
  const idle = await cpuShare(CPU_WINDOW_MS);
  const alone: number[][] = [await latenciesOf(healthy, SAMPLES)];
  const [beside, rounds]: [number[], Row[]] = [[], []];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const measured = await besideNeighbours(gateway, healthy);
    beside.push(...measured.beside);
    rounds.push(
      told(`while backlogs ${round} arrive, p50 / p95`, p50p95(measured.rush)),
      told(`beside backlogs ${round}, p50 / p95`, p50p95(measured.beside)),
      told(`backlogs ${round}, activity tasks per second`, measured.tasksPerSecond.toFixed(1)),
      told(`backlogs ${round}, CPU, share of one core`, percent(measured.cpu)),
      told(`backlogs ${round}, before and after`, measured.left.join(', ')),
    );
    alone.push(await latenciesOf(healthy, SAMPLES));
  }
  await healthy.receiver.stop();
  const ratio = percentile(beside, 0.95) / percentile(alone.flat(), 0.95);
  return [
    ...alone.map((values, index) => told(`alone ${index + 1}, p50 / p95`, p50p95(values))),
    told('CPU of nothing at all, share of one core', percent(idle)),
    ...rounds,
    atMost('beside / alone, p95', ratio.toFixed(2), [ratio, 1.5]),
  ];
}

/**
 * The healthy merchant's latencies beside four new neighbours, who are gone without a trace when it returns.
 */
async function besideNeighbours(gateway: LiveGateway, healthy: Neighbour) {
  const { deps } = gateway;
  const shops: Neighbour[] = [];
  for (const [name, options] of Object.entries(NEIGHBOURS))
    shops.push(await openShop(gateway, name, options));
  const events: string[] = [];
  // On a machine that is far too busy: once more.
  for (const { send } of shops)
    await inParallel(BACKLOG, PARALLEL, async () => void events.push(await send().catch(send)));
  const began = Date.now();
  const rush = await latenciesOf(healthy, SAMPLES);
  await eventually('every start', async () => (await countOf(deps, 'outbox')) === 0, START_LIMIT_MS);
  await sleep(Math.max(0, SETTLE_MS - (Date.now() - began)));
  const pending = () =>
    Promise.all(
      shops.map(({ endpointId }) =>
        countOf(deps, `webhook_deliveries where status = 'pending' and endpoint_id = '${endpointId}'`),
      ),
    );
  const before = await pending();
  const countedAt = Date.now();
  const tasksBefore = await activityTasks(gateway, events);
  const cpu = await cpuShare(CPU_WINDOW_MS);
  const beside = await latenciesOf(healthy, SAMPLES);
  const seconds = (Date.now() - countedAt) / 1_000;
  const tasks = (await activityTasks(gateway, events)) - tasksBefore;
  const after = await pending();
  await clear(gateway, shops, events);
  const left = shops.map(({ name }, index) => `${name} ${before[index]} ${after[index]}`);
  return { rush, beside, tasksPerSecond: tasks / seconds, cpu, left };
}

async function clear({ deps, gateway }: LiveGateway, shops: readonly Neighbour[], events: readonly string[]) {
  const em = deps.orm.em.fork();
  for (const { endpointId } of shops)
    await em.execute('update webhook_endpoints set enabled = false where id = ?', [endpointId]);
  await em.execute(
    `update webhook_deliveries set status = 'failed', finished_at = now() where status = 'pending'`,
  );
  for (const id of events) {
    const handle = gateway.link?.client.workflow.getHandle(`event:${id}`);
    await handle?.terminate().catch(() => undefined);
  }
  await Promise.all(shops.map(({ receiver }) => receiver.stop()));
}

async function openShop({ deps }: LiveGateway, name: string, options: ReceiverOptions): Promise<Neighbour> {
  const [{ merchantId, mode }, receiver] = [await newShop(deps, name, 'test'), await startReceiver(options)];
  const { id } = await newEndpoint(deps, { merchantId, mode }, receiver.url);
  const send = async (): Promise<string> => (await sendTestEvent(deps, { merchantId, mode, id })).id;
  return { name, receiver, endpointId: id, send };
}

function latenciesOf({ send, receiver }: Neighbour, samples: number): Promise<number[]> {
  return latencies({ samples, everyMs: EVERY_MS, limitMs: LIMIT_MS }, send, () =>
    receiver.requests.map(({ at, headers }) => ({ id: String(headers['x-webhook-id']), at })),
  );
}

/** How often Temporal has handed out the deliveries of these events so far. */
async function activityTasks({ gateway }: LiveGateway, eventIds: readonly string[]): Promise<number> {
  let tasks = 0;
  for (const id of eventIds) {
    const description = await gateway.link?.client.workflow.getHandle(`event:${id}`).describe();
    for (const activity of description?.raw.pendingActivities ?? []) tasks += activity.attempt ?? 0;
  }
  return tasks;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
