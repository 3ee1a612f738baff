import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../dev/support/eventually.ts';
import { numberOf, type Row } from '../bench.ts';
import { latencyRows, receivedAfter } from '../deposits/latency.ts';
import { BLOCK_MS, type PayoutStage, withPayouts } from './stage.ts';

/** The finalized block is the head less two. */
const FINAL_AFTER = 2;
const MOST_BLOCKS = 60;

/**
 * One payout at a time, at random moments of the watcher's turn: from the block that
 * makes the block of the payout final to the received `deposit.settled`.
 */
export function run(): Promise<Row[]> {
  return withPayouts(async (stage) => {
    await stage.payOut(true);
    const values: number[] = [];
    for (let sample = 0; sample < numberOf('BENCH_SETTLE_SAMPLES', 60); sample += 1) {
      values.push(await measure(stage));
      await sleep((sample * 37) % 190);
    }
    return latencyRows('payout block final → deposit.settled received', values, 1_000);
  });
}

async function measure({ live, chain, rows, deposit }: PayoutStage): Promise<number> {
  const { address } = await live.newCustomer();
  const hash = await deposit('BNB', address);
  const isPending = async () => {
    const [sent] = await rows<{ hash: string }>(
      `select s.hash from sent_transactions s join payouts p on p.id = s.payout_id
       where lower(p.address) = ? and s.state = 'sent' and s.purpose = 'payout'`,
      [address],
    );
    return sent !== undefined && (await chain.anvil.rpc('eth_getTransactionByHash', [sent.hash])) !== null;
  };
  // Until the deposit is final; then nothing is mined before the payout is in the pool.
  await chain.mine(1);
  for (let blocks = 1; blocks < MOST_BLOCKS && !(await isPending()); blocks += 1) {
    const text = 'select status from deposits where transaction_hash = ?';
    const [found] = await rows<{ status: string }>(text, [hash]);
    if (found?.status !== 'completed') await chain.mine(1);
    await sleep(BLOCK_MS / 2);
  }
  await eventually('a payout in the pool', isPending, 30_000);
  for (let index = 0; index < FINAL_AFTER; index += 1) {
    await chain.mine(1);
    await sleep(BLOCK_MS);
  }
  await chain.mine(1);
  return await receivedAfter(live.receiver, { hash, sinceMs: Date.now(), event: 'deposit.settled' });
}
