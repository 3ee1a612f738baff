import { setTimeout as sleep } from 'node:timers/promises';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { startReceiver } from '../../dev/support/receiver.ts';
import { atMost, numberOf, p50p95, percentile, type Row, told } from '../bench.ts';
import { measureDetected } from '../deposits/latency.ts';
import { countOf, newCustomer, newEndpoint, newLink, newShop } from '../deps.ts';

const DUST = numberOf('BENCH_DUST', 1_000);
const SAMPLES = numberOf('BENCH_DUST_SAMPLES', 60);
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

type Attack = { readonly address: string; readonly units: bigint };

/**
 * One merchant is paid once a second, and each payment is followed from its block to the webhook; in
 * the very same blocks the address of another merchant's open payment link is sent dust. Once below
 * the floor, and once with the least that is not below it: then each is a deposit with events and an
 * actor, and all of them count for the one link. Quiet is measured before and after the dust.
 */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney({ env: { DUST_FLOOR: FLOOR } });
  const { deps } = live.gateway;
  const [other, receiver] = [await newShop(deps, 'Other shop'), await startReceiver()];
  await newEndpoint(deps, other, receiver.url);
  const { id, address } = await newCustomer(deps, other, 'payer');
  await newLink(deps, other, id, 100_000n);
  const deposits = `deposits where customer_id = '${id}'`;
  await latencies(live, WARM_UP);
  const before = await latencies(live, SAMPLES / 2);
  const dust = await latencies(live, SAMPLES, { address, units: FLOOR_UNITS - 1n });
  await recorded(live, `unrecognised_transfers where reason = 'dust'`);
  const after = await latencies(live, SAMPLES / 2);
  if ((await countOf(deps, deposits)) > 0) throw new Error('dust became a deposit');
  const above = await latencies(live, SAMPLES, { address, units: FLOOR_UNITS });
  await recorded(live, deposits);
  await receiver.stop();
  await live.stop();
  const quiet = [...before, ...after];
  const [calm, busy, busier] = [quiet, dust, above].map((values) => percentile(values, 0.95)) as [
    number,
    number,
    number,
  ];
  return [
    told('block mined → deposit.detected received, p50 and p95, quiet', p50p95(quiet)),
    told(`the same while ${DUST} transfers below the floor reach another merchant's link`, p50p95(dust)),
    atMost('dust p95 / quiet p95', (busy / calm).toFixed(2), [busy / calm, GOAL]),
    told(`the same while ${DUST} transfers of the floor's amount reach it`, p50p95(above)),
    told('their p95 / quiet p95: what the floor keeps away', (busier / calm).toFixed(2)),
  ];
}

/**
 * A payment every second, whether the one before has arrived
 * or not: an answer that is late delays no question.
 */
async function latencies(live: LiveMoney, samples: number, attack?: Attack): Promise<number[]> {
  const { usdt, mine, accounts } = live.chain;
  const what = attack ? `beside ${DUST} transfers of ${attack.units} base units` : 'quiet';
  process.stderr.write(`  ${samples} payments, ${what}\n`);
  const flying: Promise<number>[] = [];
  let sent = 0;
  // An account of its own: two senders of one would take each other's places.
  const from = accounts[5] ?? '';
  if (attack) {
    await usdt.call('transfer', [from, attack.units * BigInt(DUST)]);
    await mine(1);
  }
  for (let index = 1; index <= samples; index += 1) {
    const next = sleep(EVERY_MS);
    for (; attack && sent < (DUST * index) / samples; sent += 1)
      await usdt.call('transfer', [attack.address, attack.units], { from });
    const sample = measureDetected(live, ARRIVED_WITHIN_MS);
    // It is thrown where all are waited for.
    sample.catch(() => undefined);
    flying.push(sample);
    await next;
  }
  return await Promise.all(flying);
}

/** A figure of an attack that did not take place is worth nothing. */
async function recorded({ gateway }: LiveMoney, rows: string): Promise<void> {
  const all = async () => (await countOf(gateway.deps, rows)) === DUST;
  await eventually(`${DUST} ${rows}`, all, RECORDED_WITHIN_MS);
}
