import type { Context } from 'koa';
import type { Deps } from '../services/deps.ts';
import type { KeyFinder } from '../services/keys.ts';
import { admit } from './admission.ts';
import { readJsonBody } from './body.ts';
import { authenticate } from './credentials.ts';
import { BUDGET_MS, withinBudget } from './deadline.ts';
import { ApiError } from './errors.ts';
import type { Caller, Reply, Route } from './route.ts';
import { check, readQuery, refuseDetails } from './validation.ts';

export type RunOptions = {
  readonly deps: Deps;
  readonly findOwner: KeyFinder;
  /** Compare every answer with its schema before it is sent; an answer that differs becomes a 500. */
  readonly checkResponses: boolean;
};

/**
 * The way of every request, in the order of the contract: 401, 403, (429), 413, 415, 400, 404, and what the use case itself refuses.
 * Throws what the renderer turns into an answer.
 */
export async function runRoute(options: RunOptions, route: Route, ctx: Context): Promise<void> {
  const caller = await identify(options.findOwner, route, ctx);
  const { body, query } = await readInput(route, ctx);
  const params = readParams(route, ctx);
  const reply = await withinBudget(BUDGET_MS + (route.extraMs ?? 0), route.handler(options.deps, { caller, params, query, body } as never));
  if (options.checkResponses) checkReply(route, reply);
  ctx.status = reply.status;
  ctx.type = 'application/json';
  ctx.body = JSON.stringify(reply.body);
}

async function identify(findOwner: KeyFinder, route: Route, ctx: Context): Promise<Caller | undefined> {
  if (route.auth === 'none') return undefined;
  const caller = await withinBudget(BUDGET_MS, authenticate(findOwner, ctx.req));
  ctx.state['caller'] = caller;
  admit(route, caller);
  return caller;
}

async function readInput(route: Route, ctx: Context): Promise<{ body: unknown; query: unknown }> {
  const body = route.body ? check(route.body, await readJsonBody(ctx)) : check(undefined, undefined);
  const query = check(route.query, readQuery(ctx.querystring));
  refuseDetails([...query.details, ...body.details]);
  return { body: body.value, query: query.value };
}

function readParams(route: Route, ctx: Context): unknown {
  const params = check(route.params, ctx['params']);
  if (params.details.length > 0) throw new ApiError('NOT_FOUND', 'There is no such resource.');
  return params.value;
}

function checkReply(route: Route, reply: Reply<unknown>): void {
  const { details } = check(route.response, reply.body);
  if (details.length === 0 && route.statuses.includes(reply.status)) return;
  throw new Error(`the answer of ${route.method} ${route.path} (${reply.status}) is not what it declares: ${JSON.stringify(details)}`);
}
