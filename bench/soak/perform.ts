import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Network } from '../../src/domain/assets.ts';
import type { SoakChain } from './chain.ts';
import { fundInTheEnd } from './gas.ts';
import { type Peaks, watchMemory } from './memory.ts';
import { performAction } from './plan/actions.ts';
import type { Plan } from './plan/plan.ts';
import { beginPlay, type Done } from './play.ts';
import type { Stage } from './stage.ts';
import { type Waits, watchWaits } from './waits.ts';

const BLOCK_EVERY_MS = 1_000;
/** What takes longer after the last action began does not end at all. */
const ACTIONS_END_WITHIN_MS = 15 * 60_000;

/**
 * How far the watcher of a chain fell behind the head at its worst,
 * and the longest time in which it read no new block.
 */
export type Lag = { readonly network: Network; blocks: number; standstillMs: number };

const LOOK_EVERY_MS = 500;

function watchLag(stage: Stage, chain: SoakChain, signal: AbortSignal): { worst: Lag; ended: Promise<void> } {
  const { network } = chain;
  const worst: Lag = { network, blocks: 0, standstillMs: 0 };
  const file = join(stage.folder, `lag-${network}.csv`);
  let [scanned, movedMs] = [-1, Date.now()];
  const look = async () => {
    const head = await chain.head();
    const [row] = await stage
      .sql<{ scanned_number: string }>('select scanned_number from chain_cursors where network = ?', [
        network,
      ])
      .catch(() => []);
    const now = row ? Number(row.scanned_number) : scanned;
    if (now !== scanned) [scanned, movedMs] = [now, Date.now()];
    worst.blocks = Math.max(worst.blocks, head - Math.max(scanned, 0));
    worst.standstillMs = Math.max(worst.standstillMs, Date.now() - movedMs);
    appendFileSync(file, `${new Date().toISOString()},${head},${row ? now : 'away'}\n`);
  };
  const run = async () => {
    while (!signal.aborted) {
      await look().catch(() => undefined);
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  return { worst, ended: run() };
}

/** Mines a block every so often until the signal aborts. */
async function mineByTheClock(chain: SoakChain, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await chain.mine();
    await sleep(BLOCK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** What was done, and what was seen meanwhile. */
export type Performed = {
  readonly done: Done;
  readonly lags: readonly Lag[];
  readonly peaks: Peaks;
  readonly waits: Waits;
  stopMining(): Promise<void>;
};

/**
 * Carries out the plan while blocks are mined by the clock. Returns when every action is over, every
 * server that was killed runs again and every fault is lifted; mining goes on until `stopMining`.
 */
export async function perform(stage: Stage, plan: Plan, say: (line: string) => void): Promise<Performed> {
  const mining = new AbortController();
  const clocks = stage.chains.map((chain) => mineByTheClock(chain, mining.signal));
  const play = beginPlay(stage);
  const lags = stage.chains.map((chain) => watchLag(stage, chain, mining.signal));
  const waiting = watchWaits(stage, mining.signal);
  const pids = [...stage.servers].map(([name, server]) => [name, () => server.pid()] as const);
  const peaks = watchMemory(
    new Map<string, () => number | undefined>([
      ...pids,
      ...stage.chains.map((chain) => [`chain ${chain.network}`, () => chain.pid()] as const),
      ['soak', () => process.pid],
    ]),
    mining.signal,
  );
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
    throw new Error(
      `still under way after ${ACTIONS_END_WITHIN_MS / 60_000} minutes: ${[...underWay].join(', ')}`,
    );
  });
  await Promise.race([Promise.all(running), late]);
  for (const chain of stage.chains) chain.heal();
  for (const hook of stage.hooks.values()) hook.heal();
  await fundInTheEnd(stage);
  return {
    done: play.done,
    lags: lags.map((lag) => lag.worst),
    peaks,
    waits: waiting.waits,
    stopMining: async () => {
      mining.abort();
      await Promise.all([...clocks, ...lags.map((lag) => lag.ended), waiting.ended]);
    },
  };
}
