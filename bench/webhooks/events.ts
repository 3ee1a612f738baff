import { randomUUID } from 'node:crypto';
import { eventually } from '../../dev/support/eventually.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { sendTestEvent } from '../../dev/support/use-cases.ts';
import { performOutbox } from '../../src/services/outbox/perform.ts';
import { atLeast, inParallel, numberOf, type Row, told } from '../bench.ts';
import { withBareTemporal } from '../deposits/bare-workers.ts';
import { countOf, newEndpoint, newShop } from '../deps.ts';
import { withGateway } from './stage.ts';

const EVENTS = numberOf('BENCH_EVENTS', 10_000);
const PARALLEL = 6;
const LIMIT_MS = 30 * 60_000;

/**
 * A backlog of events to one endpoint, drained by the gateway, against the same actors with
 * an activity that does nothing. Each has a Temporal server of its own, all actors are
 * started before the worker is, and the clock runs from the worker's start to the last end.
 */
export async function run(): Promise<Row[]> {
  const bare = await bareRate();
  const { rate, requests } = await gatewayRate();
  return [
    told(`bare activities, events/s (${EVENTS})`, bare.toFixed(1)),
    told('gateway, events/s', rate.toFixed(1)),
    atLeast('gateway / bare', (rate / bare).toFixed(2), [rate / bare, 0.8]),
    {
      figure: 'requests for each event',
      value: (requests / EVENTS).toFixed(3),
      goal: '1',
      met: requests === EVENTS,
    },
  ];
}

function bareRate(): Promise<number> {
  return withBareTemporal(async ({ link, work }) => {
    await inParallel(EVENTS, PARALLEL, (index) =>
      link.actors.start(`event:${index}`, {
        workflowType: 'notify',
        args: [{ deliveries: [randomUUID()] }],
        attributes: { MerchantId: 'm' },
        summary: 'bare',
        owner: { merchantId: 'm', mode: 'live' },
      }),
    );
    let done = 0;
    const deliverWebhook = async () => {
      done += 1;
      return { status: 'succeeded', message: '' };
    };
    await work({ deliverWebhook });
    const began = Date.now();
    await eventually('every activity', () => done >= EVENTS, LIMIT_MS);
    return EVENTS / ((Date.now() - began) / 1_000);
  });
}

function gatewayRate(): Promise<{ rate: number; requests: number }> {
  return withGateway(async (gateway) => {
    const { deps } = gateway;
    await gateway.stopWorker();
    const [shop, receiver] = [await newShop(deps, 'Shop', 'test'), await startReceiver()];
    const { id } = await newEndpoint(deps, shop, receiver.url);
    const { merchantId, mode } = shop;
    await inParallel(EVENTS, PARALLEL, () => sendTestEvent(deps, { merchantId, mode, id }));
    const noneLeft = async () => {
      await performOutbox(deps); // what did not get through at once
      return (await countOf(deps, 'outbox')) === 0;
    };
    await eventually('every start', noneLeft, LIMIT_MS);
    const starting = gateway.startWorker();
    const began = Date.now();
    await starting;
    const open = `webhook_deliveries where status <> 'succeeded'`;
    await eventually('every delivery', async () => (await countOf(deps, open)) === 0, LIMIT_MS);
    const rate = EVENTS / ((Date.now() - began) / 1_000);
    const requests = receiver.requests.length;
    await receiver.stop();
    return { rate, requests };
  });
}
