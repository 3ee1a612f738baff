import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../dev/random.ts';
import { type LiveChains, startLiveChains } from '../../dev/support/live-chains.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { nextBlock } from '../chain/next-block.ts';
import type { Row } from '../row.ts';
import { latencyRows, receivedAfter } from './latency-rows.ts';

const SAMPLES = Number(process.env['BENCH_LATENCY_SAMPLES'] ?? 40);
const PER_START = 10;
const BLOCK_MS = 3_000;
const GOAL_MS = 1_000;

/**
 * One deposit at a time, sent at random moments of a block's time to a chain whose blocks come by the clock:
 * from the block that holds it to the received webhook. The gateway has the requests of a free key. When it
 * asks for heads may depend on the moment at which it began, so the worker starts anew before every tenth
 * payment; the first one after a start is not counted.
 */
export async function run(): Promise<Row[]> {
  const chains = await startLiveChains({
    tron: { blockTimeMs: BLOCK_MS, solidDistance: 19 },
    env: { TRON_CONFIRMATIONS: '19', TRON_REQUESTS_PER_SECOND: '15', TRON_REQUESTS_PER_DAY: '100000' },
  });
  try {
    const values = await measure(chains);
    return latencyRows('block of 3 s of Tron mined → deposit.detected received', values, GOAL_MS);
  } finally {
    await chains.stop();
    await stopParts();
  }
}

async function measure(chains: LiveChains): Promise<number[]> {
  const { gateway } = chains.live;
  const random = createRandom('latency on Tron');
  const values: number[] = [];
  // What is sent before the first block by the clock is too old for it.
  await nextBlock(chains.node);
  while (values.length < SAMPLES) {
    await gateway.stopWorker();
    await sleep(random.int(0, BLOCK_MS));
    await gateway.startWorker();
    await measureDetected(chains);
    const counted = Math.min(PER_START, SAMPLES - values.length);
    for (let payment = 0; payment < counted; payment += 1) {
      await sleep(random.int(0, BLOCK_MS));
      values.push(await measureDetected(chains));
    }
    process.stderr.write(
      `  ${values.length} of ${SAMPLES} payments: ${values.slice(-counted).join(', ')} ms\n`,
    );
  }
  return values;
}

async function measureDetected({ live, node, tron }: LiveChains): Promise<number> {
  const hash = await tron.pay({ currency: 'USDT', units: tron.usdtUnit });
  return await receivedAfter(live.receiver, { hash, sinceMs: await nextBlock(node) });
}
