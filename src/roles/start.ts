import { createLogger } from '../base/log.ts';
import { createShutdown } from '../base/shutdown.ts';
import { type ConfigRole, loadConfig } from '../config/index.ts';
import { actorsPage, NEEDS_OPERATOR_QUERY } from '../temporal/web-ui.ts';
import { startAll } from './all.ts';
import { startApi } from './api.ts';
import type { Started, Starting } from './role.ts';
import { startSigner } from './signer.ts';
import { startWorker } from './worker.ts';

export type Role = 'api' | 'worker' | 'signer' | 'all';

const ROLES: Readonly<Record<Role, (starting: Starting) => Promise<Started>>> = {
  api: startApi,
  worker: startWorker,
  signer: startSigner,
  all: startAll,
};

/**
 * Runs one role, or all in one process, until SIGTERM or SIGINT. When it is ready it prints one
 * JSON line on stdout; logs go to stderr. Throws OperatorError or ConfigError before it is ready;
 * afterwards it logs a problem, waits and goes on.
 */
export async function startGateway(input: {
  env: NodeJS.ProcessEnv;
  role: Role;
  json: boolean;
}): Promise<void> {
  const config = loadConfig(input.env, { role: input.role satisfies ConfigRole });
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  const shutdown = createShutdown({ log });
  try {
    for (const warning of config.warnings) log.warn({ component: 'config' }, warning);
    const { api, ops, temporalUi } = await ROLES[input.role]({ ...input, config, log, shutdown });
    shutdown.listen();
    process.stdout.write(
      `${JSON.stringify({ ready: true, api, ops, temporal_ui: temporalUi, needs_operator: actorsPage(temporalUi, config.temporal.namespace, NEEDS_OPERATOR_QUERY), pid: process.pid })}\n`,
    );
  } catch (error) {
    await shutdown.run('the start failed');
    throw error;
  }
  await new Promise<void>((resolve) =>
    shutdown.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  // The listener ends the process after the drain; this promise only keeps the caller waiting for it.
  await new Promise<never>(() => undefined);
}
