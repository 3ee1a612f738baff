import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { cpuShare } from '../cpu.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { measureDetected } from './latency.ts';

const WAITING = Number(process.env['BENCH_WAITING'] ?? 5_000);
const CUSTOMERS = 200;
const PER_BLOCK = 500;
const SAMPLES = 25;
const WINDOW_MS = 60_000;
const LIMIT_MS = 30 * 60_000;

/**
 * Thousands of deposits that can never be confirmed, on a chain
 * that does not move: what they cost, and what they cost a new one.
 */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney({ env: { BSC_CONFIRMATIONS: '1000' } });
  const idle = await sample(live);
  await live.gateway.deps.orm.em.fork().execute('update webhook_endpoints set enabled = false');
  await makeWaiting(live);
  const cpu = await cpuShare(WINDOW_MS);
  await live.gateway.deps.orm.em.fork().execute('update webhook_endpoints set enabled = true');
  const crowded = await sample(live);
  await live.stop();
  await stopParts();
  return [
    {
      figure: `CPU of everything with ${WAITING} waiting deposits, share of one core`,
      value: `${(cpu * 100).toFixed(1)} %`,
      goal: '<= 10 %',
      met: cpu <= 0.1,
    },
    {
      figure: 'a new deposit to deposit.detected, idle, median',
      value: `${idle.toFixed(0)} ms`,
      goal: '',
      met: true,
    },
    {
      figure: 'the same beside the waiting ones, ratio',
      value: (crowded / idle).toFixed(2),
      goal: '<= 1.5',
      met: crowded / idle <= 1.5,
    },
  ];
}

async function sample(live: LiveMoney): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < SAMPLES; index += 1) {
    values.push(await measureDetected(live));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return percentile(values, 0.5);
}

async function makeWaiting(live: LiveMoney): Promise<void> {
  const customers = [];
  for (let index = 0; index < CUSTOMERS; index += 1) customers.push(await live.newCustomer());
  for (let index = 0; index < WAITING; index += 1) {
    await live.chain.usdt.call('transfer', [customers[index % CUSTOMERS]?.address, USDT_UNIT]);
    if (index % PER_BLOCK === PER_BLOCK - 1) await live.chain.mine(1);
  }
  await live.chain.mine(1);
  const began = Date.now();
  let said = 0;
  await eventually(
    'that every deposit sleeps',
    async () => {
      const [row] = await live.gateway.deps.orm.em
        .fork()
        .execute<{ sleeping: string }[]>(
          `select count(*) filter (where wake_at > now())::text as sleeping from deposits`,
        );
      if (Date.now() - said > 10_000) {
        said = Date.now();
        process.stderr.write(
          `  ${row?.sleeping ?? 0} of ${WAITING} deposits sleep after ${Math.round((Date.now() - began) / 1_000)} s\n`,
        );
      }
      return Number(row?.sleeping) >= WAITING;
    },
    LIMIT_MS,
  );
}
