import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../../src/base/process-table.ts';
import type { Network } from '../../src/domain/assets.ts';
import { performAction } from './actions.ts';
import type { SoakChain } from './chains/chain.ts';
import type { Plan } from './plan/plan.ts';
import { beginPlay, type Done } from './play.ts';
import type { Stage } from './stage.ts';
import { fundInTheEnd } from './troubles.ts';

const BLOCK_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 500;
const WEIGH_EVERY_MS = 3_000;
/** What takes longer after the last action began does not end at all. */
const ACTIONS_END_WITHIN_MS = 15 * 60_000;

/**
 * How far the watcher of a chain fell behind the head at its worst,
 * and the longest time in which it read no new block.
 */
export type Lag = { readonly network: Network; blocks: number; standstillMs: number };
/** What was done, and what was seen meanwhile: the most of each. */
export type Performed = {
  readonly done: Done;
  readonly lags: readonly Lag[];
  /** MiB of each part with the processes that it started; what several of them share is counted once. */
  readonly peaks: ReadonlyMap<string, number>;
  /** At how many addresses at once a payout waited for each reason, by network and reason. */
  readonly waits: ReadonlyMap<string, number>;
  stopMining(): Promise<void>;
};

/** Does the work every so often until the signal aborts; what it cannot find out just now is left out. */
async function every(ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => undefined);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }
}

const raise = (most: Map<string, number>, name: string, value: number): void =>
  void most.set(name, Math.max(most.get(name) ?? 0, value));

function watchLag(stage: Stage, chain: SoakChain): { worst: Lag; look: () => Promise<void> } {
  const { network } = chain;
  const worst: Lag = { network, blocks: 0, standstillMs: 0 };
  const file = join(stage.folder, `lag-${network}.csv`);
  const text = 'select scanned_number from chain_cursors where network = ?';
  let [scanned, movedMs] = [-1, Date.now()];
  const look = async () => {
    const head = await chain.head();
    const [row] = await stage.sql<{ scanned_number: string }>(text, [network]).catch(() => []);
    const now = row ? Number(row.scanned_number) : scanned;
    if (now !== scanned) [scanned, movedMs] = [now, Date.now()];
    worst.blocks = Math.max(worst.blocks, head - Math.max(scanned, 0));
    worst.standstillMs = Math.max(worst.standstillMs, Date.now() - movedMs);
    appendFileSync(file, `${new Date().toISOString()},${head},${row ? now : 'away'}\n`);
  };
  return { worst, look };
}

async function lookAtWaits({ sql }: Stage, waits: Map<string, number>): Promise<void> {
  const rows = await sql<{ place: string; addresses: number }>(
    `select network || ' ' || code as place, count(*)::int as addresses from settlement_waits group by 1`,
  );
  for (const { place, addresses } of rows) raise(waits, place, addresses);
}

/** Where the system does not tell (other than Linux), the table stays empty. */
async function weigh({ servers, chains }: Stage, peaks: Map<string, number>): Promise<void> {
  const parts: readonly (readonly [string, number | undefined])[] = [
    ...servers.map((server) => [server.name, server.pid()] as const),
    ...chains.map((chain) => [`chain ${chain.network}`, chain.pid()] as const),
    ['soak', process.pid],
  ];
  for (const [name, root] of parts) {
    if (root === undefined) continue;
    const members = root === process.pid ? [{ pid: root }] : processTree(root);
    const kib = members.reduce((total, { pid }) => total + heldKib(pid), 0);
    if (kib > 0) raise(peaks, name, Math.round(kib / 1_024));
  }
}

function heldKib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Carries out the plan by the clock, and returns when every action is over. Throws where one never is. */
async function carryOut(stage: Stage, plan: Plan, say: (line: string) => void): Promise<Done> {
  const play = beginPlay(stage);
  const isFirst = (action: Plan['actions'][number]) => action.kind === 'customer' && action.atMs === 0;
  // One after the other: their wallet indexes, so their
  // addresses, are then the same in every run of the seed.
  for (const action of plan.actions.filter(isFirst)) await performAction(play, action);
  const running: Promise<void>[] = [];
  const underWay = new Set<string>();
  for (const action of plan.actions.filter((entry) => !isFirst(entry))) {
    const waitMs = play.beganMs + action.atMs - Date.now();
    if (waitMs > 0) await sleep(waitMs);
    if (action.kind === 'kill') say(`SIGKILL ${action.victim}, back after ${action.downMs} ms`);
    if (action.kind === 'freeze') say(`SIGSTOP ${action.victim} for ${action.forMs} ms`);
    const name = `${action.kind} of ${(action.atMs / 1_000).toFixed(1)} s`;
    underWay.add(name);
    running.push(performAction(play, action).then(() => void underWay.delete(name)));
  }
  say('no more actions are begun; waiting for those under way');
  const late = sleep(ACTIONS_END_WITHIN_MS, undefined, { ref: false }).then(() => {
    const minutes = ACTIONS_END_WITHIN_MS / 60_000;
    throw new Error(`still under way after ${minutes} minutes: ${[...underWay].join(', ')}`);
  });
  await Promise.race([Promise.all(running), late]);
  return play.done;
}

/**
 * Carries out the plan while blocks are mined by the clock. Returns when every action is over, every
 * server that was killed runs again and every fault is lifted; mining goes on until `stopMining`.
 */
export async function perform(stage: Stage, plan: Plan, say: (line: string) => void): Promise<Performed> {
  const mining = new AbortController();
  const { signal } = mining;
  const [peaks, waits] = [new Map<string, number>(), new Map<string, number>()];
  const lags = stage.chains.map((chain) => watchLag(stage, chain));
  let failed: unknown;
  const watching = [
    ...stage.chains.map((chain) =>
      every(BLOCK_EVERY_MS, signal, () =>
        chain.mine().catch((error: unknown) => {
          failed ??= error;
        }),
      ),
    ),
    ...lags.map(({ look }) => every(LOOK_EVERY_MS, signal, look)),
    every(LOOK_EVERY_MS, signal, () => lookAtWaits(stage, waits)),
    every(WEIGH_EVERY_MS, signal, () => weigh(stage, peaks)),
  ];
  const done = await carryOut(stage, plan, say);
  for (const chain of stage.chains) chain.heal();
  for (const hook of stage.hooks.values()) hook.heal();
  await fundInTheEnd(stage);
  const stopMining = async () => {
    mining.abort();
    await Promise.all(watching);
    if (failed !== undefined) throw failed;
  };
  return { done, lags: lags.map(({ worst }) => worst), peaks, waits, stopMining };
}
