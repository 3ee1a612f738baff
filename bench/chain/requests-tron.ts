// What the watching of Tron costs in requests, counted at the node: following for a while with its blocks of
// 3 s, and catching up with an outage.
import { setTimeout as sleep } from 'node:timers/promises';
import { watchHead } from '../../activities/chain.ts';
import { migratedDatabase } from '../../dev/support/parts.ts';
import { startTronNode } from '../../dev/tron/node.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { openCursor, readCursor } from '../../src/services/watcher/cursor.ts';
import { atLeast, atMost, numberOf, type Row } from '../bench.ts';
import { countOf } from '../deps.ts';
import { watchedChain } from './watched.ts';

const MINUTES = numberOf('BENCH_MINUTES', 10);
const BLOCK_MS = 3_000;
const BLOCKS_A_DAY = 28_800;
const PER_HIT = 10;
const BACKLOG_BLOCKS = numberOf('BENCH_BACKLOG', 900);
const PER_SECOND = 15;
const STRANGER = keyOfHex('5e'.repeat(20));
const UNITS = { currency: 'USDT', units: 1_000_000n } as const;

/** Following is measured side by side: with payments and without, every block read twice and not. */
const SCENES = [
  { figure: 'every block read twice, a payment in every tenth', perDay: 100_000, pays: true, goal: 92_000 },
  { figure: 'every block read twice, idle', perDay: 100_000, pays: false, goal: 92_000 },
  {
    figure: 'touching blocks read twice, a payment in every tenth',
    perDay: 80_000,
    pays: true,
    goal: 75_000,
  },
  { figure: 'touching blocks read twice, idle', perDay: 80_000, pays: false, goal: 65_000 },
] as const;

type Scene = Awaited<ReturnType<typeof startScene>>;

/** Measures both. */
export async function run(): Promise<Row[]> {
  const caughtUp = await catchUp();
  return [...(await Promise.all(SCENES.map(follow))), ...caughtUp];
}

async function startScene(perDay: number, blockTimeMs?: number) {
  const node = await startTronNode({ solidDistance: 19, ...(blockTimeMs ? { blockTimeMs } : {}) });
  const { url, drop } = await migratedDatabase();
  const watched = await watchedChain('tron', url, {
    TRON_API_URLS: node.url,
    TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
    TRON_REQUESTS_PER_DAY: String(perDay),
    TRON_REQUESTS_PER_SECOND: String(PER_SECOND),
  });
  const head = (): number => node.head().header.number;
  const watch = () => {
    const watching = watchHead(watched.deps, watched.chain, watched.signal, () => undefined);
    return watching.catch(() => undefined);
  };
  const stop = async (watching: Promise<unknown>): Promise<void> => {
    await watched.stop();
    await node.stop();
    await drop();
    await watching;
  };
  return { ...watched, node, head, watch, stop };
}

/** Follows for some minutes and returns how many requests a day of such blocks takes. */
async function follow({ figure, perDay, pays, goal }: (typeof SCENES)[number]): Promise<Row> {
  const scene = await startScene(perDay, BLOCK_MS);
  const { node, head } = scene;
  const watching = scene.watch();
  // What a start asks for, and the blocks until the first is final, are no part of a day.
  await untilHead(scene, head() + 25, false);
  const from = { asked: node.requests.length, head: head() };
  await untilHead(scene, from.head + Math.ceil((MINUTES * 60_000) / BLOCK_MS), pays);
  const [asked, blocks] = [node.requests.length - from.asked, head() - from.head];
  const [found, least] = [await countOf(scene.deps, 'deposits'), Math.floor(blocks / PER_HIT) - 1];
  // A figure of following that lost something is worth nothing.
  if (pays && found < least) throw new Error(`${found} deposits were found, not ${least}`);
  await scene.stop(watching);
  const aDay = Math.round((asked / blocks) * BLOCKS_A_DAY);
  const what = `requests a day, ${figure} (${blocks} blocks)`;
  return atMost(what, aDay.toLocaleString('en-US'), [aDay, goal]);
}

async function untilHead({ node, head, customer }: Scene, number: number, pays: boolean): Promise<void> {
  const address = TRON_ADDRESSES.key(customer.tron);
  for (let paidFor = -1; head() < number; await sleep(200)) {
    if (head() === paidFor) continue;
    paidFor = head();
    // A block without transactions is read for less, and on main net there is none.
    await node.pay({ to: pays && paidFor % PER_HIT === 0 ? address : STRANGER, ...UNITS });
  }
}

/** Catches up with an outage, and returns requests for a block and the share of the allowed rate. */
async function catchUp(): Promise<Row[]> {
  const scene = await startScene(1_000_000);
  const { node, deps, chain, signal } = scene;
  await node.mine(20);
  await openCursor(deps, chain.reader, async () => await chain.reader.finalized(signal), signal);
  for (let mined = 0; mined < BACKLOG_BLOCKS; mined += 1) {
    await node.pay({ to: STRANGER, ...UNITS });
    await node.mine();
  }
  const asked = node.requests.length;
  const began = performance.now();
  const watching = scene.watch();
  while (((await readCursor(deps, 'tron'))?.scannedNumber ?? 0) < scene.head()) await sleep(100);
  const seconds = (performance.now() - began) / 1_000;
  const requests = node.requests.length - asked;
  await scene.stop(watching);
  const [perBlock, share] = [requests / BACKLOG_BLOCKS, requests / seconds / PER_SECOND];
  const figure = `requests a block while ${BACKLOG_BLOCKS} blocks are caught up with`;
  return [
    atMost(figure, perBlock.toFixed(2), [perBlock, 1.1]),
    atLeast(`of the allowed ${PER_SECOND} requests a second`, share.toFixed(2), [share, 0.9]),
  ];
}
