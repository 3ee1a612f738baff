import { setTimeout as sleep } from 'node:timers/promises';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { atMost, numberOf, percentile, type Row, told } from '../bench.ts';
import { countOf } from '../deps.ts';
import { cpuShare } from '../process-costs.ts';
import { measureDetected } from './latency.ts';

const WAITING = numberOf('BENCH_WAITING', 5_000);
const CUSTOMERS = 200;
const PER_BLOCK = 500;
const SAMPLES = 25;
const WINDOW_MS = 60_000;
const LIMIT_MS = 30 * 60_000;
const TELL_EVERY_MS = 10_000;

/**
 * Thousands of deposits that can never be confirmed, on a chain
 * that does not move: what they cost, and what they cost a new one.
 */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney({ env: { BSC_CONFIRMATIONS: '1000' } });
  const { orm } = live.gateway.deps;
  const idle = await sample(live);
  await orm.em.fork().execute('update webhook_endpoints set enabled = false');
  await makeWaiting(live);
  const cpu = 100 * (await cpuShare(WINDOW_MS));
  await orm.em.fork().execute('update webhook_endpoints set enabled = true');
  const crowded = await sample(live);
  await live.stop();
  const figure = `CPU of everything with ${WAITING} waiting deposits, share of one core`;
  return [
    atMost(figure, `${cpu.toFixed(1)} %`, [cpu, 10], ' %'),
    told('a new deposit to deposit.detected, idle, median', `${idle.toFixed(0)} ms`),
    atMost('the same beside the waiting ones, ratio', (crowded / idle).toFixed(2), [crowded / idle, 1.5]),
  ];
}

async function sample(live: LiveMoney): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < SAMPLES; index += 1) {
    values.push(await measureDetected(live));
    await sleep(250);
  }
  return percentile(values, 0.5);
}

async function makeWaiting({ chain, gateway, newCustomer }: LiveMoney): Promise<void> {
  const customers = [];
  for (let index = 0; index < CUSTOMERS; index += 1) customers.push(await newCustomer());
  for (let index = 0; index < WAITING; index += 1) {
    await chain.usdt.call('transfer', [customers[index % CUSTOMERS]?.address, USDT_UNIT]);
    if (index % PER_BLOCK === PER_BLOCK - 1) await chain.mine(1);
  }
  await chain.mine(1);
  let said = 0;
  const allSleep = async () => {
    const sleeping = await countOf(gateway.deps, 'deposits where wake_at > now()');
    if (Date.now() - said > TELL_EVERY_MS) {
      said = Date.now();
      process.stderr.write(`  ${sleeping} of ${WAITING} deposits sleep\n`);
    }
    return sleeping >= WAITING;
  };
  await eventually('that every deposit sleeps', allSleep, LIMIT_MS);
}
