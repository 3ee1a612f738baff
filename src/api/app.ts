import Router from '@koa/router';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { WaitingLine } from '../base/async/waiting-line.ts';
import { createKeyUse } from '../services/access/key-use.ts';
import { createSessionFinder } from '../services/access/sessions.ts';
import type { Deps } from '../services/deps.ts';
import { createKeyFinder } from '../services/merchants/key-owner.ts';
import { gatheredPayments } from '../services/payment-links/public.ts';
import { siteOf } from './access/client-address.ts';
import { createOriginRule } from './access/csrf.ts';
import { addLoginRoutes, type LoginPages, prefixOf } from './access/login.ts';
import { addSessionRoutes } from './access/sessions.ts';
import { addPasswordRoutes, type PasswordPages } from './access/set-password.ts';
import { ApiError } from './errors.ts';
import { describeApi } from './openapi/document.ts';
import { frame } from './render-error.ts';
import { cacheable } from './requests/cacheable.ts';
import { createLargeBodies } from './requests/large-bodies.ts';
import { createListDoor, type ListDoor } from './requests/lists.ts';
import { createGuards, type Guards } from './requests/rate-limits.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { runRoute } from './run-route.ts';

const BASE_PATH = '/api/v1';

export type AppOptions = {
  readonly deps: Deps;
  /** Where callers reach us, without a path; shown in the API's description. */
  readonly publicUrl?: string | undefined;
  /** Client addresses and limits; without it, no proxy is trusted and the limits are the contract's own. */
  readonly guards?: Guards | undefined;
  /** The connections that lists have for themselves; without it, lists use those of `deps`. */
  readonly listOrm?: Deps['orm'] | undefined;
  /** Where lists take turns, if others read lists too; without it the API has turns of its own. */
  readonly lists?: ListDoor | undefined;
  /** The pages of `/login`; without them nobody can sign in here. */
  readonly loginPages?: (LoginPages & PasswordPages) | undefined;
  /** Where passwords wait to be looked at, if others look at them too; without it logins have their own. */
  readonly passwordLine?: WaitingLine | undefined;
  /** Makes `/docs` and what lies below it from the API's description; without it there is no such page. */
  readonly docsPages?: ((description: object) => ReadonlyMap<string, (ctx: Context) => void>) | undefined;
  /** Compare answers with their schemas. On everywhere but in production. */
  readonly checkResponses: boolean;
  /** Sees each request from outside of the frame, where errors have already become answers. */
  readonly observe?: Middleware;
  /**
   * What else the server answers at its root (health, metrics,
   * pages); it runs inside the frame and calls `next` for the rest.
   */
  readonly before?: readonly Middleware[];
  /** Other routes than the product's own: for tests of the machinery. */
  readonly routes?: readonly Route[];
};

/** The HTTP API as a Koa application. It opens nothing: see `createServer`. */
export function createApp(options: AppOptions): Koa {
  const { deps, routes = ROUTES } = options;
  const app = new Koa();
  // Koa would print errors to stderr; ours are logged by the frame. An error that
  // still gets here is a broken connection.
  app.silent = true;
  app.on('error', (error: unknown) =>
    deps.log.debug({ err: error }, 'a connection broke while it was answered'),
  );
  if (options.observe) app.use(options.observe);
  const guards = options.guards ?? createGuards(deps);
  if (options.publicUrl?.startsWith('https:')) app.use(strictTransport);
  app.use(frame(deps.log, (request) => siteOf(guards.addressOf(request))));
  for (const middleware of options.before ?? []) app.use(middleware);
  const router = new Router({ sensitive: true });
  const findSession = createSessionFinder(deps);
  const isOwnOrigin = createOriginRule(options.publicUrl);
  const { publicUrl, checkResponses } = options;
  const lists = options.lists ?? createListDoor(deps, options.listOrm);
  const running = {
    deps: { ...deps, publicPayment: gatheredPayments(deps) },
    findOwner: createKeyFinder(deps),
    noteKeyUse: createKeyUse(deps),
    findSession,
    isOwnOrigin,
    guards,
    lists,
    largeBodies: createLargeBodies(),
    publicUrl,
    checkResponses,
  };
  for (const route of routes) {
    router[route.method](`${BASE_PATH}${route.path}`, (ctx) =>
      runRoute(running, route, ctx as unknown as Context),
    );
  }
  const description = describeApi({ routes, serverUrl: `${options.publicUrl ?? ''}${BASE_PATH}` });
  const descriptionText = JSON.stringify(description);
  const forAnybody = async (ctx: unknown, next: Next) => {
    await guards.countPublic(ctx as Context);
    await next();
  };
  router.get('/openapi.json', forAnybody, cacheable(), (ctx) => {
    ctx.type = 'application/json';
    ctx.body = descriptionText;
  });
  const docs = options.docsPages?.(description) ?? new Map<string, never>();
  for (const [path, show] of docs)
    router.get(path, forAnybody, cacheable(), (ctx) => show(ctx as unknown as Context));
  if (docs.size > 0)
    router.get('/', forAnybody, (ctx) => ctx.redirect(`${prefixOf(options.publicUrl)}/docs`));
  const { loginPages: pages } = options;
  const forPeople = {
    deps,
    findSession,
    isOwnOrigin,
    addressOf: guards.addressOf,
    countPublic: guards.countPublic,
  };
  if (pages) addLoginRoutes(router, { ...forPeople, pages, publicUrl, passwordLine: options.passwordLine });
  if (pages) addSessionRoutes(router, forPeople);
  if (pages) addPasswordRoutes(router, { ...forPeople, pages });
  app.use(router.routes() as unknown as Middleware);
  app.use((ctx) => refuseUnrouted(ctx, router));
  return app;
}

/**
 * Tells a browser that came by https to come by nothing else for a year: a first
 * request without TLS could be redirected elsewhere.
 */
async function strictTransport(ctx: Context, next: Next): Promise<void> {
  ctx.set('Strict-Transport-Security', 'max-age=31536000');
  await next();
}

/** Answers what no route matched: 404, or for a known path the methods that it has. */
function refuseUnrouted(ctx: Context, router: Router): void {
  const layers = router.match(ctx.path, ctx.method).path.filter((layer) => layer.methods.length > 0);
  if (layers.length === 0) throw new ApiError('NOT_FOUND', 'There is no such route.');
  const methods = [...new Set([...layers.flatMap((layer) => layer.methods), 'OPTIONS'])].sort();
  const headers = { Allow: methods.join(', ') };
  if (ctx.method !== 'OPTIONS')
    throw new ApiError('METHOD_NOT_ALLOWED', `This path takes ${methods.join(', ')}.`, { headers });
  ctx.set(headers);
  ctx.status = 200;
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ methods });
}
