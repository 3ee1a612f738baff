import { openGateway } from '../app/open.ts';
import { serveApi } from '../app/serve.ts';
import { removeRun, writeRun } from '../base/data-dir.ts';
import { chainVariables } from '../config/attached.ts';
import type { Started, Starting } from './role.ts';
import { signInside } from './signer.ts';
import { startWork } from './worker.ts';

/**
 * Connections for requests and for the start of the worker;
 * its parts, lists, health and metrics have some of their own.
 */
const POOL_SIZE = 10;

/**
 * The API and the worker in one process. Outside production it also runs the servers that are not configured,
 * and tells the command line where they are. Throws OperatorError where a part that it needs cannot be used.
 */
export async function startAll({ config, log, shutdown, env }: Starting): Promise<Started> {
  const startedAt = new Date();
  const embeds = !config.production;
  const opened = await openGateway(
    { config, log, shutdown },
    { name: 'all', poolSize: POOL_SIZE, works: true, serves: true, embeds, migrates: true },
  );
  await startWork(opened, { log, shutdown });
  if (embeds) await signInside({ config, log, shutdown, env }, opened.databaseUrl);
  const { gateway, databaseUrl, temporal, temporalUi } = opened;
  const { api, ops } = await serveApi({ gateway, config, startedAt, shutdown });
  if (embeds) {
    writeRun(config.dataDir, {
      api,
      databaseUrl,
      temporalAddress: temporal.address,
      temporalUi,
      pid: process.pid,
      variables: chainVariables(env),
    });
    shutdown.add('run file', () => removeRun(config.dataDir));
  }
  return { api, ops, temporalUi };
}
