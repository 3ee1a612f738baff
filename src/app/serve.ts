import type { Middleware } from 'koa';
import { createApp } from '../api/app.ts';
import { createListDoor } from '../api/requests/lists.ts';
import { createGuards } from '../api/requests/rate-limits.ts';
import { type ApiServer, createServer } from '../api/server.ts';
import { OperatorError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Shutdown } from '../base/shutdown.ts';
import type { Config } from '../config/index.ts';
import { createPasswordLine } from '../services/access/proof.ts';
import { docsPages } from '../web/docs/site.ts';
import { loginPages } from '../web/login.ts';
import { type Gateway, observedBy } from './compose.ts';
import { readiness } from './health.ts';
import { healthRoutes, liveRoute } from './health-routes.ts';
import { observeHttp, observeQuotas, observeRefusal } from './observe.ts';
import { pagesFor } from './pages.ts';

type Serving = {
  readonly gateway: Gateway;
  readonly config: Config;
  readonly startedAt: Date;
  readonly shutdown: Shutdown;
};
/** Where this process can be reached: the API with its path, and the operators' origin. */
export type Doors = { readonly api: string | null; readonly ops: string };

/**
 * Opens the API and the operators' port. Throws OperatorError in production where one of the ports is taken.
 */
export async function serveApi(serving: Serving): Promise<Doors> {
  const { gateway, config, shutdown } = serving;
  const health = healthOf(serving);
  const guards = createGuards(gateway.deps, {
    limits: config.limits,
    trustedProxies: config.http.trustedProxies,
  });
  const { publicUrl } = config.http;
  const lists = createListDoor(gateway.deps, gateway.listOrm);
  const passwordLine = createPasswordLine();
  const app = createApp({
    deps: gateway.deps,
    guards,
    lists,
    loginPages,
    docsPages,
    publicUrl,
    passwordLine,
    checkResponses: !config.production,
    observe: observeHttp(gateway.metrics),
    before: [
      observeQuotas(gateway.metrics),
      publicHealth(config, health),
      ...pagesFor(gateway.deps, {
        guards,
        lists,
        publicUrl,
        passwordLine,
        chains: gateway.chains,
        signal: shutdown.signal,
      }),
    ],
  });
  const server = createServer(app, { onRefusal: observeRefusal(gateway.metrics) });
  const origin = await open(server, config, gateway.log, 'PORT');
  shutdown.add('api', () => server.close());
  return { api: `${origin}/api/v1`, ops: await serveHealthRoutes(serving, health) };
}

/** Opens the operators' port of a worker, and its `PORT` for anything that asks whether it lives. */
export async function serveWorker(serving: Serving): Promise<Doors> {
  const { gateway, config, shutdown } = serving;
  const health = healthOf(serving);
  const server = healthServer(gateway, publicHealth(config, health));
  await open(server, config, gateway.log, 'PORT');
  shutdown.add('health server', () => server.close());
  return { api: null, ops: await serveHealthRoutes(serving, health) };
}

async function serveHealthRoutes(
  { gateway, config, shutdown }: Serving,
  health: Middleware,
): Promise<string> {
  const server = healthServer(gateway, health);
  const origin = await open(server, config, gateway.log, 'OPS_PORT');
  shutdown.add('operators', () => server.close());
  return origin;
}

function healthServer(gateway: Gateway, health: Middleware): ApiServer {
  const { deps, metrics } = gateway;
  const app = createApp({
    deps,
    routes: [],
    checkResponses: false,
    observe: observeHttp(metrics),
    before: [health],
  });
  return createServer(app, { onRefusal: observeRefusal(metrics) });
}

/**
 * In production strangers reach this port: figures and faults are not meant
 * for them, and cost work in the database.
 */
function publicHealth(config: Config, health: Middleware): Middleware {
  return config.production ? liveRoute() : health;
}

function healthOf({ gateway, startedAt }: Serving): Middleware {
  const observed = observedBy(gateway);
  return healthRoutes(observed, () => readiness(observed, startedAt));
}

/**
 * The origin under which this machine reaches the opened port. Outside production a port that
 * another process holds is replaced by a free one.
 */
async function open(
  server: ApiServer,
  config: Config,
  log: Logger,
  variable: 'PORT' | 'OPS_PORT',
): Promise<string> {
  const { port, host } = variable === 'PORT' ? config.http : config.ops;
  try {
    return originOf(host, (await server.listen({ port, host })).port);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRNOTAVAIL')
      throw new OperatorError(
        `No network of this machine has the address ${host}`,
        `Correct ${hostOf(variable)}`,
        { cause: error },
      );
    if (code !== 'EADDRINUSE') throw error;
    if (config.production)
      throw new OperatorError(
        `Port ${port} is taken`,
        `Set ${variable} to another one, or stop what uses it`,
        { cause: error },
      );
    log.warn({ port }, `${variable} is taken by another process: using a free one`);
    return originOf(host, (await server.listen({ port: 0, host })).port);
  }
}

function hostOf(variable: 'PORT' | 'OPS_PORT'): string {
  return variable === 'PORT' ? 'HOST' : 'OPS_HOST';
}

function originOf(host: string, port: number): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
