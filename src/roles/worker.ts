import { activityDepsOf, depsOf, type Gateway } from '../app/compose.ts';
import { type Loop, startLoops } from '../app/loops.ts';
import { noticeTurn, watchDatabase } from '../app/notify/loop.ts';
import { createNotifier } from '../app/notify/notifier.ts';
import { type OpenedGateway, openGateway } from '../app/open.ts';
import { serveWorker } from '../app/serve.ts';
import { pause } from '../base/async/pause.ts';
import { OperatorError } from '../base/errors.ts';
import { componentLogger, type Logger } from '../base/log.ts';
import { run, sql } from '../db/sql.ts';
import { publishGasWallets } from '../services/payouts/gas.ts';
import type { TemporalLink } from '../temporal/client.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { runWorker } from '../temporal/worker.ts';
import type { Started, Starting } from './role.ts';

/** Connections of the start; each part of a worker has some of its own. */
const POOL_SIZE = 2;

/**
 * Watches the chains and does everything that waits to be done, without an API. Throws
 * OperatorError where a part that it needs cannot be used.
 */
export async function startWorker({ config, log, shutdown }: Starting): Promise<Started> {
  const startedAt = new Date();
  const opened = await openGateway(
    { config, log, shutdown },
    { name: 'worker', poolSize: POOL_SIZE, works: true, serves: false },
  );
  await startWork(opened, { log, shutdown });
  const { gateway, temporalUi } = opened;
  return { ...(await serveWorker({ gateway, config, startedAt, shutdown })), temporalUi };
}

/**
 * Starts the actors' worker and the background loops over a gateway
 * whose parts have their pools. Throws OperatorError without Temporal.
 */
export async function startWork(
  { gateway, temporal, gas }: OpenedGateway,
  { log, shutdown }: Pick<Starting, 'log' | 'shutdown'>,
): Promise<void> {
  const { link } = gateway;
  if (!link) throw new OperatorError('A worker needs Temporal', 'Set TEMPORAL_ADDRESS');
  await publishGasWallets(gateway.deps, gas);
  const activityDeps = activityDepsOf(gateway, shutdown.signal);
  const workerLog = componentLogger(log, 'worker');
  await ensureSearchAttributes(link, temporal.namespace).catch((error: unknown) => {
    workerLog.warn(
      { err: error },
      'the search attributes could not be checked; "doctor" says which are missing',
    );
  });
  const worker = await runWorker({
    place: temporal,
    deps: activityDeps,
    signal: shutdown.signal,
    log: workerLog,
  });
  worker.finished.catch((error: unknown) => {
    workerLog.error({ err: error }, 'the worker ended; leaving so that a supervisor starts it again');
    void shutdown.run('the worker ended').then(() => process.exit(1));
  });
  shutdown.add('worker', () => worker.stop());
  const { more, aside } = noticesOf(gateway, shutdown.signal);
  const watched = watchTemporal(link, workerLog, shutdown.signal);
  const loops = startLoops(depsOf(gateway, 'loops'), gateway.chains, shutdown.signal, more);
  shutdown.add('loops', async () => {
    await Promise.all([...loops, aside, watched]);
  });
}

const PING_EVERY_MS = 5_000;

/**
 * A worker that nothing is asked of hears nothing of Temporal either, and its SDK waits in silence: whether
 * Temporal is there is asked, so that the log tells it.
 */
async function watchTemporal(link: TemporalLink, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(PING_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    await link.ping().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'Temporal does not answer');
    });
  }
}

const NOTICES_EVERY_MS = 15_000;
/** A worker that was killed while it told something must not silence the others for long. */
const NOTICES_LEASE_MS = 3 * 60_000;

/** Tells NOTIFY_URL what an operator should know; nothing where it is not set. */
function noticesOf(gateway: Gateway, signal: AbortSignal): { more: Loop[]; aside: Promise<void> } {
  const { config, chains } = gateway;
  const deps = depsOf(gateway, 'loops');
  const notifier = createNotifier(config, deps.secretBox);
  if (!notifier) return { more: [], aside: Promise.resolve() };
  const work = () => noticeTurn(deps, { notifier, chains });
  return {
    more: [{ name: 'notices', everyMs: NOTICES_EVERY_MS, leaseMs: NOTICES_LEASE_MS, shared: true, work }],
    aside: watchDatabase({ notifier, probe: () => run(deps.orm.em.fork(), sql`select 1`) }, signal),
  };
}
