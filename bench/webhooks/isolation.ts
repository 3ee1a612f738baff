import { eventually } from '../../dev/support/eventually.ts';
import { type LiveGateway, startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal, stopParts } from '../../dev/support/parts.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../dev/support/receiver.ts';
import { createTestAuthority } from '../../dev/support/tls.ts';
import { createEndpoint, sendTestEvent } from '../../dev/support/use-cases.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { cpuShare } from '../cpu.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

/**
 * `BENCH_BACKLOG`, `BENCH_SAMPLES`, `BENCH_ROUNDS` and `BENCH_SETTLE_MS`
 * make a quick run; the goal holds for the numbers here.
 */
const BACKLOG = Number(process.env['BENCH_BACKLOG'] ?? 500);
const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 100);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2);
const EVERY_MS = 100;
/** What has not arrived by then counts as never. */
const LIMIT_MS = 60_000;
const START_LIMIT_MS = 15 * 60_000;
const PARALLEL = 3;
/**
 * By then each neighbour's rush is over: those that fail at
 * once wait for a late attempt, the others for a connection.
 */
const SETTLE_MS = Number(process.env['BENCH_SETTLE_MS'] ?? 120_000);

const NEIGHBOURS: Readonly<Record<string, ReceiverOptions>> = {
  hung: { behaviour: { kind: 'hang' } },
  dripping: { behaviour: { kind: 'drip-headers', everyMs: 500 } },
  resetting: { behaviour: { kind: 'reset' } },
  // Signed by nobody that the gateway knows.
  'TLS-failing': { tls: createTestAuthority().issue(['127.0.0.1']) },
};

/** Long enough for every wait of a delivery to a receiver that hangs to be in it. */
const CPU_WINDOW_MS = 30_000;

type Shop = {
  readonly name: string;
  readonly receiver: Receiver;
  readonly endpointId: string;
  send(): Promise<string>;
};
type Round = {
  readonly rush: readonly number[];
  readonly beside: readonly number[];
  readonly tasksPerSecond: number;
  /** Of everything, while nothing but the backlogs is there, as a share of one core. */
  readonly cpu: number;
  readonly left: readonly string[];
};

/**
 * A healthy merchant's events, alone and beside four merchants whose receivers are broken and who have
 * a backlog each. The two are measured in turn, so that a machine whose speed changes does not decide.
 */
export async function run(): Promise<Row[]> {
  const [temporal, database] = await Promise.all([ownTemporal(), freshDatabase()]);
  const gateway = await startLiveGateway({
    databaseUrl: database.url,
    temporalAddress: temporal.now.address,
    env: { LOG_LEVEL: 'fatal' },
    // A sixth attempt after five minutes keeps those in the backlog that fail at once.
    settings: { webhookMaxAttempts: 6 },
  });
  const healthy = await openShop(gateway, 'healthy', {});
  await latencies(healthy, 30);
  const idle = await cpuShare(CPU_WINDOW_MS);
  const alone: number[][] = [await latencies(healthy, SAMPLES)];
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push(await besideNeighbours(gateway, healthy));
    alone.push(await latencies(healthy, SAMPLES));
  }
  await gateway.stop();
  await healthy.receiver.stop();
  await temporal.stop();
  await stopParts();
  const ratio =
    percentile(
      rounds.flatMap(({ beside }) => beside),
      0.95,
    ) / percentile(alone.flat(), 0.95);
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  return [
    ...alone.map((values, index) => told(`alone ${index + 1}, p50 / p95`, ms(values))),
    told('CPU of nothing at all, share of one core', percent(idle)),
    ...rounds.flatMap(({ rush, beside, tasksPerSecond, cpu, left }, index) => [
      told(`while backlogs ${index + 1} arrive, p50 / p95`, ms(rush)),
      told(`beside backlogs ${index + 1}, p50 / p95`, ms(beside)),
      told(`backlogs ${index + 1}, activity tasks per second`, tasksPerSecond.toFixed(1)),
      told(`backlogs ${index + 1}, CPU, share of one core`, percent(cpu)),
      told(`backlogs ${index + 1}, before and after`, left.join(', ')),
    ]),
    { figure: 'beside / alone, p95', value: ratio.toFixed(2), goal: '<= 1.5', met: ratio <= 1.5 },
  ];
}

/**
 * The healthy merchant's latencies beside four new neighbours, who are gone without a trace when it returns.
 */
async function besideNeighbours(gateway: LiveGateway, healthy: Shop): Promise<Round> {
  const shops: Shop[] = [];
  for (const [name, options] of Object.entries(NEIGHBOURS))
    shops.push(await openShop(gateway, name, options));
  const events: string[] = [];
  for (const shop of shops) events.push(...(await sendMany(shop, BACKLOG)));
  const began = Date.now();
  const rush = await latencies(healthy, SAMPLES);
  await eventually('every start', async () => (await count(gateway, 'outbox')) === 0, START_LIMIT_MS);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, SETTLE_MS - (Date.now() - began))));
  const before = await Promise.all(shops.map((shop) => pending(gateway, shop)));
  const countedAt = Date.now();
  const tasksBefore = await activityTasks(gateway, events);
  const cpu = await cpuShare(CPU_WINDOW_MS);
  const beside = await latencies(healthy, SAMPLES);
  const seconds = (Date.now() - countedAt) / 1_000;
  const tasks = (await activityTasks(gateway, events)) - tasksBefore;
  const after = await Promise.all(shops.map((shop) => pending(gateway, shop)));
  await clear(gateway, shops, events);
  const left = shops.map(({ name }, index) => `${name} ${before[index]} ${after[index]}`);
  return { rush, beside, tasksPerSecond: tasks / seconds, cpu, left };
}

async function clear(
  { deps, gateway }: LiveGateway,
  shops: readonly Shop[],
  events: readonly string[],
): Promise<void> {
  await deps.orm.em
    .fork()
    .execute(
      `update webhook_endpoints set enabled = false where id in (${shops.map(() => '?').join(', ')})`,
      [...shops.map(({ endpointId }) => endpointId)],
    );
  await deps.orm.em
    .fork()
    .execute(`update webhook_deliveries set status = 'failed', finished_at = now() where status = 'pending'`);
  for (const id of events)
    await gateway.link?.client.workflow
      .getHandle(`event:${id}`)
      .terminate()
      .catch(() => undefined);
  await Promise.all(shops.map(({ receiver }) => receiver.stop()));
}

async function openShop(gateway: LiveGateway, name: string, options: ReceiverOptions): Promise<Shop> {
  const { deps } = gateway;
  const { merchantId } = await createMerchant(deps, { name, subscriptionActive: true });
  const receiver = await startReceiver(options);
  const scope = { merchantId, mode: 'test' as const };
  const endpoint = await createEndpoint(deps, {
    ...scope,
    url: receiver.url,
    events: ['*'],
    description: null,
  });
  const send = async (): Promise<string> => (await sendTestEvent(deps, { ...scope, id: endpoint.id })).id;
  return { name, receiver, endpointId: endpoint.id, send };
}

async function sendMany(shop: Shop, count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = await shop.send().catch(() => undefined); // a machine that is far too busy: once more
      if (id === undefined) left += 1;
      else ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return ids;
}

/**
 * Milliseconds from the request to the arrival, one event
 * each 100 ms whether or not the one before has arrived.
 */
async function latencies(shop: Shop, samples: number): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const began = Date.now();
  for (let index = 0; index < samples; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + index * EVERY_MS - Date.now())));
    const now = Date.now();
    sentAt.set(await shop.send(), now);
  }
  const arrived = (): number[] =>
    shop.receiver.requests.flatMap(({ at, headers }) => {
      const sent = sentAt.get(String(headers['x-webhook-id']));
      return sent === undefined ? [] : [at - sent];
    });
  const until = Date.now() + LIMIT_MS;
  while (arrived().length < samples && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 100));
  return [...arrived(), ...Array<number>(samples).fill(Number.POSITIVE_INFINITY)].slice(0, samples);
}

const pending = (gateway: LiveGateway, { endpointId }: Shop): Promise<number> =>
  count(gateway, `webhook_deliveries where status = 'pending' and endpoint_id = '${endpointId}'`);

async function count({ deps }: LiveGateway, rows: string): Promise<number> {
  const [row] = await deps.orm.em.fork().execute<{ n: number }[]>(`select count(*)::int as n from ${rows}`);
  return row?.n ?? 0;
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

const ms = (values: readonly number[]): string =>
  `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)} ms`;
