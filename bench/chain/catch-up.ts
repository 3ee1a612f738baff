// How fast an outage is caught up with: against the endpoint's budget,
// against what the parser alone can do, and in constant memory.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { freshDatabase, stopParts, tempDir } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { activityDepsOf, composeGateway } from '../../src/app/compose.ts';
import { migrate } from '../../src/app/migrate.ts';
import { createLogger } from '../../src/base/log.ts';
import type { AddressSet } from '../../src/chains/address-set.ts';
import { bscToken } from '../../src/chains/bsc/block.ts';
import { loadConfig } from '../../src/config/index.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { openCursor } from '../../src/services/watcher/cursor.ts';
import { pollChain } from '../../src/services/watcher/poll.ts';
import type { WatchedChain } from '../../src/services/watcher/watched-chain.ts';
import type { Row } from '../row.ts';
import { decodeSample, type Sample, USDT } from './block-sample.ts';
import { FIRST_NUMBER, type Listening, PAID_EVERY, type SetHead } from './block-server.ts';

const numberOf = (name: string, standard: number): number =>
  Number.parseInt(process.env[name] ?? '', 10) || standard;
/** An hour of the chain's blocks. */
const OUTAGE_BLOCKS = numberOf('BENCH_OUTAGE_BLOCKS', 8_000);
const LONG_BLOCKS = numberOf('BENCH_LONG_BLOCKS', 50_000);
const BUDGET = 33;
const REQUESTS_PER_BLOCK = 2;
const ADDRESSES = 100_000;
const CEILING_BLOCKS = 17;
const CEILING_ROUNDS = 12;

/**
 * A node in a process of its own, a gateway's own wiring, and a database with its usual care for the disk.
 */
async function startScene(postgresUrl: string, requestsPerSecond: number) {
  const config = loadConfig(
    {
      BSC_RPC_URLS: 'http://127.0.0.1:1',
      BSC_USDT_CONTRACT: USDT,
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    },
    { role: 'tool' },
  );
  const log = createLogger({ level: 'error' });
  const environment = {
    databaseUrl: postgresUrl,
    temporal: undefined,
    xpubs: testXpubs(),
    secretsKey: SECRETS_KEY,
  };
  const setup = await composeGateway({ config, environment, log, name: 'bench setup', poolSize: 2 });
  await migrate(setup.deps.orm);
  const { merchantId } = await createMerchant(setup.deps, { name: 'Shop', subscriptionActive: true });
  const customer = await createCustomer(setup.deps, {
    merchantId,
    mode: 'live',
    externalId: 'c',
    email: null,
    name: null,
    metadata: {},
  });
  await setup.close();
  const address = customer.addresses.find((entry) => entry.network === 'bsc')?.address.toLowerCase() ?? '';
  const node = fork(new URL('./block-server.ts', import.meta.url), [address]);
  const [{ url }] = (await once(node, 'message')) as [Listening];
  const env = { BSC_RPC_URLS: url, BSC_USDT_CONTRACT: USDT, PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1' };
  const limited = loadConfig(
    { ...env, BSC_RPC_REQUESTS_PER_SECOND: String(requestsPerSecond) },
    { role: 'tool' },
  );
  const gateway = await composeGateway({ config: limited, environment, log, name: 'bench', poolSize: 5 });
  const chain = activityDepsOf(gateway, new AbortController().signal).chains.get('bsc');
  if (!chain) throw new Error('bsc is off');
  fillIndex(chain.watched.index as AddressSet);
  const stop = async (): Promise<void> => {
    await gateway.close();
    node.disconnect();
  };
  return { url, node, gateway, chain, stop };
}

function fillIndex(index: AddressSet): void {
  for (let i = 0; i < ADDRESSES; i++)
    index.add(`0x${(Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(40, 'c')}`);
}

/**
 * Follows from the first block to `head` and returns the time it took; `seen` hears how many blocks are done.
 */
async function catchUp(
  scene: { deps: Deps; chain: WatchedChain; node: ChildProcess },
  blocks: number,
  seen: (done: number) => void = () => undefined,
): Promise<{ seconds: number; cpuSeconds: number }> {
  const { deps, chain, node } = scene;
  const { signal } = new AbortController();
  const setHead = (head: number) => node.send({ head } satisfies SetHead);
  setHead(FIRST_NUMBER + 10);
  const from = async () => {
    const first = await chain.reader.header(FIRST_NUMBER, signal);
    if (!first) throw new Error('the first block is missing');
    return first;
  };
  await openCursor(deps, chain.reader, from, signal);
  setHead(FIRST_NUMBER + blocks - 1);
  while ((await chain.reader.head(signal)).number < FIRST_NUMBER + blocks - 1);
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (;;) {
    const look = await pollChain(deps, chain, signal);
    seen(look.cursor.scannedNumber - FIRST_NUMBER + 1);
    if (!look.behind) break;
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await checkDeposits(deps, blocks);
  return { seconds, cpuSeconds: (user + system) / 1_000_000 };
}

/** A figure of a catch-up that lost something is worth nothing. */
async function checkDeposits(deps: Deps, blocks: number): Promise<void> {
  const paid =
    Math.floor((FIRST_NUMBER + blocks - 1) / PAID_EVERY) - Math.floor((FIRST_NUMBER - 1) / PAID_EVERY);
  const [row] = await deps.orm.em
    .fork()
    .execute<{ count: number }[]>('select count(*)::int as count from deposits');
  if (row?.count !== paid) throw new Error(`${row?.count} deposits were found, not ${paid}`);
}

/**
 * Blocks a second that one core parses and searches when they
 * lie in memory: what no catch-up of one process can exceed.
 */
async function ceiling(url: string, index: AddressSet): Promise<number> {
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
  const { seconds } = await catchUp({ ...scene, deps: scene.gateway.deps }, OUTAGE_BLOCKS);
  await scene.stop();
  const share = (OUTAGE_BLOCKS * REQUESTS_PER_BLOCK) / seconds / BUDGET;
  return [
    {
      figure: `${OUTAGE_BLOCKS} blocks at ${BUDGET} requests/s`,
      value: `${seconds.toFixed(0)} s`,
      goal: '',
      met: true,
    },
    {
      figure: 'requests that a block needs / budget',
      value: share.toFixed(3),
      goal: '>= 0.9',
      met: share >= 0.9,
    },
  ];
}

type Memory = { readonly heapMib: number; readonly residentMib: number };

async function unlimited(): Promise<Row[]> {
  const postgres = await startPostgres({
    dataDir: await tempDir('catch-up'),
    fsync: true,
    log: () => undefined,
  });
  const scene = await startScene(postgres.url, 10_000);
  const most = await ceiling(scene.url, scene.chain.watched.index as AddressSet);
  let early: Memory | undefined;
  const { seconds, cpuSeconds } = await catchUp(
    { ...scene, deps: scene.gateway.deps },
    LONG_BLOCKS,
    (done) => {
      if (!early && done >= LONG_BLOCKS / 10) early = measure();
    },
  );
  const late = measure();
  const again = await ceiling(scene.url, scene.chain.watched.index as AddressSet);
  await scene.stop();
  const rate = LONG_BLOCKS / seconds;
  const share = rate / Math.max(most, again);
  const heap = late.heapMib / (early?.heapMib ?? 0);
  const resident = late.residentMib / (early?.residentMib ?? 0);
  return [
    { figure: 'scan ceiling, blocks/s', value: Math.max(most, again).toFixed(0), goal: '', met: true },
    {
      figure: `catch-up of ${LONG_BLOCKS} blocks without a budget, blocks/s`,
      value: rate.toFixed(0),
      goal: '',
      met: true,
    },
    {
      figure: 'processor time of the catch-up, ms a block',
      value: ((cpuSeconds * 1_000) / LONG_BLOCKS).toFixed(2),
      goal: '',
      met: true,
    },
    { figure: 'catch-up / ceiling', value: share.toFixed(2), goal: '>= 0.5', met: share >= 0.5 },
    { figure: 'heap in use at the end', value: `${late.heapMib.toFixed(1)} MiB`, goal: '', met: true },
    { figure: 'heap at the end / after a tenth', value: heap.toFixed(2), goal: '<= 1.1', met: heap <= 1.1 },
    {
      figure: 'resident at the end / after a tenth',
      value: resident.toFixed(2),
      goal: '<= 1.2',
      met: resident <= 1.2,
    },
  ];
}

function measure(): Memory {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { heapMib: (heapUsed + arrayBuffers) / 1_048_576, residentMib: rss / 1_048_576 };
}

/**
 * BENCH_CATCH_UP=budget or =unlimited runs one half;
 * BENCH_OUTAGE_BLOCKS and BENCH_LONG_BLOCKS make a quick run.
 */
export async function run(): Promise<Row[]> {
  const part = process.env['BENCH_CATCH_UP'];
  const rows = [
    ...(part === 'budget' ? [] : await unlimited()),
    ...(part === 'unlimited' ? [] : await withinBudget()),
  ];
  await stopParts();
  return rows;
}
