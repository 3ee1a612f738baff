import { openGateway } from '../app/open.ts';
import { serveApi } from '../app/serve.ts';
import type { Started, Starting } from './role.ts';

/** Connections for requests; lists, health and metrics have some of their own. */
const POOL_SIZE = 10;

/**
 * Serves requests and the operators' port, and does no work of a worker. Throws
 * OperatorError where a part that it needs cannot be used.
 */
export async function startApi({ config, log, shutdown }: Starting): Promise<Started> {
  const startedAt = new Date();
  const { gateway, temporalUi } = await openGateway(
    { config, log, shutdown },
    { name: 'api', poolSize: POOL_SIZE, works: false, serves: true },
  );
  return { ...(await serveApi({ gateway, config, startedAt, shutdown })), temporalUi };
}
