// How fast an outage is caught up with: against the endpoint's budget,
// against what the parser alone can do, and in constant memory.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { freshDatabase, tempDir } from '../../dev/support/parts.ts';
import type { AddressSet } from '../../src/chains/address-set.ts';
import { bscToken } from '../../src/chains/bsc/block.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { openCursor } from '../../src/services/watcher/cursor.ts';
import { pollChain } from '../../src/services/watcher/poll.ts';
import { atLeast, atMost, numberOf, type Row, told } from '../bench.ts';
import { countOf } from '../deps.ts';
import { heldNow } from '../process-costs.ts';
import { decodeSample, type Sample, USDT } from './block-sample.ts';
import { FIRST_NUMBER, type Listening, PAID_EVERY, type SetHead } from './block-server.ts';
import { watchedChain } from './watched.ts';

/** An hour of the chain's blocks. */
const OUTAGE_BLOCKS = numberOf('BENCH_OUTAGE_BLOCKS', 8_000);
const LONG_BLOCKS = numberOf('BENCH_LONG_BLOCKS', 50_000);
const BUDGET = 33;
const REQUESTS_PER_BLOCK = 2;
const ADDRESSES = 100_000;
const CEILING_BLOCKS = 17;
const CEILING_ROUNDS = 12;

type Scene = Awaited<ReturnType<typeof startScene>>;

/** BENCH_CATCH_UP=budget or =unlimited runs one half. */
export async function run(): Promise<Row[]> {
  const part = process.env['BENCH_CATCH_UP'];
  return [
    ...(part === 'budget' ? [] : await unlimited()),
    ...(part === 'unlimited' ? [] : await withinBudget()),
  ];
}

/** A node in a process of its own, a gateway's own wiring, and more addresses than one. */
async function startScene(databaseUrl: string, requestsPerSecond: number) {
  const node = fork(new URL('./block-server.ts', import.meta.url));
  const [{ url }] = (await once(node, 'message')) as [Listening];
  const env = {
    BSC_RPC_URLS: url,
    BSC_USDT_CONTRACT: USDT,
    BSC_RPC_REQUESTS_PER_SECOND: String(requestsPerSecond),
  };
  const watched = await watchedChain('bsc', databaseUrl, env);
  node.send({ watched: watched.customer.address } satisfies SetHead);
  const index = watched.chain.watched.index as AddressSet;
  for (let i = 0; i < ADDRESSES; i++)
    index.add(`0x${(Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(40, 'c')}`);
  const stop = async (): Promise<void> => {
    await watched.stop();
    node.disconnect();
  };
  return { ...watched, url, index, stop, setHead: (head: number) => node.send({ head } satisfies SetHead) };
}

/**
 * Follows from the first block to `head` and returns the time it took; `seen` hears how many blocks are done.
 */
async function catchUp({ deps, chain, setHead }: Scene, blocks: number, seen: (done: number) => void) {
  const { signal } = new AbortController();
  setHead(FIRST_NUMBER + 10);
  const from = async () => {
    const first = await chain.reader.header(FIRST_NUMBER, signal);
    if (!first) throw new Error('the first block is missing');
    return first;
  };
  await openCursor(deps, chain.reader, from, signal);
  const last = FIRST_NUMBER + blocks - 1;
  setHead(last);
  while ((await chain.reader.head(signal)).number < last);
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let behind = true; behind; ) {
    const poll = await pollChain(deps, chain, signal);
    seen(poll.cursor.scannedNumber - FIRST_NUMBER + 1);
    behind = poll.behind;
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  // A figure of a catch-up that lost something is worth nothing.
  const paid = Math.floor(last / PAID_EVERY) - Math.floor((FIRST_NUMBER - 1) / PAID_EVERY);
  const found = await countOf(deps, 'deposits');
  if (found !== paid) throw new Error(`${found} deposits were found, not ${paid}`);
  return { seconds, cpuSeconds: (user + system) / 1_000_000 };
}

/**
 * Blocks a second that one core parses and searches when they
 * lie in memory: what no catch-up of one process can exceed.
 */
async function ceiling({ url, index }: Scene): Promise<number> {
  const ask = async (method: string, params: unknown[]) =>
    await (await fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) })).text();
  const samples: Sample[] = [];
  for (let number = FIRST_NUMBER; number < FIRST_NUMBER + CEILING_BLOCKS; number++) {
    const block = await ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
    const { result } = JSON.parse(block) as { result: { hash: string } };
    samples.push({ block, receipts: await ask('eth_getBlockReceipts', [result.hash]) });
  }
  const rules = { token: bscToken(USDT), chainId: 56, watched: index, unrecognisedLimit: 1_000 };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < CEILING_ROUNDS; round++) {
    const began = performance.now();
    for (const sample of samples) decodeSample(sample, rules);
    best = Math.min(best, performance.now() - began);
  }
  return CEILING_BLOCKS / (best / 1_000);
}

async function withinBudget(): Promise<Row[]> {
  const scene = await startScene((await freshDatabase()).url, BUDGET);
  const { seconds } = await catchUp(scene, OUTAGE_BLOCKS, () => undefined);
  await scene.stop();
  const share = (OUTAGE_BLOCKS * REQUESTS_PER_BLOCK) / seconds / BUDGET;
  return [
    told(`${OUTAGE_BLOCKS} blocks at ${BUDGET} requests/s`, `${seconds.toFixed(0)} s`),
    atLeast('requests that a block needs / budget', share.toFixed(3), [share, 0.9]),
  ];
}

/** On a database with its usual care for the disk. */
async function unlimited(): Promise<Row[]> {
  const folder = { dataDir: await tempDir('catch-up'), log: () => undefined };
  const postgres = await startPostgres({ ...folder, fsync: true });
  const scene = await startScene(postgres.url, 10_000);
  const before = await ceiling(scene);
  let early: ReturnType<typeof heldNow> | undefined;
  const { seconds, cpuSeconds } = await catchUp(scene, LONG_BLOCKS, (done) => {
    if (done >= LONG_BLOCKS / 10) early ??= heldNow();
  });
  const late = heldNow();
  const most = Math.max(before, await ceiling(scene));
  await scene.stop();
  await postgres.stop();
  const rate = LONG_BLOCKS / seconds;
  const [share, heap, resident] = [
    rate / most,
    late.heapMib / (early?.heapMib ?? 0),
    late.residentMib / (early?.residentMib ?? 0),
  ];
  return [
    told('scan ceiling, blocks/s', most.toFixed(0)),
    told(`catch-up of ${LONG_BLOCKS} blocks without a budget, blocks/s`, rate.toFixed(0)),
    told('processor time of the catch-up, ms a block', ((cpuSeconds * 1_000) / LONG_BLOCKS).toFixed(2)),
    atLeast('catch-up / ceiling', share.toFixed(2), [share, 0.5]),
    told('heap in use at the end', `${late.heapMib.toFixed(1)} MiB`),
    atMost('heap at the end / after a tenth', heap.toFixed(2), [heap, 1.1]),
    atMost('resident at the end / after a tenth', resident.toFixed(2), [resident, 1.2]),
  ];
}
