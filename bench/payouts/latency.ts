import { setTimeout as sleep } from 'node:timers/promises';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { latencyRows, receivedAfter } from '../deposits/latency-rows.ts';
import type { Row } from '../row.ts';
import { type PayoutStage, startPayoutStage } from './stage.ts';

const SAMPLES = Number(process.env['BENCH_SETTLE_SAMPLES'] ?? 60);
const GOAL_MS = 1_000;
const BLOCK_MS = 450;
/** The finalized block is the head less two. */
const FINAL_AFTER = 2;
const MOST_BLOCKS = 60;

/**
 * One payout at a time, at random moments of the watcher's turn: from the block that
 * makes the block of the payout final to the received `deposit.settled`.
 */
export async function run(): Promise<Row[]> {
  const stage = await startPayoutStage();
  await stage.payOut(true);
  const values: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    values.push(await measure(stage));
    await sleep((sample * 37) % 190);
  }
  await stage.stop();
  await stopParts();
  return latencyRows('payout block final → deposit.settled received', values, GOAL_MS);
}

async function measure({ live, chain, rows }: PayoutStage): Promise<number> {
  const { address } = await live.newCustomer();
  const hash = await chain.send({ to: address, valueUnits: USDT_UNIT / 10n });
  const payout = async () =>
    (
      await rows<{ hash: string }>(
        `select s.hash from sent_transactions s join payouts p on p.id = s.payout_id
         where lower(p.address) = ? and s.state = 'sent' and s.purpose = 'payout'`,
        [address],
      )
    )[0]?.hash;
  const isPending = async () => {
    const sent = await payout();
    if (sent === undefined) return false;
    return (await chain.anvil.rpc('eth_getTransactionByHash', [sent])) !== null;
  };
  // Until the deposit is final; then nothing is mined before the payout is in the pool.
  await chain.mine(1);
  let blocks = 1;
  while (!(await isPending())) {
    const [deposit] = await rows<{ status: string }>(
      'select status from deposits where transaction_hash = ?',
      [hash],
    );
    if (deposit?.status !== 'completed') await chain.mine(1);
    blocks += 1;
    if (blocks > MOST_BLOCKS) break;
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
