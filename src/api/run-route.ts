import type { Context } from 'koa';
import type { KeyUse } from '../services/access/key-use.ts';
import { isSignedIn } from '../services/access/sessions.ts';
import { requireStepUp } from '../services/access/signed-in/step-up.ts';
import { type Deps, txDeps } from '../services/deps.ts';
import type { KeptAnswer } from '../services/idempotency.ts';
import { type Tx, transact } from '../services/transact.ts';
import { siteOf } from './access/client-address.ts';
import { authenticate, type Finders, sessionEnded } from './access/credentials.ts';
import type { OriginRule } from './access/csrf.ts';
import { ApiError, isUnauthorized } from './errors.ts';
import { REPLAYED_HEADER, readOnce, replyOnce } from './idempotency.ts';
import { admit } from './requests/admission.ts';
import { readJsonBody } from './requests/body.ts';
import { BUDGET_MS, withinBudget } from './requests/deadline.ts';
import { IGNORED_HEADER, ignoredParameters } from './requests/ignored.ts';
import type { LargeBodies } from './requests/large-bodies.ts';
import { isList, type ListDoor } from './requests/lists.ts';
import type { Guards } from './requests/rate-limits.ts';
import type { Caller, Reply, Route } from './route.ts';
import { check, readQuery, refuseDetails } from './validation.ts';

export type RunOptions = Finders & {
  readonly deps: Deps;
  readonly isOwnOrigin: OriginRule;
  readonly noteKeyUse: KeyUse;
  readonly guards: Guards;
  readonly lists: ListDoor;
  readonly largeBodies: LargeBodies;
  /**
   * What links in answers begin with; this machine's own name where nothing is
   * configured. It is never taken from the request.
   */
  readonly publicUrl?: string | undefined;
  /** Compare every answer with its schema before it is sent; an answer that differs becomes a 500. */
  readonly checkResponses: boolean;
};

/**
 * The steps of every request, in the order of the contract: 401, 403, 429, 413, 415, 400, 404, and what the
 * use case itself refuses. A POST with an Idempotency-Key is then carried out once, or its stored answer is
 * given again. Throws what the renderer turns into an answer.
 */
export async function runRoute(options: RunOptions, route: Route, ctx: Context): Promise<void> {
  const startedAt = performance.now();
  const caller = await withinBudget({ limitMs: BUDGET_MS, answer: ctx.res }, () =>
    enter(options, route, ctx),
  );
  const budgetMs = Math.max(0, BUDGET_MS - (performance.now() - startedAt));
  const enteredAt = performance.now();
  await options.largeBodies.run(ctx, caller, budgetMs, () => {
    // The wait for a turn counts as the request's time; the time that the body takes counts as its sender's.
    const leftMs = Math.max(0, budgetMs - (performance.now() - enteredAt));
    return carryOut(options, route, { ctx, caller, budgetMs: leftMs });
  });
}

type Entered = { readonly ctx: Context; readonly caller: Caller | undefined; readonly budgetMs: number };

/** Does what a caller who may do it asked for. */
async function carryOut(
  options: RunOptions,
  route: Route,
  { ctx, caller, budgetMs }: Entered,
): Promise<void> {
  const { body, query } = await readInput(route, ctx);
  const once = await readOnce(route, ctx);
  const params = readParams(route, ctx);
  const publicUrl = options.publicUrl ?? `http://localhost:${ctx.req.socket.localPort}`;
  const input = { caller, params, query, body, publicUrl } as never;
  const toAnswer = (reply: Reply<unknown>): KeptAnswer => {
    if (options.checkResponses) checkReply(route, reply);
    const { secret, webhook_secret: ofLink } = reply.body as { secret?: string; webhook_secret?: string };
    const holdsSecret = (secret ?? ofLink) !== undefined;
    return { status: reply.status, body: JSON.stringify(reply.body), holdsSecret };
  };
  const limitMs = Math.max(0, budgetMs + (route.extraMs ?? 0));
  const deps = caller ? actingFor(caller, route, options, ctx) : options.deps;
  const work = async (): Promise<KeptAnswer & { readonly replayed?: boolean }> => {
    const { read, apply } = route;
    if (read) {
      const reading = async (from: Deps) => toAnswer(await read(from, input));
      return caller && isList(route)
        ? await options.lists.run(caller.merchantId, limitMs, reading)
        : await reading(deps);
    }
    const { prepare } = route;
    const change = {
      prepare: prepare && (() => prepare(deps, input)),
      apply: async (tx: Tx, prepared: unknown) => {
        if (caller?.kind === 'session') await holdSession(tx, deps, { caller, route });
        return toAnswer(await apply(tx, txDeps(deps), Object.assign({}, input, { prepared })));
      },
    };
    if (once && caller) {
      const known = await replyOnce(deps, { route, caller, params, once }, change);
      if (known.replayed && caller.kind === 'session')
        await transact(deps, (tx) => holdSession(tx, deps, { caller, route }));
      return known;
    }
    const prepared = await change.prepare?.();
    return await transact(deps, (tx) => change.apply(tx, prepared));
  };
  const answer = await withinBudget({ limitMs, answer: ctx.res, party: caller?.merchantId }, work);
  if (answer.replayed) ctx.set(REPLAYED_HEADER, 'true');
  ctx.status = answer.status;
  ctx.type = 'application/json';
  ctx.body = answer.body;
}

/** Throws where the session has ended meanwhile, and where the change needs password and code again. */
async function holdSession(
  { em }: Tx,
  deps: Deps,
  { caller, route }: { readonly caller: Extract<Caller, { kind: 'session' }>; readonly route: Route },
): Promise<void> {
  if (!(await isSignedIn(em, caller))) throw sessionEnded();
  if (route.guarded && caller.mode === 'live') await requireStepUp(em, deps, caller);
}

/** What a person changes is written down under their name; what a key changes, if it outlives the request. */
function actingFor(caller: Caller, route: Route, { deps, guards }: RunOptions, ctx: Context): Deps {
  const from = siteOf(guards.addressOf(ctx.req));
  if (caller.kind === 'session') return { ...deps, actor: { kind: 'user', userId: caller.userId, from } };
  const isRecorded = route.guarded || route.recorded;
  return isRecorded ? { ...deps, actor: { kind: 'key', keyId: caller.keyId, from } } : deps;
}

/**
 * Everything that is decided before the request itself is read: who calls, whether
 * they may, and whether they call too often.
 */
async function enter(
  { guards, ...options }: RunOptions,
  route: Route,
  ctx: Context,
): Promise<Caller | undefined> {
  if (route.auth === 'none') {
    await guards.countPublic(ctx);
    return undefined;
  }
  guards.refuseKnownBad(ctx);
  const caller = await authenticate(options, ctx.req).catch(async (error: unknown) => {
    if (isUnauthorized(error)) await guards.countFailure(ctx);
    throw error;
  });
  ctx.state['caller'] = caller;
  // Before anything is refused: a stolen key that the allowlist stops has been used all the same.
  if (caller.kind === 'key') options.noteKeyUse(caller.keyId, siteOf(guards.addressOf(ctx.req)));
  try {
    admit(
      route,
      caller,
      () => guards.addressOf(ctx.req),
      () => options.isOwnOrigin(ctx.req),
    );
  } catch (error) {
    guards.tellCaller(ctx, caller);
    throw error;
  }
  await guards.countCaller(ctx, caller);
  if (route.isTest) await guards.countTest(ctx, caller, ctx['params'].id);
  return caller;
}

async function readInput(route: Route, ctx: Context): Promise<{ body: unknown; query: unknown }> {
  const body = route.body ? check(route.body, await readJsonBody(ctx)) : check(undefined, undefined);
  const given = readQuery(ctx.querystring);
  const ignored = ignoredParameters(route.query, given);
  // Set here, so that a refusal says it as well: a misspelt name is often the reason of one.
  if (ignored !== undefined) ctx.set(IGNORED_HEADER, ignored);
  const query = check(route.query, given);
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
  throw new Error(
    `the answer of ${route.method} ${route.path} (${reply.status}) is not what it declares: ${JSON.stringify(details)}`,
  );
}
