import { setTimeout as sleep } from 'node:timers/promises';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, createPaymentLink } from '../../dev/support/use-cases.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { measureDetected } from '../deposits/latency.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

/** `BENCH_DUST` and `BENCH_DUST_SAMPLES` make a quick run; the goal holds for the numbers here. */
const DUST = Number(process.env['BENCH_DUST'] ?? 1_000);
const SAMPLES = Number(process.env['BENCH_DUST_SAMPLES'] ?? 60);
const EVERY_MS = 1_000;
const WARM_UP = 10;
/**
 * More deposits a second than a small machine works off make everybody wait, for as long as there are some.
 */
const ARRIVED_WITHIN_MS = 5 * 60_000;
const RECORDED_WITHIN_MS = 10 * 60_000;
const FLOOR = 'USDT=0.001';
const FLOOR_UNITS = USDT_UNIT / 1_000n;
const GOAL = 1.5;

type Target = { readonly address: string; readonly customerId: string; stop(): Promise<void> };
type Attack = { readonly address: string; readonly units: bigint };

/**
 * One merchant is paid once a second, and each payment is followed from its block to the webhook; in
 * the very same blocks the address of another merchant's open payment link is sent dust. Once below
 * the floor, and once with the least that is not below it: then each is a deposit with events and an
 * actor, and all of them count for the one link. Quiet is measured before and after the dust.
 */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney({ env: { DUST_FLOOR: FLOOR } });
  const target = await openTarget(live);
  await latencies(live, WARM_UP);
  const before = await latencies(live, SAMPLES / 2);
  const dust = await latencies(live, SAMPLES, { address: target.address, units: FLOOR_UNITS - 1n });
  await recorded(live, `unrecognised_transfers where reason = 'dust'`);
  const after = await latencies(live, SAMPLES / 2);
  if ((await count(live, depositsOf(target))) > 0) throw new Error('dust became a deposit');
  const above = await latencies(live, SAMPLES, { address: target.address, units: FLOOR_UNITS });
  await recorded(live, depositsOf(target));
  await target.stop();
  await live.stop();
  await stopParts();
  return rowsOf([...before, ...after], dust, above);
}

function rowsOf(quiet: readonly number[], dust: readonly number[], above: readonly number[]): Row[] {
  const p95 = (values: readonly number[]): number => percentile(values, 0.95);
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  const both = (values: readonly number[]): string =>
    `${percentile(values, 0.5).toFixed(0)} ms, ${p95(values).toFixed(0)} ms`;
  const ratio = p95(dust) / p95(quiet);
  return [
    told('block mined → deposit.detected received, p50 and p95, quiet', both(quiet)),
    told(`the same while ${DUST} transfers below the floor reach another merchant's link`, both(dust)),
    { figure: 'dust p95 / quiet p95', value: ratio.toFixed(2), goal: `<= ${GOAL}`, met: ratio <= GOAL },
    told(`the same while ${DUST} transfers of the floor's amount reach it`, both(above)),
    told('their p95 / quiet p95: what the floor keeps away', (p95(above) / p95(quiet)).toFixed(2)),
  ];
}

/**
 * Another merchant, with an endpoint of its own and a customer
 * whose payment link is open for longer than this runs.
 */
async function openTarget({ gateway: { deps } }: LiveMoney): Promise<Target> {
  const { merchantId } = await createMerchant(deps, { name: 'Other shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'live' as const };
  const receiver = await startReceiver();
  await createEndpoint(deps, { ...scope, url: receiver.url, events: ['*'], description: null });
  const customer = await createCustomer(deps, {
    ...scope,
    externalId: 'payer',
    email: null,
    name: null,
    metadata: {},
  });
  const terms = { amountCents: 100_000n, expiresInS: 86_400, publicUrl: 'https://pay.example' };
  await createPaymentLink(deps, { ...scope, ...terms, customerId: customer.id });
  const address = customer.addresses.find((one) => one.network === 'bsc')?.address.toLowerCase() ?? '';
  return { address, customerId: customer.id, stop: () => receiver.stop() };
}

/**
 * A payment every second, whether the one before has arrived
 * or not: an answer that is late delays no question.
 */
async function latencies(live: LiveMoney, samples: number, attack?: Attack): Promise<number[]> {
  const what = attack ? `beside ${DUST} transfers of ${attack.units} base units` : 'quiet';
  process.stderr.write(`  ${samples} payments, ${what}\n`);
  const flying: Promise<number>[] = [];
  let sent = 0;
  // An account of its own: two senders of one would take each other's places.
  const from = live.chain.accounts[5] ?? '';
  if (attack) await live.chain.usdt.call('transfer', [from, attack.units * BigInt(DUST)]);
  if (attack) await live.chain.mine(1);
  for (let index = 1; index <= samples; index += 1) {
    const next = sleep(EVERY_MS);
    for (; attack && sent < (DUST * index) / samples; sent += 1)
      await live.chain.usdt.call('transfer', [attack.address, attack.units], { from });
    const sample = measureDetected(live, ARRIVED_WITHIN_MS);
    // It is thrown where all are waited for.
    sample.catch(() => undefined);
    flying.push(sample);
    await next;
  }
  return await Promise.all(flying);
}

const depositsOf = ({ customerId }: Target): string => `deposits where customer_id = '${customerId}'`;

async function count({ gateway }: LiveMoney, rows: string): Promise<number> {
  const [row] = await gateway.deps.orm.em
    .fork()
    .execute<{ n: number }[]>(`select count(*)::int as n from ${rows}`);
  return row?.n ?? 0;
}

/** A figure of an attack that did not take place is worth nothing. */
async function recorded(live: LiveMoney, rows: string): Promise<void> {
  await eventually(`${DUST} ${rows}`, async () => (await count(live, rows)) === DUST, RECORDED_WITHIN_MS);
}
