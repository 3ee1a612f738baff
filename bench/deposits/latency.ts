import { USDT_UNIT } from '../../dev/support/chain.ts';
import { startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

const SAMPLES = 120;

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
  const p95 = percentile(values, 0.95);
  return [
    {
      figure: 'block mined → deposit.detected received, p50',
      value: `${percentile(values, 0.5).toFixed(0)} ms`,
      goal: '',
      met: true,
    },
    {
      figure: 'block mined → deposit.detected received, p95',
      value: `${p95.toFixed(0)} ms`,
      goal: '<= 250 ms',
      met: p95 <= 250,
    },
  ];
}

/**
 * Milliseconds from the mining of a block with one transfer to the
 * receipt of its event. Throws when it does not come within `limitMs`.
 */
export async function measureDetected(
  live: Awaited<ReturnType<typeof startLiveMoney>>,
  limitMs = 20_000,
): Promise<number> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  const mined = Date.now();
  const until = mined + limitMs;
  for (;;) {
    const request = live.receiver.requests.find(
      (item) => item.headers['x-webhook-event'] === 'deposit.detected' && item.body.includes(hash),
    );
    if (request) return request.at - mined;
    if (Date.now() > until) throw new Error(`the event did not arrive within ${limitMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
