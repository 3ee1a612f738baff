import { activityDepsOf, depsOf } from '../app/compose.ts';
import { startLoops } from '../app/loops.ts';
import { type OpenedGateway, openGateway } from '../app/open.ts';
import { serveWorker } from '../app/serve.ts';
import { OperatorError } from '../base/errors.ts';
import { componentLogger } from '../base/log.ts';
import { publishGasWallets } from '../services/payouts/gas-wallets.ts';
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
  { log, shutdown }: Omit<Starting, 'config'>,
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
  const loops = startLoops(depsOf(gateway, 'loops'), gateway.chains, shutdown.signal);
  shutdown.add('loops', async () => {
    await Promise.all(loops);
  });
}
