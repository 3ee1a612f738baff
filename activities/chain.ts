import { Context } from '@temporalio/activity';
import { pause } from '../src/base/async/pause.ts';
import type { BlockRef, ChainReader, FinalBlock } from '../src/chains/reader.ts';
import type { Deps } from '../src/services/deps.ts';
import { notePassFault } from '../src/services/reconciliation/pass.ts';
import { CursorMoved, noteFault, openCursor } from '../src/services/watcher/cursor.ts';
import {
  faultPauseMs,
  finalMayHaveMoved,
  type KnownFinal,
  learn,
  learnFinal,
  newPace,
  waitMs,
} from '../src/services/watcher/heads/pace.ts';
import { readMissedTraces } from '../src/services/watcher/missed-traces.ts';
import { pollChain } from '../src/services/watcher/poll.ts';
import { createProgress } from '../src/services/watcher/progress.ts';
import { reconcileNoting } from '../src/services/watcher/stops.ts';
import type { WatchedChain } from '../src/services/watcher/watched-chain.ts';
import { failure, shortMessage } from './faults.ts';

export type ChainDeps = Deps & {
  readonly chains: ReadonlyMap<string, WatchedChain>;
  /**
   * Aborted when this process begins to stop: the chain is
   * handed over at once instead of after the grace time.
   */
  readonly stopping: AbortSignal;
  readonly firstBlockSince: (
    reader: ChainReader,
    timestampMs: number,
    signal: AbortSignal,
  ) => Promise<BlockRef>;
};

const WATCH_FOR_MS = 55 * 60_000;
const HEARTBEAT_MS = 3_000;
const CURSOR_MOVED_PAUSE_MS = 150;
/**
 * The reconciliation takes at most a fifth of the time, so
 * that it never keeps new blocks waiting for an RPC endpoint.
 */
const PASS_REST = 4;
const PASS_MIN_PAUSE_MS = 250;
const PASS_FAULT_PAUSE_MS = 15_000;
const MISSED_TRACES_MS = 1_000;

/** The long activity that watches a chain. Its heartbeat is the progress that operators see. */
export function chainActivities(deps: ChainDeps) {
  return {
    async followChain(input: { network: string }): Promise<void> {
      const chain = deps.chains.get(input.network);
      if (!chain)
        throw failure({
          message: `this worker has no RPC endpoints for ${input.network}: set them and restart it`,
          nextRetryDelay: '5s',
        });
      const context = Context.current();
      const signal = AbortSignal.any([context.cancellationSignal, deps.stopping]);
      const progress = { text: 'starting' };
      const beat = setInterval(() => context.heartbeat(progress.text), HEARTBEAT_MS);
      const ended = new AbortController();
      const beside = AbortSignal.any([signal, ended.signal]);
      const reconciling = Promise.all([keepReconciled(deps, chain, beside), keepTraced(deps, chain, beside)]);
      try {
        await watchHead(deps, chain, signal, (text) => {
          progress.text = text;
        });
      } catch (error) {
        // A worker that shuts down hands the chain over at once; one that Temporal lost begins anew.
        if (signal.aborted)
          throw failure({
            ...(deps.stopping.aborted
              ? { message: 'this worker shuts down; another one goes on' }
              : {
                  message: 'Temporal ended this try of watching; the next one goes on',
                  type: 'TemporalAway',
                }),
            nextRetryDelay: 100,
          });
        throw failure({ message: shortMessage(error), type: 'ChainFault' });
      } finally {
        ended.abort(new Error('this hour of watching is over'));
        await reconciling;
        clearInterval(beat);
      }
    },
  };
}

/**
 * Watches the head until `signal` aborts or an hour is nearly over: asks for it when the next block
 * can be there, and for what is final when that can have moved. While a chain or
 * the database does not answer, it waits and tries again. Throws nothing but the signal's reason.
 */
export async function watchHead(
  deps: ChainDeps,
  chain: WatchedChain,
  signal: AbortSignal,
  show: (text: string) => void,
): Promise<void> {
  const { reader } = chain;
  const clock = () => performance.now();
  const startedMs = clock();
  const progress = createProgress(clock);
  let pace = newPace(reader.pace.head);
  let final: { readonly block: FinalBlock; readonly pace: KnownFinal } | undefined;
  let seen: { readonly hash: string; readonly atMs: number } | undefined;
  let faults = 0;
  while (clock() - startedMs < WATCH_FOR_MS) {
    signal.throwIfAborted();
    try {
      const atMs = clock();
      const head = await reader.head(signal);
      pace = learn(pace, { atMs, number: head.number });
      // The same head as a moment ago means nothing new: one light call, and no work for the database.
      if (!seen || seen.hash !== head.hash || clock() - seen.atMs >= reader.pace.wholeLookMs) {
        const askFinal =
          !final ||
          finalMayHaveMoved(reader.pace.final, final.pace, {
            nowMs: atMs,
            headNumber: head.number,
            awaited: chain.awaited ?? [],
          });
        const [block] = await Promise.all([
          final && !askFinal ? final.block : reader.finalized(signal),
          openCursor(deps, reader, deps.firstBlockSince, signal),
        ]);
        if (!final || askFinal)
          final = {
            block,
            pace: learnFinal(final?.pace, { atMs, number: block.number, headNumber: head.number }),
          };
        const look = await pollChain(deps, chain, signal, { head, final: final.block });
        seen = look.behind ? undefined : { hash: head.hash, atMs: clock() };
        show(progress(look));
        faults = 0;
        if (look.behind && look.scanned + look.verified > 0) continue;
      }
      await pause(waitMs(pace, clock()), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      [seen, final] = [undefined, undefined];
      // Another watcher won: poll again from where it left the
      // cursor, a little later so that two do not keep step.
      if (error instanceof CursorMoved) await pause(CURSOR_MOVED_PAUSE_MS, signal);
      else {
        faults += 1;
        await survive(deps, reader, { error, faults, show, signal });
      }
    }
  }
}

/**
 * Compares balances with the ledger while the chain is watched.
 * It never throws: what fails is shown and tried again.
 */
async function keepReconciled(deps: ChainDeps, chain: WatchedChain, signal: AbortSignal): Promise<void> {
  const { network } = chain.reader;
  while (!signal.aborted) {
    const startedMs = performance.now();
    let restMs: number;
    try {
      const step = await reconcileNoting(deps, chain, chain.pace ?? chain.reader.pace.reconcile, signal);
      restMs = Math.max(step.waitMs, PASS_MIN_PAUSE_MS, PASS_REST * (performance.now() - startedMs));
    } catch (error) {
      if (signal.aborted) return;
      deps.log.warn({ err: error, network }, 'balances could not be compared with the ledger; trying again');
      await notePassFault(deps, network, shortMessage(error)).catch(() => undefined);
      restMs = PASS_FAULT_PAUSE_MS;
    }
    await pause(restMs, signal).catch(() => undefined);
  }
}

/** Asks again for traces that could not be had, while the chain is watched. It never throws. */
async function keepTraced(deps: ChainDeps, chain: WatchedChain, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await readMissedTraces(deps, chain, signal).catch(() => 0);
    await pause(MISSED_TRACES_MS, signal).catch(() => undefined);
  }
}

/**
 * Waits while a chain or the database does not answer; keeps the reason where operators and readiness look.
 */
async function survive(
  deps: ChainDeps,
  reader: ChainReader,
  {
    error,
    faults,
    show,
    signal,
  }: {
    readonly error: unknown;
    /** How many there were in a row. */
    readonly faults: number;
    readonly show: (text: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const reason = shortMessage(error);
  deps.log.warn({ err: error, network: reader.network }, 'the chain could not be read; trying again');
  show(`waiting: ${reason}`);
  await noteFault(deps, reader.network, reason).catch(() => undefined);
  await pause(faultPauseMs(reader.pace, faults), signal);
}
