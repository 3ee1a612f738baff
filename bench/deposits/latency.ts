// How soon a merchant hears of money: from the block that holds it to the received webhook.
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../dev/random.ts';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { type LiveChains, startLiveChains } from '../../dev/support/live-chains.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import type { Receiver } from '../../dev/support/receiver.ts';
import type { TronNode } from '../../dev/tron/node.ts';
import { atMost, numberOf, percentile, type Row, told } from '../bench.ts';

const LOOK_EVERY_MS = 5;
const TRON_BLOCK_MS = 3_000;
/** Payments for each start of the worker. */
const PER_START = 10;

/**
 * Milliseconds from a moment of the wall clock to the receipt of an event about this transaction, of
 * `deposit.detected` where none is named.
 * Throws when it does not come within `limitMs`, or not signed as it should be.
 */
export async function receivedAfter(
  receiver: Receiver,
  input: { hash: string; sinceMs: number; limitMs?: number | undefined; event?: string },
): Promise<number> {
  const { hash, sinceMs, limitMs = 20_000, event = 'deposit.detected' } = input;
  for (;;) {
    const request = receiver.requests.find(
      (item) => item.headers['x-webhook-event'] === event && item.body.includes(hash),
    );
    if (request && request.verified !== true) throw new Error('the signature of the event is wrong');
    if (request) return request.at - sinceMs;
    if (Date.now() > sinceMs + limitMs)
      throw new Error(`the event did not arrive within ${limitMs / 1_000} s`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Half of the sample came within the first, which is only told; 19 of 20 within the second. */
export function latencyRows(figure: string, values: readonly number[], goalMs: number): Row[] {
  const [middle, late] = [percentile(values, 0.5), percentile(values, 0.95)];
  return [
    told(`${figure}, p50`, `${middle.toFixed(0)} ms`),
    atMost(`${figure}, p95`, `${late.toFixed(0)} ms`, [late, goalMs], ' ms'),
  ];
}

/** One deposit at a time on an idle system, at random moments of the watcher's turn. */
export async function run(): Promise<Row[]> {
  const live = await startLiveMoney();
  const values: number[] = [];
  for (let sample = 0; sample < numberOf('BENCH_LATENCY_SAMPLES', 120); sample += 1) {
    values.push(await measureDetected(live));
    await sleep(200 + ((sample * 37) % 190));
  }
  await live.stop();
  return latencyRows('block mined → deposit.detected received', values, 250);
}

/** Of a block with one transfer, mined now. Throws when its event does not come within `limitMs`. */
export async function measureDetected(live: LiveMoney, limitMs?: number): Promise<number> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  return await receivedAfter(live.receiver, { hash, sinceMs: Date.now(), limitMs });
}

/**
 * One deposit at a time, sent at random moments of a block's time to a chain whose blocks come by the clock.
 * The gateway has the requests of a free key. When it asks for heads may depend on the moment at which it
 * began, so the worker starts anew before every tenth payment; the first one after a start is not counted.
 */
export async function runTron(): Promise<Row[]> {
  const samples = numberOf('BENCH_LATENCY_SAMPLES', 40);
  const chains = await startLiveChains({
    tron: { blockTimeMs: TRON_BLOCK_MS, solidDistance: 19 },
    env: { TRON_CONFIRMATIONS: '19', TRON_REQUESTS_PER_SECOND: '15', TRON_REQUESTS_PER_DAY: '100000' },
  });
  const { gateway } = chains.live;
  const random = createRandom('latency on Tron');
  const values: number[] = [];
  // What is sent before the first block by the clock is too old for it.
  await nextBlock(chains.node);
  while (values.length < samples) {
    await gateway.stopWorker();
    await sleep(random.int(0, TRON_BLOCK_MS));
    await gateway.startWorker();
    await detectedOnTron(chains);
    const counted = Math.min(PER_START, samples - values.length);
    for (let payment = 0; payment < counted; payment += 1) {
      await sleep(random.int(0, TRON_BLOCK_MS));
      values.push(await detectedOnTron(chains));
    }
    const last = values.slice(-counted).join(', ');
    process.stderr.write(`  ${values.length} of ${samples} payments: ${last} ms\n`);
  }
  await chains.stop();
  return latencyRows('block of 3 s of Tron mined → deposit.detected received', values, 1_000);
}

async function detectedOnTron({ live, node, tron }: LiveChains): Promise<number> {
  const hash = await tron.pay({ currency: 'USDT', units: tron.usdtUnit });
  return await receivedAfter(live.receiver, { hash, sinceMs: await nextBlock(node) });
}

/**
 * Waits for the node's next block and returns when it was made, in milliseconds of the wall clock. The
 * block's own time is no measure: it is that of its slot, which began up to 3 s before.
 */
export async function nextBlock(node: TronNode): Promise<number> {
  const { number } = node.head().header;
  while (node.head().header.number === number) await sleep(2);
  return Date.now();
}
