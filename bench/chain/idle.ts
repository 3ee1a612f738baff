import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../dev/support/eventually.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import type { Network } from '../../src/domain/assets.ts';
import { readCursor } from '../../src/services/watcher/cursor.ts';
import { mineByTheClock } from '../deposits/cost-work.ts';
import { measureCosts } from '../process-costs.ts';
import type { Row } from '../row.ts';
import { type IdleStage, setIdleStage } from './idle-stage.ts';
import { nextBlock } from './next-block.ts';

const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 5);
/** Transfers of others in a block of Tron; one of BNB Chain has two. */
const STRANGERS = Number(process.env['BENCH_STRANGERS'] ?? 50);
const GOAL = 0.1;
/** What a start costs is no part of following. */
const WARM_UP_MS = Math.min(60_000, MINUTES * 60_000);
const FOLLOWS_WITHIN_MS = 3 * 60_000;
const STILL_WITHIN_MS = 10_000;
/** Seconds of either chain: so far a watcher that keeps up may be behind the head. */
const BEHIND_BLOCKS = { bsc: 10, tron: 2 } as const;
const STRANGER = '5e'.repeat(20);

type Heights = Readonly<Record<Network, number>>;
type Measured = {
  readonly share: number;
  readonly seconds: number;
  readonly blocks: Heights;
  /** Transfers of strangers on Tron. */
  readonly paid: number;
};

/**
 * What one worker uses while it follows both chains at the pace of their main nets and nothing is paid to its
 * customers: the processor time of its process alone, which other load on the machine changes little.
 */
export async function run(): Promise<Row[]> {
  const stage = await setIdleStage();
  const mining = mineByTheClock(stage.chain);
  mining.pay([{ id: '', address: `0x${STRANGER}` }], Number.MAX_SAFE_INTEGER);
  const strangers = payStrangers(stage);
  try {
    const rows = rowsOf(await measure(stage, strangers.paid));
    return rows;
  } finally {
    await strangers.end();
    await mining.end();
    await stage.stop();
  }
}

async function measure(stage: IdleStage, paid: () => number): Promise<Measured> {
  const { worker } = stage;
  await eventually('that the worker follows both chains', () => follows(stage), FOLLOWS_WITHIN_MS);
  await sleep(WARM_UP_MS);
  const [before, paidBefore, began] = [await heights(stage), paid(), Date.now()];
  const [costs] = await measureCosts({ worker: worker.pid() }, new Set(), () => sleep(MINUTES * 60_000));
  const ms = Date.now() - began;
  const after = await heights(stage);
  const paidMeanwhile = paid() - paidBefore;
  // A figure of a worker that did not follow, or did not live, is worth nothing.
  await eventually('that the worker still follows both chains', () => follows(stage), STILL_WITHIN_MS);
  if (worker.ended().length > 0) throw new Error(`the worker ended: ${worker.ended().join('; ')}`);
  return {
    share: ((costs.get('worker') ?? 0) * 1_000) / ms,
    seconds: ms / 1_000,
    blocks: { bsc: after.bsc - before.bsc, tron: after.tron - before.tron },
    paid: paidMeanwhile,
  };
}

function rowsOf({ share, seconds, blocks, paid }: Measured): Row[] {
  const told = (figure: string, value: string): Row => ({ figure, value, goal: '', met: true });
  return [
    told(`blocks of BNB Chain within ${seconds.toFixed(0)} s`, String(blocks.bsc)),
    told('blocks of Tron meanwhile', String(blocks.tron)),
    told('transfers of strangers in a block of Tron', (paid / blocks.tron).toFixed(0)),
    {
      figure: 'both chains followed by one worker, idle: share of one core',
      value: `${(share * 100).toFixed(1)} %`,
      goal: `<= ${GOAL * 100} %`,
      met: share <= GOAL,
    },
  ];
}

async function heights({ chain, node }: IdleStage): Promise<Heights> {
  const bsc = Number.parseInt((await chain.anvil.rpc('eth_blockNumber')) as string, 16);
  return { bsc, tron: node.head().header.number };
}

/** Whether the worker has read both chains up to their heads. */
async function follows(stage: IdleStage): Promise<boolean> {
  const heads = await heights(stage);
  const [bsc, tron] = [await readCursor(stage.deps, 'bsc'), await readCursor(stage.deps, 'tron')];
  return (
    (bsc?.scannedNumber ?? 0) >= heads.bsc - BEHIND_BLOCKS.bsc &&
    (tron?.scannedNumber ?? 0) >= heads.tron - BEHIND_BLOCKS.tron
  );
}

/** Sends the same number of transfers for every block of Tron, of both currencies in turn. */
function payStrangers({ node }: IdleStage) {
  const state = { on: true, paid: 0 };
  const turn = async (): Promise<void> => {
    while (state.on) {
      await nextBlock(node);
      for (let index = 0; index < STRANGERS && state.on; index += 1, state.paid += 1)
        await node.pay({
          to: keyOfHex(STRANGER),
          currency: index % 2 === 0 ? 'USDT' : 'TRX',
          units: 1_000_000n,
        });
    }
  };
  const ended = turn();
  return {
    paid: () => state.paid,
    end: async () => {
      state.on = false;
      await ended;
    },
  };
}
