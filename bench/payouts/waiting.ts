import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { repairDeposits } from '../../src/services/repair/repair.ts';
import { repairSettlements } from '../../src/services/repair/settlements.ts';
import { cpuSecondsOf, cpuShare } from '../cpu.ts';
import type { Row } from '../row.ts';
import { mineByTheClock, type PayoutStage, startPayoutStage } from './stage.ts';

const WAITING = Number(process.env['BENCH_UNSETTLED'] ?? 10_000);
const PER_ADDRESS = 5;
const PER_BLOCK = 400;
const WINDOW_MS = 90_000;
const LIMIT_MS = 40 * 60_000;
/** As the gateway does. */
const REPAIR_EVERY_S = 600;

/**
 * Thousands of completed deposits that nobody pays out, because their addresses hold less than the least that
 * is: what they cost while blocks come as on BNB Chain, beside the same blocks before they were there, and
 * what the regular repair of their actors takes, which hardly falls into the time that is measured.
 */
export async function run(): Promise<Row[]> {
  const stage = await startPayoutStage({ SETTLE_MIN: 'USDT.bsc=1000' });
  await stage.payOut(true);
  const before = await share(stage);
  await stage.rows('update webhook_endpoints set enabled = false');
  await makeWaiting(stage);
  const after = await share(stage);
  const { deps } = stage.live.gateway;
  const seconds = await cpuSecondsOf(async () => {
    await repairDeposits(deps);
    await repairSettlements(deps);
  });
  const repair = seconds / REPAIR_EVERY_S;
  await stage.stop();
  await stopParts();
  const cost = after - before + repair;
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`;
  return [
    {
      figure: 'CPU of everything while blocks come, share of one core',
      value: percent(before),
      goal: '',
      met: true,
    },
    {
      figure: `the same with ${WAITING} completed deposits below the minimum`,
      value: percent(after),
      goal: '',
      met: true,
    },
    { figure: 'their repair every 10 minutes', value: percent(repair), goal: '', met: true },
    { figure: 'what they cost together', value: percent(cost), goal: '<= 5 %', met: cost <= 0.05 },
  ];
}

async function share(stage: PayoutStage): Promise<number> {
  const mining = mineByTheClock(stage);
  const used = await cpuShare(WINDOW_MS);
  await mining.end();
  return used;
}

async function makeWaiting({ live, chain, rows }: PayoutStage): Promise<void> {
  const addresses: string[] = [];
  while (addresses.length < WAITING / PER_ADDRESS) addresses.push((await live.newCustomer()).address);
  for (let index = 0; index < WAITING; index += 1) {
    await chain.usdt.call('transfer', [addresses[index % addresses.length], USDT_UNIT]);
    if (index % PER_BLOCK === PER_BLOCK - 1) await chain.mine(1);
  }
  await chain.mine(12);
  const began = Date.now();
  let said = 0;
  await eventually(
    'that every address waits for more',
    async () => {
      const [row] = await rows<{ done: number; waits: number; open: number }>(
        `select (select count(*)::int from deposits where status = 'completed') as done,
           (select count(*)::int from settlement_waits where code = 'below_minimum') as waits,
           (select count(*)::int from outbox) as open`,
      );
      if (Date.now() - said > 15_000) {
        said = Date.now();
        process.stderr.write(
          `  ${row?.done} of ${WAITING} deposits are completed, ${row?.waits} addresses wait, after ${Math.round((Date.now() - began) / 1_000)} s\n`,
        );
      }
      return row?.done === WAITING && row.waits === addresses.length && row.open === 0;
    },
    LIMIT_MS,
  );
}
