import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { pause } from '../../base/async/pause.ts';
import { within } from '../../base/async/within.ts';
import { reasonIn } from '../../base/log.ts';
import type { OpenChain } from '../../chains/chain.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../../services/deps.ts';
import {
  type Damping,
  type Due,
  type Noticed,
  noteConditions,
  noteTried,
  readNoticed,
  takeDue,
} from '../../services/operations/notices.ts';
import type { Told } from './body.ts';
import type { Notifier } from './notifier.ts';

type Chains = ReadonlyMap<Network, Pick<OpenChain, 'endpoints'>>;

/**
 * For so long a turn goes on telling. A receiver that hangs takes its time for each, and meanwhile nobody
 * looks what holds.
 */
const TELL_MS = 20_000;
const MOST_AT_ONCE = 20;

/**
 * One turn: what holds is read and noted, and what is to be told is told, each taken when its turn comes.
 * One worker does it for all.
 */
export async function noticeTurn(
  deps: Deps,
  {
    notifier,
    chains,
    damping,
    tellMs = TELL_MS,
  }: {
    readonly notifier: Notifier;
    readonly chains: Chains;
    readonly damping?: Damping;
    readonly tellMs?: number;
  },
): Promise<void> {
  const { found, unread } = await readNoticed(deps);
  await noteConditions(deps, { found: [...found, ...deadEndpoints(chains)], unread }, damping);
  const began = performance.now();
  for (let n = 0; n < MOST_AT_ONCE; n += 1) {
    const due = await takeDue(deps);
    if (!due) return;
    const refused = await notifier.tell(toldOf(due), due.notice.tries + 1);
    await noteTried(deps, due, refused);
    if (performance.now() - began >= tellMs) return;
  }
}

function toldOf({ notice, what }: Due): Told {
  return {
    ...notice,
    what,
    beganAt: notice.beganAt ?? notice.seenAt,
    endedAt: notice.endedAt ?? null,
    beginningTold: what === 'began' || notice.beganToldAt != null,
  };
}

const TOLD_WITHIN_MS = 5 * 60_000;

/** As the worker that has the turn sees them. */
function deadEndpoints(chains: Chains): Noticed[] {
  return [...chains].flatMap(([network, chain]) =>
    chain.endpoints().flatMap(({ host, problem, toldMsAgo }) =>
      problem === null || toldMsAgo === null || toldMsAgo > TOLD_WITHIN_MS
        ? []
        : [
            {
              key: `rpc:${network}:${host}`,
              kind: 'rpc',
              severity: 'warning' as const,
              reason: `the RPC endpoint ${host} of ${network} fails: ${problem}`,
              action:
                'replace it in the URLs of that chain and restart the worker, where it stays so ("doctor")',
            },
          ],
    ),
  );
}

const DATABASE_AWAY_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
const ANSWERS_WITHIN_MS = 5_000;
const RETRY_MS = 30_000;

/** The times are those of production where they are not given. */
export type DatabaseWatch = {
  readonly notifier: Notifier;
  /** Resolves when the database answers. */
  readonly probe: () => Promise<unknown>;
  readonly awayMs?: number;
  readonly lookMs?: number;
};

/**
 * Tells of a database that is away, which no row can say: each worker by itself, once when it has lasted for
 * a minute and once when it is over. A worker that ends meanwhile has told its beginning and tells no end.
 * It asks the database itself: what the log knows of an outage depends on the log's level.
 */
export async function watchDatabase(
  { notifier, probe, awayMs = DATABASE_AWAY_MS, lookMs = LOOK_EVERY_MS }: DatabaseWatch,
  signal: AbortSignal,
): Promise<void> {
  let told: Told | undefined;
  let since: Date | undefined;
  while (!signal.aborted) {
    const lookedAt = new Date();
    const away = await whyAway(probe);
    if (signal.aborted) return;
    since = away === undefined ? undefined : (since ?? lookedAt);
    const isLong = since !== undefined && Date.now() - since.getTime() >= awayMs;
    const due = isLong && since && !told ? began(since, away ?? '') : undefined;
    if (due && (await got(notifier, due))) told = due;
    if (!since && told && (await got(notifier, { ...told, what: 'ended', endedAt: new Date() })))
      told = undefined;
    const failed = (due && !told) || (!since && told);
    await pause(failed ? RETRY_MS : lookMs, signal).catch(() => undefined);
  }
}

async function whyAway(probe: () => Promise<unknown>): Promise<string | undefined> {
  const answers = probe().then(
    () => undefined,
    (error: unknown) => reasonIn(error),
  );
  return await within(ANSWERS_WITHIN_MS, answers, () => 'it does not answer within 5 s');
}

async function got(notifier: Notifier, told: Told): Promise<boolean> {
  return (await notifier.tell(told)) === undefined;
}

function began(at: Date, reason: string): Told {
  return {
    id: randomUUID(),
    what: 'began',
    key: `database:${hostname()}`,
    kind: 'database',
    severity: 'critical',
    reason: `the worker on ${hostname()} does not reach PostgreSQL: ${reason}`,
    action: 'see that PostgreSQL runs and that this machine reaches it; nothing is lost meanwhile',
    beganAt: at,
    endedAt: null,
    beginningTold: true,
  };
}
