import { createMerchant } from '../src/services/merchants.ts';
import { sendTestEvent } from '../src/services/resend.ts';
import { createEndpoint, eventually, type LiveGateway, ownTemporal, startLiveGateway } from '../test/support/live-gateway.ts';
import { freshDatabase, stopParts } from '../test/support/parts.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../test/support/receiver.ts';
import { createTestAuthority } from '../test/support/tls.ts';
import { percentile } from './percentile.ts';
import type { Row } from './row.ts';

/** `BENCH_BACKLOG` and `BENCH_SAMPLES` make a quick run; the goal holds for the numbers here. */
const BACKLOG = Number(process.env['BENCH_BACKLOG'] ?? 500);
const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 100);
const EVERY_MS = 100;
/** What has not arrived by then counts as never. */
const LIMIT_MS = 60_000;
const START_LIMIT_MS = 15 * 60_000;
const PARALLEL = 3;
/** By then each neighbour's rush is over: those that fail at once wait for a late attempt, the others for a connection. */
const SETTLE_MS = 120_000;

const NEIGHBOURS: Readonly<Record<string, ReceiverOptions>> = {
  hung: { behaviour: { kind: 'hang' } },
  dripping: { behaviour: { kind: 'drip-headers', everyMs: 500 } },
  resetting: { behaviour: { kind: 'reset' } },
  // Signed by nobody that the gateway knows.
  'TLS-failing': { tls: createTestAuthority().issue(['127.0.0.1']) },
};

type Shop = { readonly name: string; readonly receiver: Receiver; readonly endpointId: string; send(): Promise<string> };

/** A healthy merchant's events, alone and beside four merchants whose receivers are broken and who have a backlog each. */
export async function run(): Promise<Row[]> {
  const [temporal, database] = await Promise.all([ownTemporal(), freshDatabase()]);
  const gateway = await startLiveGateway({
    ...{ databaseUrl: database.url, temporalAddress: temporal.now.address, env: { LOG_LEVEL: 'fatal' } },
    // A sixth attempt after five minutes keeps those in the backlog that fail at once.
    settings: { webhookMaxAttempts: 6 },
  });
  const healthy = await openShop(gateway, 'healthy', {});
  await latencies(healthy, 30);
  const alone = await latencies(healthy, SAMPLES);
  const shops: Shop[] = [];
  for (const [name, options] of Object.entries(NEIGHBOURS)) shops.push(await openShop(gateway, name, options));
  const events = new Map<Shop, string[]>();
  for (const shop of shops) events.set(shop, await sendMany(shop, BACKLOG));
  const began = Date.now();
  const rush = await latencies(healthy, SAMPLES);
  await eventually('every start', async () => (await count(gateway, 'outbox')) === 0, START_LIMIT_MS);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, SETTLE_MS - (Date.now() - began))));
  const before = await Promise.all(shops.map((shop) => pending(gateway, shop)));
  const hung = shops.slice(0, 1).flatMap((shop) => events.get(shop) ?? []);
  const tasksBefore = await activityTasks(gateway, hung);
  const countedAt = Date.now();
  const beside = await latencies(healthy, SAMPLES);
  const tasks = (await activityTasks(gateway, hung)) - tasksBefore;
  const seconds = (Date.now() - countedAt) / 1_000;
  const after = await Promise.all(shops.map((shop) => pending(gateway, shop)));
  await gateway.stop();
  await Promise.all([healthy, ...shops].map(({ receiver }) => receiver.stop()));
  await temporal.stop();
  await stopParts();
  const ratio = percentile(beside, 0.95) / percentile(alone, 0.95);
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  return [
    told('healthy alone, p50 / p95', ms(alone)),
    told('healthy while the backlogs arrive, p50 / p95', ms(rush)),
    told('healthy beside the backlogs, p50 / p95', ms(beside)),
    { figure: 'beside / alone, p95', value: ratio.toFixed(2), goal: '<= 1.5', met: ratio <= 1.5 },
    ...shops.map((shop, index) => told(`${shop.name}: backlog before and after`, `${before[index]} ${after[index]}`)),
    told('hung: activity tasks per second', (tasks / seconds).toFixed(1)),
  ];
}

async function openShop(gateway: LiveGateway, name: string, options: ReceiverOptions): Promise<Shop> {
  const { deps } = gateway;
  const { merchantId } = await createMerchant(deps, { name, subscriptionActive: true });
  const receiver = await startReceiver(options);
  const scope = { merchantId, mode: 'test' as const };
  const endpoint = await createEndpoint(deps, { ...scope, url: receiver.url, events: ['*'], description: null });
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

/** Milliseconds from the request to the arrival, one event each 100 ms whether or not the one before has arrived. */
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
  while (arrived().length < samples && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
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

const ms = (values: readonly number[]): string => `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)} ms`;
