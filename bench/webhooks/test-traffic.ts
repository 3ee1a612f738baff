import { eventually } from '../../dev/support/eventually.ts';
import type { LiveGateway } from '../../dev/support/live-gateway.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { sendTestEvent } from '../../dev/support/use-cases.ts';
import { atMost, inParallel, numberOf, p50p95, percentile, type Row, told } from '../bench.ts';
import { newCustomer, newEndpoint, newShop, type Shop } from '../deps.ts';
import { latencies, withGateway } from './stage.ts';

const TESTS = numberOf('BENCH_BACKLOG', 400);
const ROUNDS = numberOf('BENCH_ROUNDS', 3);
const SAMPLES = 30;
const EVERY_MS = 500;
const LIMIT_MS = 120_000;
const PARALLEL = 20;
const GOAL_MS = 1_500;

/**
 * 400 test webhooks of one merchant at once, and meanwhile a live one of the same and of another
 * merchant each {@link EVERY_MS}, from the commit to the receiver; before each rush the same without it.
 */
export function run(): Promise<Row[]> {
  return withGateway(measure);
}

async function measure({ deps }: LiveGateway): Promise<Row[]> {
  const [own, other, receiver] = [await newShop(deps), await newShop(deps), await startReceiver()];
  const drill = { merchantId: own.merchantId, mode: 'test' as const };
  const { id } = await newEndpoint(deps, drill, receiver.url);
  const shops = [
    { name: 'same merchant', ...(await openShop(deps, own)) },
    { name: 'another merchant', ...(await openShop(deps, other)) },
  ];
  const all = () => Promise.all(shops.map((shop) => shop.measure()));
  await all();
  const [quiet, beside]: [number[][], number[][]] = [shops.map(() => []), shops.map(() => [])];
  const left: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [index, times] of (await all()).entries()) quiet[index]?.push(...times);
    const rush = inParallel(TESTS, PARALLEL, () => sendTestEvent(deps, { ...drill, id }));
    for (const [index, times] of (await all()).entries()) beside[index]?.push(...times);
    await rush;
    left.push(round * TESTS - receiver.requests.length);
    await eventually('the end of the rush', () => receiver.requests.length >= round * TESTS, LIMIT_MS);
  }
  await Promise.all([receiver, ...shops.map((shop) => shop.receiver)].map(({ stop }) => stop()));
  return [
    ...shops.map(({ name }, index) => {
      const [calm, busy] = [quiet[index] ?? [], beside[index] ?? []];
      const figure = `live webhook of the ${name} beside ${TESTS} test webhooks, p50 / p95`;
      const value = `${p50p95(busy)} (quiet ${p50p95(calm)})`;
      return atMost(figure, value, [percentile(busy, 0.95), GOAL_MS], ' ms at p95');
    }),
    told('test webhooks that were left when the last live one had arrived', left.join(', ')),
  ];
}

/** A receiver that hears of new customers in live mode. */
async function openShop(deps: LiveGateway['deps'], shop: Shop) {
  const receiver = await startReceiver();
  await newEndpoint(deps, shop, receiver.url, ['customer.created']);
  let number = 0;
  const announce = async (): Promise<string> => {
    number += 1;
    return (await newCustomer(deps, shop, `u-${number}`)).id;
  };
  const arrivals = () =>
    receiver.requests.map(({ at, body }) => ({
      at,
      id: (JSON.parse(body.toString()) as { data: { id: string } }).data.id,
    }));
  const timing = { samples: SAMPLES, everyMs: EVERY_MS, limitMs: LIMIT_MS };
  return { receiver, measure: () => latencies(timing, announce, arrivals) };
}
