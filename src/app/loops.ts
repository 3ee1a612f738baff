import { pause } from '../base/async/pause.ts';
import type { OpenChain } from '../chains/chain.ts';
import type { Network } from '../domain/assets.ts';
import { chainWorkflowId } from '../domain/ids.ts';
import { purgeSessions } from '../services/access/sessions.ts';
import { foldMonths } from '../services/deposits/monthly-limit.ts';
import { keepPricesFresh } from '../services/deposits/price.ts';
import { type Deps, paced } from '../services/deps.ts';
import { purgeAnswers } from '../services/idempotency.ts';
import { foldBalances, foldCounts, foldVolumes } from '../services/ledger/totals.ts';
import { noteFailedRun, noteGoodRun, registerLoops, takeTurn } from '../services/loop-runs.ts';
import { countWithdrawChanges } from '../services/merchants/withdraw-count.ts';
import { makeMonthsAhead } from '../services/months/make.ts';
import { performOutbox, performTestOutbox } from '../services/outbox/perform.ts';
import { noteGasLevels } from '../services/payouts/gas.ts';
import { type RepairRun, turnOf } from '../services/repair/actors.ts';
import { repairDeliveries } from '../services/repair/deliveries.ts';
import { repairDeposits, repairPayments } from '../services/repair/repair.ts';
import { repairSettlements } from '../services/repair/settlements.ts';
import { noteRestoreGoals } from '../services/restores/hold.ts';
import { resealDirections } from '../services/secrets/directions.ts';
import { resealSecrets } from '../services/secrets/reseal.ts';
import { purgeStrangers } from '../services/uncredited/strangers.ts';
import { purgeSlots } from '../services/webhooks/purge-slots.ts';
import { removeOldDeliveries } from '../services/webhooks/retention.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/**
 * The row that says that all is well is written at most this often, so that an idle
 * loop costs one statement a turn and no more.
 */
const NOTE_EVERY_MS = 15 * SECOND_MS;
/** Where a loop names no other. */
const LEASE_MS = 15 * MINUTE_MS;

/** A piece of work that is done again and again. */
export type Loop = {
  readonly name: string;
  readonly everyMs: number;
  /**
   * True where one worker at a time does the work for all of them, because the others would only repeat it.
   */
  readonly shared?: true;
  /** Longer than any turn that succeeds: so long a worker that died keeps the others from a shared loop. */
  readonly leaseMs?: number;
  readonly work: () => Promise<unknown>;
};

/**
 * The loops of a worker process: left-over outbox rows, actors that should run and do not,
 * ended sessions, running totals, the watchers of the chains, and `more`. The time at which each last
 * ran well is in a row that every process can read.
 */
export function startLoops(
  deps: Deps,
  chains: ReadonlyMap<Network, Pick<OpenChain, 'reader' | 'hasCode'>>,
  signal: AbortSignal,
  more: readonly Loop[] = [],
): Promise<void>[] {
  const loops = [...loopsOf(deps, chains), ...more];
  let registered: Promise<void> | undefined;
  const register = (): Promise<void> => {
    registered ??= registerLoops(deps, loops).catch((error: unknown) => {
      registered = undefined;
      throw error;
    });
    return registered;
  };
  return loops.map((loop) => turns(deps, loop, register, signal));
}

/** There is one row for each loop: a new loop needs nothing else for metrics, readiness and "doctor". */
function loopsOf(deps: Deps, chains: ReadonlyMap<Network, Pick<OpenChain, 'reader' | 'hasCode'>>): Loop[] {
  const places: RepairRun['places'] = new Map();
  const networks = [...chains.keys()];
  const readers = new Map([...chains].map(([network, { reader }]) => [network, reader]));
  return [
    { name: 'outbox', everyMs: SECOND_MS, work: () => performOutbox(deps) },
    { name: 'outbox of test mode', everyMs: SECOND_MS, work: () => performTestOutbox(deps) },
    { name: 'watchers', everyMs: 30 * SECOND_MS, work: () => startWatchers(deps, networks) },
    { name: 'balances', everyMs: 2 * SECOND_MS, work: () => foldBalances(deps) },
    { name: 'counts', everyMs: 2 * SECOND_MS, work: () => foldCounts(deps) },
    { name: 'volumes of days', everyMs: 2 * SECOND_MS, work: () => foldVolumes(deps) },
    { name: 'monthly totals', everyMs: 5 * SECOND_MS, work: () => foldMonths(deps) },
    {
      name: 'repair of deposits',
      everyMs: 10 * MINUTE_MS,
      shared: true,
      work: () => repairDeposits(deps, turnOf(places)),
    },
    {
      name: 'repair of payment links',
      everyMs: 10 * MINUTE_MS,
      shared: true,
      work: () => repairPayments(deps, turnOf(places)),
    },
    {
      name: 'repair of payouts',
      everyMs: 10 * MINUTE_MS,
      shared: true,
      work: () => repairSettlements(deps, turnOf(places)),
    },
    {
      name: 'repair of deliveries',
      everyMs: 10 * MINUTE_MS,
      shared: true,
      work: () => repairDeliveries(deps, turnOf(places)),
    },
    { name: 'gas wallets', everyMs: 2 * MINUTE_MS, shared: true, work: () => noteGasLevels(deps, readers) },
    { name: 'withdraw changes', everyMs: 10 * SECOND_MS, work: () => countWithdrawChanges(deps, chains) },
    { name: 'restores', everyMs: 10 * SECOND_MS, shared: true, work: () => noteRestoreGoals(deps) },
    { name: 'prices', everyMs: 15 * SECOND_MS, work: () => keepPricesFresh(deps) },
    { name: 'stored answers', everyMs: MINUTE_MS, shared: true, work: () => purgeAnswers(deps) },
    { name: 'webhook slots', everyMs: 60 * MINUTE_MS, shared: true, work: () => purgeSlots(deps) },
    { name: 'months', everyMs: 10 * MINUTE_MS, shared: true, work: () => makeMonthsAhead(deps) },
    { name: 'old deliveries', everyMs: 10 * MINUTE_MS, shared: true, work: () => removeOldDeliveries(deps) },
    { name: 'sealed secrets', everyMs: 10 * MINUTE_MS, shared: true, work: () => resealAll(deps) },
    { name: 'sessions', everyMs: 5 * MINUTE_MS, shared: true, work: () => purgeSessions(deps) },
    { name: 'strange tokens', everyMs: 60 * MINUTE_MS, shared: true, work: () => purgeStrangers(deps) },
  ];
}

async function resealAll(deps: Deps): Promise<void> {
  await resealDirections(deps);
  await resealSecrets(deps);
}

async function startWatchers({ actors }: Deps, networks: readonly Network[]): Promise<void> {
  for (const network of networks) {
    await actors?.start(chainWorkflowId(network), {
      workflowType: 'watchChain',
      args: [{ network }],
      attributes: { Network: network },
      summary: `watches ${network}`,
    });
  }
}

/**
 * Does the work again and again until the signal aborts. A
 * failure is logged and noted, and the next turn comes as usual.
 */
async function turns(
  deps: Deps,
  loop: Loop,
  register: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let noted: { readonly good: boolean; readonly atMs: number } | undefined;
  for (let first = true; !signal.aborted; first = false) {
    const turn = await takenTurn(deps, loop, register, first, signal);
    const nowMs = performance.now();
    // A shared turn is always noted, because noting gives the turn back; shared turns are rare.
    if (turn.taken && (loop.shared || noted?.good !== turn.good || nowMs - noted.atMs >= NOTE_EVERY_MS)) {
      noted = { good: turn.good, atMs: nowMs };
      await note(deps, loop, turn);
    }
    await pause(paced(deps, loop.everyMs), signal).catch(() => undefined);
  }
}

type Turn =
  | { readonly taken: false }
  | { readonly taken: true; readonly good: boolean; readonly reason: string };

async function takenTurn(
  deps: Deps,
  loop: Loop,
  register: () => Promise<void>,
  first: boolean,
  signal: AbortSignal,
): Promise<Turn> {
  try {
    await register();
    if (loop.shared && !(await takeTurn(deps, { leaseMs: LEASE_MS, ...loop, first })))
      return { taken: false };
    await loop.work();
    return { taken: true, good: true, reason: '' };
  } catch (error) {
    if (!signal.aborted)
      deps.log.warn({ err: error, loop: loop.name }, 'a background loop failed; it tries again');
    return { taken: true, good: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

async function note(
  deps: Deps,
  { name }: Loop,
  turn: { readonly good: boolean; readonly reason: string },
): Promise<void> {
  try {
    if (turn.good) await noteGoodRun(deps, name);
    else await noteFailedRun(deps, name, turn.reason);
  } catch (error) {
    // The database is unreachable: the age of the last good run shows it.
    deps.log.debug({ err: error, loop: name }, 'the run of a loop could not be noted');
  }
}
