import { USDT_UNIT } from '../../dev/support/chain.ts';
import { startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import type { Row } from '../row.ts';
import { latencyRows, receivedAfter } from './latency-rows.ts';

const SAMPLES = 120;
const GOAL_MS = 250;

/**
 * One deposit at a time on an idle system, at random moments of the
 * watcher's turn: from the mined block to the received webhook.
 */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney();
  const values: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    values.push(await measureDetected(live));
    await new Promise((resolve) => setTimeout(resolve, 200 + ((sample * 37) % 190)));
  }
  await live.stop();
  await stopParts();
  return latencyRows('block mined → deposit.detected received', values, GOAL_MS);
}

/**
 * Milliseconds from the mining of a block with one transfer to the
 * receipt of its event. Throws when it does not come within `limitMs`.
 */
export async function measureDetected(
  live: Awaited<ReturnType<typeof startLiveMoney>>,
  limitMs?: number,
): Promise<number> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  return await receivedAfter(live.receiver, { hash, sinceMs: Date.now(), limitMs });
}
