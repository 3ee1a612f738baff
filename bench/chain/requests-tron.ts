// What the watching of Tron costs in requests, counted at the node: following for a while with its blocks of
// 3 s, and catching up with an outage.
import { watchHead } from '../../activities/chain.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { migratedDatabase, stopParts } from '../../dev/support/parts.ts';
import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer } from '../../dev/support/use-cases.ts';
import { startTronNode, type TronNode } from '../../dev/tron/node.ts';
import { activityDepsOf, composeGateway } from '../../src/app/compose.ts';
import { createLogger } from '../../src/base/log.ts';
import { type AddressKey, keyOfHex } from '../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { openCursor, readCursor } from '../../src/services/watcher/cursor.ts';
import type { Row } from '../row.ts';

const MINUTES = Number.parseInt(process.env['BENCH_MINUTES'] ?? '', 10) || 10;
const BLOCK_MS = 3_000;
const BLOCKS_A_DAY = 28_800;
const PER_HIT = 10;
const BACKLOG_BLOCKS = 900;
const PER_SECOND = 15;
const STRANGER = keyOfHex('5e'.repeat(20));

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
];

type Scene = Awaited<ReturnType<typeof startScene>>;

/** A node, a database and a gateway's own wiring, with one customer. */
async function startScene(perDay: number, blockTimeMs?: number) {
  const node = await startTronNode({ solidDistance: 19, ...(blockTimeMs ? { blockTimeMs } : {}) });
  const database = await migratedDatabase();
  const config = loadConfig(
    {
      TRON_API_URLS: node.url,
      TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
      TRON_REQUESTS_PER_DAY: String(perDay),
      TRON_REQUESTS_PER_SECOND: String(PER_SECOND),
      PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    },
    { role: 'tool' },
  );
  const environment = {
    databaseUrl: database.url,
    temporal: undefined,
    xpubs: testXpubs(),
    secretsKey: SECRETS_KEY,
  };
  const log = createLogger({ level: 'error' });
  const gateway = await composeGateway({ config, environment, log, name: 'bench', poolSize: 3 });
  const stopping = new AbortController();
  const deps = activityDepsOf(gateway, stopping.signal);
  const chain = deps.chains.get('tron');
  if (!chain) throw new Error('tron is off');
  const address = await customerOf(deps);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('measured'));
    await gateway.close();
    await node.stop();
    await database.drop();
  };
  return { node, deps, chain, address, stopping, stop };
}

async function customerOf(deps: Parameters<typeof createMerchant>[0]): Promise<AddressKey> {
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const customer = { externalId: 'c', email: null, name: null, metadata: {} };
  const { addresses } = await createCustomer(deps, { merchantId, mode: 'live', ...customer });
  return TRON_ADDRESSES.key(addresses.find(({ network }) => network === 'tron')?.address ?? '');
}

/** Follows for some minutes and returns how many requests a day of such blocks takes. */
async function follow({ figure, perDay, pays, goal }: (typeof SCENES)[number]): Promise<Row> {
  const scene = await startScene(perDay, BLOCK_MS);
  const watching = watchHead(scene.deps, scene.chain, scene.stopping.signal, () => undefined).catch(
    () => undefined,
  );
  // What a start asks for, and the blocks until the first is final, are no part of a day.
  await untilHead(scene.node, scene.node.head().header.number + 25, scene);
  const from = { asked: scene.node.requests.length, head: scene.node.head().header.number };
  await untilHead(scene.node, from.head + Math.ceil((MINUTES * 60_000) / BLOCK_MS), { ...scene, pays });
  const [asked, blocks] = [
    scene.node.requests.length - from.asked,
    scene.node.head().header.number - from.head,
  ];
  if (pays) await checkDeposits(scene, blocks);
  await scene.stop();
  await watching;
  const aDay = Math.round((asked / blocks) * BLOCKS_A_DAY);
  return {
    figure: `requests a day, ${figure} (${blocks} blocks)`,
    value: aDay.toLocaleString('en-US'),
    goal: `<= ${goal.toLocaleString('en-US')}`,
    met: aDay <= goal,
  };
}

async function untilHead(
  node: TronNode,
  number: number,
  { address, pays = false }: { readonly address: AddressKey; readonly pays?: boolean },
): Promise<void> {
  let paidFor = -1;
  for (;;) {
    const head = node.head().header.number;
    if (head >= number) return;
    if (head !== paidFor) {
      paidFor = head;
      // A block without transactions is read for less, and on main net there is none.
      const to = pays && head % PER_HIT === 0 ? address : STRANGER;
      await node.pay({ to, currency: 'USDT', units: 1_000_000n });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** A figure of following that lost something is worth nothing. */
async function checkDeposits({ deps }: Scene, blocks: number): Promise<void> {
  const [row] = await deps.orm.em
    .fork()
    .execute<{ count: number }[]>('select count(*)::int as count from deposits');
  const least = Math.floor(blocks / PER_HIT) - 1;
  if ((row?.count ?? 0) < least) throw new Error(`${row?.count} deposits were found, not ${least}`);
}

/** Catches up with an outage, and returns requests for a block and the share of the allowed rate. */
async function catchUp(): Promise<Row[]> {
  const scene = await startScene(1_000_000);
  const { node, deps, chain } = scene;
  const { signal } = scene.stopping;
  await node.mine(20);
  await openCursor(deps, chain.reader, async () => await chain.reader.finalized(signal), signal);
  for (let mined = 0; mined < BACKLOG_BLOCKS; mined += 1) {
    await node.pay({ to: STRANGER, currency: 'USDT', units: 1_000_000n });
    await node.mine();
  }
  const asked = node.requests.length;
  const began = performance.now();
  const watching = watchHead(deps, chain, signal, () => undefined).catch(() => undefined);
  const last = node.head().header.number;
  while (((await readCursor(deps, 'tron'))?.scannedNumber ?? 0) < last)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const seconds = (performance.now() - began) / 1_000;
  const requests = node.requests.length - asked;
  await scene.stop();
  await watching;
  const [perBlock, share] = [requests / BACKLOG_BLOCKS, requests / seconds / PER_SECOND];
  return [
    {
      figure: `requests a block while ${BACKLOG_BLOCKS} blocks are caught up with`,
      value: perBlock.toFixed(2),
      goal: '<= 1.1',
      met: perBlock <= 1.1,
    },
    {
      figure: `of the allowed ${PER_SECOND} requests a second`,
      value: share.toFixed(2),
      goal: '>= 0.9',
      met: share >= 0.9,
    },
  ];
}

/** Measures both. */
export async function run(): Promise<Row[]> {
  try {
    const caughtUp = await catchUp();
    return [...(await Promise.all(SCENES.map(follow))), ...caughtUp];
  } finally {
    await stopParts();
  }
}
