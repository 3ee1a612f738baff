import { setTimeout as sleep } from 'node:timers/promises';
import { startTestChain } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { tronEnv } from '../../dev/support/live-chains.ts';
import { ownTemporal, tempDir } from '../../dev/support/parts.ts';
import { startTronNode } from '../../dev/tron/node.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import type { Network } from '../../src/domain/assets.ts';
import type { Deps } from '../../src/services/deps.ts';
import { readCursor } from '../../src/services/watcher/cursor.ts';
import { atMost, byTheClock, numberOf, type Row, told } from '../bench.ts';
import { minePayments } from '../deposits/cost.ts';
import { nextBlock } from '../deposits/latency.ts';
import { newCustomer, newShop, withDatabase } from '../deps.ts';
import { measureCosts } from '../process-costs.ts';
import { gatewayRole, roleEnv } from '../servers.ts';

const MINUTES = numberOf('BENCH_MINUTES', 5);
/** Transfers of others in a block of Tron; one of BNB Chain has two. */
const STRANGERS = numberOf('BENCH_STRANGERS', 50);
const CUSTOMERS = 500;
const SOLID_DISTANCE = 19;
const GOAL_PERCENT = 10;
/** What a start costs is no part of following. */
const WARM_UP_MS = Math.min(60_000, MINUTES * 60_000);
const FOLLOWS_WITHIN_MS = 3 * 60_000;
const STILL_WITHIN_MS = 10_000;
/** Seconds of either chain: so far a watcher that keeps up may be behind the head. */
const BEHIND_BLOCKS = { bsc: 10, tron: 2 } as const;
const STRANGER = '5e'.repeat(20);

type Heights = Readonly<Record<Network, number>>;

/**
 * What one worker uses while it follows both chains at the pace of their main nets and nothing is paid to its
 * customers: the processor time of its process alone, which other load on the machine changes little.
 */
export function run(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const tron = { blockTimeMs: 3_000, solidDistance: SOLID_DISTANCE };
    const [chain, node, temporal] = await Promise.all([startTestChain(), startTronNode(tron), ownTemporal()]);
    // The token is there in the final block too, as the reconciliation expects.
    await node.mine(SOLID_DISTANCE + 1);
    const shop = await newShop(deps);
    for (let index = 0; index < CUSTOMERS; index += 1) await newCustomer(deps, shop, `user-${index}`);
    const env: NodeJS.ProcessEnv = {
      ...roleEnv(databaseUrl),
      TEMPORAL_ADDRESS: temporal.now.address,
      BSC_RPC_URLS: chain.url,
      BSC_USDT_CONTRACT: chain.usdt.address,
      ...tronEnv(node),
      // As for a free key, and as many confirmations as on the main net.
      TRON_CONFIRMATIONS: '19',
      TRON_REQUESTS_PER_SECOND: '15',
      TRON_REQUESTS_PER_DAY: '100000',
    };
    const worker = await gatewayRole({
      name: 'worker-1',
      role: 'worker',
      folder: await tempDir('roles'),
      env,
    });
    const mining = minePayments(chain);
    mining.pay([{ id: '', address: `0x${STRANGER}` }], Number.MAX_SAFE_INTEGER);
    let paid = 0;
    // The same number of transfers for every block of Tron, of both currencies in turn.
    const strangers = byTheClock(0, async () => {
      await nextBlock(node);
      for (let index = 0; index < STRANGERS; index += 1, paid += 1) {
        const currency = index % 2 === 0 ? 'USDT' : 'TRX';
        await node.pay({ to: keyOfHex(STRANGER), currency, units: 1_000_000n });
      }
    });
    const heights = async (): Promise<Heights> => ({
      bsc: Number((await chain.anvil.rpc('eth_blockNumber')) as string),
      tron: node.head().header.number,
    });
    const follows = async () => isNear(deps, await heights());
    try {
      await eventually('that the worker follows both chains', follows, FOLLOWS_WITHIN_MS);
      await sleep(WARM_UP_MS);
      const [before, paidBefore, began] = [await heights(), paid, Date.now()];
      const [costs] = await measureCosts({ worker: worker.pid() }, new Set(), () => sleep(MINUTES * 60_000));
      const [after, paidAfter, ms] = [await heights(), paid, Date.now() - began];
      // A figure of a worker that did not follow, or did not live, is worth nothing.
      await eventually('that the worker still follows both chains', follows, STILL_WITHIN_MS);
      if (worker.ended().length > 0) throw new Error(`the worker ended: ${worker.ended().join('; ')}`);
      const percent = ((costs.get('worker') ?? 0) * 100_000) / ms;
      const figure = 'both chains followed by one worker, idle: share of one core';
      const ofTron = after.tron - before.tron;
      return [
        told(`blocks of BNB Chain within ${(ms / 1_000).toFixed(0)} s`, after.bsc - before.bsc),
        told('blocks of Tron meanwhile', ofTron),
        told('transfers of strangers in a block of Tron', ((paidAfter - paidBefore) / ofTron).toFixed(0)),
        atMost(figure, `${percent.toFixed(1)} %`, [percent, GOAL_PERCENT], ' %'),
      ];
    } finally {
      await strangers.end();
      await mining.end();
      await worker.stop();
      await Promise.all([chain.stop(), node.stop(), temporal.stop()]);
    }
  });
}

/** Whether both chains were read up to their heads. */
async function isNear(deps: Deps, heads: Heights): Promise<boolean> {
  const behind = async (network: Network) =>
    heads[network] - ((await readCursor(deps, network))?.scannedNumber ?? 0) > BEHIND_BLOCKS[network];
  return !(await behind('bsc')) && !(await behind('tron'));
}
