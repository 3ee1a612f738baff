import { eventually } from '../../dev/support/eventually.ts';
import { type LiveGateway, startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal, stopParts } from '../../dev/support/parts.ts';
import { type Receiver, startReceiver } from '../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, sendTestEvent } from '../../dev/support/use-cases.ts';
import type { Mode } from '../../src/domain/assets.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

/** `BENCH_BACKLOG` and `BENCH_ROUNDS` make a quick run; the goal holds for the numbers here. */
const TESTS = Number(process.env['BENCH_BACKLOG'] ?? 400);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SAMPLES = 30;
const EVERY_MS = 500;
const LIMIT_MS = 120_000;
const PARALLEL = 20;
const GOAL_MS = 1_500;

/** Someone who hears of new customers in live mode. */
type Shop = { readonly name: string; readonly receiver: Receiver; announce(): Promise<string> };

/**
 * 400 test webhooks of one merchant at once, and meanwhile a live one of the same and of another
 * merchant each {@link EVERY_MS}, from the commit to the receiver; before each rush the same without it.
 */
export async function run(): Promise<Row[]> {
  const [temporal, database] = await Promise.all([ownTemporal(), freshDatabase()]);
  const gateway = await startLiveGateway({
    databaseUrl: database.url,
    temporalAddress: temporal.now.address,
    env: { LOG_LEVEL: 'fatal' },
  });
  const merchants = [await newMerchant(gateway), await newMerchant(gateway)] as const;
  const shops = [
    await openShop(gateway, merchants[0], 'same merchant'),
    await openShop(gateway, merchants[1], 'another merchant'),
  ];
  const drill = await openDrill(gateway, merchants[0]);
  await measure(shops);
  const quiet: number[][] = [[], []];
  const beside: number[][] = [[], []];
  const left: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, times] of (await measure(shops)).entries()) quiet[index]?.push(...times);
    const rush = drill.rush();
    for (const [index, times] of (await measure(shops)).entries()) beside[index]?.push(...times);
    await rush;
    left.push((round + 1) * TESTS - drill.receiver.requests.length);
    await eventually(
      'the end of the rush',
      () => drill.receiver.requests.length >= (round + 1) * TESTS,
      LIMIT_MS,
    );
  }
  await gateway.stop();
  await Promise.all([drill, ...shops].map(({ receiver }) => receiver.stop()));
  await temporal.stop();
  await stopParts();
  return [
    ...shops.map(({ name }, index): Row => {
      const [calm, busy] = [quiet[index] ?? [], beside[index] ?? []];
      const late = percentile(busy, 0.95);
      return {
        figure: `live webhook of the ${name} beside ${TESTS} test webhooks, p50 / p95`,
        value: `${ms(busy)} (quiet ${ms(calm)})`,
        goal: `p95 ≤ ${GOAL_MS} ms`,
        met: late <= GOAL_MS,
      };
    }),
    {
      figure: 'test webhooks that were left when the last live one had arrived',
      value: left.join(', '),
      goal: '',
      met: true,
    },
  ];
}

const newMerchant = async ({ deps }: LiveGateway): Promise<string> =>
  (await createMerchant(deps, { name: 'Shop', subscriptionActive: true })).merchantId;

async function openShop({ deps }: LiveGateway, merchantId: string, name: string): Promise<Shop> {
  const scope: { merchantId: string; mode: Mode } = { merchantId, mode: 'live' };
  const receiver = await startReceiver({ behaviour: 200 });
  await createEndpoint(deps, {
    ...scope,
    url: receiver.url,
    events: ['customer.created'],
    description: null,
  });
  let number = 0;
  const announce = async (): Promise<string> => {
    number += 1;
    return (
      await createCustomer(deps, {
        ...scope,
        externalId: `u-${number}`,
        email: null,
        name: null,
        metadata: {},
      })
    ).id;
  };
  return { name, receiver, announce };
}

async function openDrill(
  { deps }: LiveGateway,
  merchantId: string,
): Promise<{ readonly receiver: Receiver; rush(): Promise<void> }> {
  const scope: { merchantId: string; mode: Mode } = { merchantId, mode: 'test' };
  const receiver = await startReceiver({ behaviour: 200 });
  const { id } = await createEndpoint(deps, {
    ...scope,
    url: receiver.url,
    events: ['*'],
    description: null,
  });
  const rush = async (): Promise<void> => {
    let asked = 0;
    const client = async (): Promise<void> => {
      for (asked += 1; asked <= TESTS; asked += 1) await sendTestEvent(deps, { ...scope, id });
    };
    await Promise.all(Array.from({ length: PARALLEL }, client));
  };
  return { receiver, rush };
}

/**
 * Milliseconds from the call to the arrival by shop, whether or not
 * the one before has arrived; what does not come counts as endless.
 */
async function measure(shops: readonly Shop[]): Promise<number[][]> {
  const began = Date.now();
  const sent = shops.map(() => new Map<string, number>());
  for (let index = 0; index < SAMPLES; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + index * EVERY_MS - Date.now())));
    await Promise.all(
      shops.map(async ({ announce }, shop) => {
        const at = Date.now();
        sent[shop]?.set(await announce(), at);
      }),
    );
  }
  const arrived = (shop: Shop, index: number): number[] =>
    shop.receiver.requests.flatMap(({ at, body }) => {
      const { data } = JSON.parse(body.toString()) as { data: { id: string } };
      const from = sent[index]?.get(data.id);
      return from === undefined ? [] : [at - from];
    });
  const all = (): number[][] => shops.map(arrived);
  await eventually(
    'every live webhook',
    () => all().every((times) => times.length >= SAMPLES),
    LIMIT_MS,
  ).catch(() => undefined);
  return all().map((times) =>
    [...times, ...Array<number>(SAMPLES).fill(Number.POSITIVE_INFINITY)].slice(0, SAMPLES),
  );
}

const ms = (values: readonly number[]): string =>
  `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.95).toFixed(0)} ms`;
