import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { repairDeposits } from '../../src/services/repair/repair.ts';
import { repairSettlements } from '../../src/services/repair/settlements.ts';
import { atMost, numberOf, type Row, told } from '../bench.ts';
import { cpuSecondsOf, cpuShare } from '../process-costs.ts';
import { type PayoutStage, withPayouts } from './stage.ts';

const WAITING = numberOf('BENCH_UNSETTLED', 10_000);
const PER_ADDRESS = 5;
const PER_BLOCK = 400;
const WINDOW_MS = numberOf('BENCH_WINDOW_MS', 90_000);
const LIMIT_MS = 40 * 60_000;
const TELL_EVERY_MS = 15_000;
/** As the gateway does. */
const REPAIR_EVERY_S = 600;

/**
 * Thousands of completed deposits that nobody pays out, because their addresses hold less than the least that
 * is: what they cost while blocks come as on BNB Chain, beside the same blocks before they were there, and
 * what the regular repair of their actors takes, which hardly falls into the time that is measured.
 */
export function run(): Promise<Row[]> {
  return withPayouts(
    async (stage) => {
      const { deps } = stage.live.gateway;
      await stage.payOut(true);
      const before = await share(stage);
      await stage.rows('update webhook_endpoints set enabled = false');
      await makeWaiting(stage);
      const after = await share(stage);
      const seconds = await cpuSecondsOf(async () => {
        await repairDeposits(deps);
        await repairSettlements(deps);
      });
      const repair = (100 * seconds) / REPAIR_EVERY_S;
      const cost = after - before + repair;
      const percent = (value: number) => `${value.toFixed(1)} %`;
      return [
        told('CPU of everything while blocks come, share of one core', percent(before)),
        told(`the same with ${WAITING} completed deposits below the minimum`, percent(after)),
        told('their repair every 10 minutes', percent(repair)),
        atMost('what they cost together', percent(cost), [cost, 5], ' %'),
      ];
    },
    { SETTLE_MIN: 'USDT.bsc=1000' },
  );
}

async function share(stage: PayoutStage): Promise<number> {
  const mining = stage.mining();
  const used = await cpuShare(WINDOW_MS);
  await mining.end();
  return 100 * used;
}

async function makeWaiting({ live, chain, count }: PayoutStage): Promise<void> {
  const addresses: string[] = [];
  while (addresses.length < WAITING / PER_ADDRESS) addresses.push((await live.newCustomer()).address);
  for (let index = 0; index < WAITING; index += 1) {
    await chain.usdt.call('transfer', [addresses[index % addresses.length], USDT_UNIT]);
    if (index % PER_BLOCK === PER_BLOCK - 1) await chain.mine(1);
  }
  await chain.mine(12);
  let said = 0;
  const allWait = async () => {
    const done = await count(`deposits where status = 'completed'`);
    const waits = await count(`settlement_waits where code = 'below_minimum'`);
    if (Date.now() - said > TELL_EVERY_MS) {
      said = Date.now();
      process.stderr.write(`  ${done} of ${WAITING} deposits are completed, ${waits} addresses wait\n`);
    }
    return done === WAITING && waits === addresses.length && (await count('outbox')) === 0;
  };
  await eventually('that every address waits for more', allWait, LIMIT_MS);
}
