import type { Network } from './domain/assets.ts';
import { chainWorkflowId } from './domain/ids.ts';
import { purgeSessions } from './services/access/sessions.ts';
import { foldBalances, foldCounts } from './services/balance-totals.ts';
import { keepPricesFresh } from './services/deposits/price.ts';
import type { Deps } from './services/deps.ts';
import { purgeAnswers } from './services/idempotency.ts';
import { performOutbox } from './services/outbox.ts';
import { repairActors } from './services/repair.ts';

const OUTBOX_EVERY_MS = 1_000;
const REPAIR_EVERY_MS = 10 * 60_000;
const WATCHERS_EVERY_MS = 30_000;
const BALANCES_EVERY_MS = 2_000;
const SESSIONS_EVERY_MS = 5 * 60_000;
const ANSWERS_EVERY_MS = 60_000;
const PRICES_EVERY_MS = 15_000;

/** Calls `work` again and again until the signal aborts. A failure is logged and the next turn comes as usual. */
export function loop(input: {
  name: string;
  everyMs: number;
  signal: AbortSignal;
  log: Deps['log'];
  work: () => Promise<unknown>;
}): Promise<void> {
  const turn = async (): Promise<void> => {
    while (!input.signal.aborted) {
      try {
        await input.work();
      } catch (error) {
        if (!input.signal.aborted) input.log.warn({ err: error, loop: input.name }, 'a background loop failed; it tries again');
      }
      await sleep(input.everyMs, input.signal);
    }
  };
  return turn();
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** The loops of a worker process: left-over outbox rows, actors that should run and do not, ended sessions, running totals, and the watchers of the chains. */
export function startLoops(deps: Deps, networks: readonly Network[], signal: AbortSignal): Promise<void>[] {
  const { log, actors } = deps;
  const watch = async (): Promise<void> => {
    for (const network of networks) {
      await actors?.start(chainWorkflowId(network), {
        workflowType: 'watchChain',
        args: [{ network }],
        attributes: { Network: network },
        summary: `follows ${network}`,
      });
    }
  };
  return [
    loop({ name: 'outbox', everyMs: OUTBOX_EVERY_MS, signal, log, work: () => performOutbox(deps) }),
    loop({ name: 'repair', everyMs: REPAIR_EVERY_MS, signal, log, work: () => repairActors(deps) }),
    loop({ name: 'stored answers', everyMs: ANSWERS_EVERY_MS, signal, log, work: () => purgeAnswers(deps) }),
    loop({ name: 'balances', everyMs: BALANCES_EVERY_MS, signal, log, work: () => foldBalances(deps) }),
    loop({ name: 'counts', everyMs: BALANCES_EVERY_MS, signal, log, work: () => foldCounts(deps) }),
    loop({ name: 'prices', everyMs: PRICES_EVERY_MS, signal, log, work: () => keepPricesFresh(deps) }),
    loop({ name: 'sessions', everyMs: SESSIONS_EVERY_MS, signal, log, work: () => purgeSessions(deps) }),
    loop({ name: 'watchers', everyMs: WATCHERS_EVERY_MS, signal, log, work: watch }),
  ];
}
