import { randomUUID } from 'node:crypto';
import { eventually } from '../../dev/support/eventually.ts';
import { startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal, stopParts } from '../../dev/support/parts.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { createEndpoint, sendTestEvent } from '../../dev/support/use-cases.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { performOutbox } from '../../src/services/outbox/perform.ts';
import type { TemporalLink } from '../../src/temporal/client.ts';
import { startBareTemporal } from '../deposits/bare-workers.ts';
import type { Row } from '../row.ts';

/** `BENCH_EVENTS` makes a quick run. */
const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 10_000);
const PARALLEL = 6;
const LIMIT_MS = 30 * 60_000;

/**
 * A backlog of events to one endpoint, drained by the gateway, against the same actors with
 * an activity that does nothing. Each has a Temporal server of its own, all actors are
 * started before the worker is, and the clock runs from the worker's start to the last end.
 */
export async function run(): Promise<Row[]> {
  const bare = await bareRate();
  const real = await gatewayRate();
  await stopParts();
  const ratio = real.rate / bare;
  return [
    { figure: `bare activities, events/s (${EVENTS})`, value: bare.toFixed(1), goal: '', met: true },
    { figure: 'gateway, events/s', value: real.rate.toFixed(1), goal: '', met: true },
    { figure: 'gateway / bare', value: ratio.toFixed(2), goal: '>= 0.8', met: ratio >= 0.8 },
    {
      figure: 'requests for each event',
      value: (real.requests / EVENTS).toFixed(3),
      goal: '1',
      met: real.requests === EVENTS,
    },
  ];
}

async function bareRate(): Promise<number> {
  const temporal = await startBareTemporal();
  await inParallel(EVENTS, (index) => startBare(temporal.link, index));
  let done = 0;
  await temporal.work({
    deliverWebhook: async () => {
      done += 1;
      return { status: 'succeeded', message: '' };
    },
  });
  const began = Date.now();
  await eventually('every activity', () => done >= EVENTS, LIMIT_MS);
  const rate = EVENTS / ((Date.now() - began) / 1_000);
  await temporal.stop();
  return rate;
}

function startBare(link: TemporalLink, index: number): Promise<void> {
  return link.actors.start(`event:${index}`, {
    workflowType: 'notify',
    args: [{ deliveries: [randomUUID()] }],
    attributes: { MerchantId: 'm' },
    summary: 'bare',
    owner: { merchantId: 'm', mode: 'live' },
  });
}

async function gatewayRate(): Promise<{ rate: number; requests: number }> {
  const [temporal, database] = await Promise.all([ownTemporal(), freshDatabase()]);
  const live = await startLiveGateway({
    databaseUrl: database.url,
    temporalAddress: temporal.now.address,
    env: { LOG_LEVEL: 'fatal' },
  });
  await live.stopWorker();
  const { merchantId } = await createMerchant(live.deps, { name: 'Shop', subscriptionActive: true });
  const receiver = await startReceiver();
  const scope = { merchantId, mode: 'test' as const };
  const endpoint = await createEndpoint(live.deps, {
    ...scope,
    url: receiver.url,
    events: ['*'],
    description: null,
  });
  await inParallel(EVENTS, () => sendTestEvent(live.deps, { ...scope, id: endpoint.id }));
  const left = async (table: string): Promise<number> => {
    const rows = await live.deps.orm.em
      .fork()
      .execute<{ n: number }[]>(`select count(*)::int as n from ${table}`);
    return rows[0]?.n ?? 0;
  };
  await eventually(
    'every start',
    async () => {
      await performOutbox(live.deps); // what did not get through at once
      return (await left('outbox')) === 0;
    },
    LIMIT_MS,
  );
  const beganStart = live.startWorker();
  const began = Date.now();
  await beganStart;
  await eventually(
    'every delivery',
    async () => (await left(`webhook_deliveries where status <> 'succeeded'`)) === 0,
    LIMIT_MS,
  );
  const rate = EVENTS / ((Date.now() - began) / 1_000);
  const requests = receiver.requests.length;
  await live.stop();
  await receiver.stop();
  await temporal.stop();
  return { rate, requests };
}

async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const turn = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, turn));
}
