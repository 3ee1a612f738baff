import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { logFailure } from '../../base/errors.ts';
import { MODES, type Mode } from '../../domain/assets.ts';
import type { Deps } from '../../services/deps.ts';
import { withinTime } from '../../services/time-limit.ts';
import { sendProblem, sendScreen } from './answers.ts';
import type { Door, Problem } from './door.ts';
import { baseOf, enter, NotSignedIn } from './enter.ts';
import { createFiles } from './files.ts';
import { PAGES } from './pages/index.ts';
import { postForm } from './post.ts';
import type { DashboardPage, FormPost, Visit } from './visit.ts';

/** An answer leaves within 2 s when the database is unreachable, like every other one. */
const BUDGET_MS = 1_800;

type Handed = { readonly deps: Deps; readonly door: Door };

/**
 * The merchant's pages at `/dashboard`, and those of test mode at `/dashboard/test`: a navigation sends no
 * header that could name the mode. This is the one way in: each page is let in, counted and refused by the
 * rules of the API, each POST is guarded as its description says, and every failure is a page too.
 */
export function dashboardPages(deps: Deps, door: Door): Middleware {
  const router = new Router({ sensitive: true });
  const sendFile = createFiles();
  for (const mode of MODES)
    for (const { path, only, show, post, file } of PAGES) {
      if (only !== undefined && only !== mode) continue;
      const on = (method: 'get' | 'post', work: Work) =>
        router[method](baseOf(mode) + path, handle({ deps, door }, mode, path, work));
      if (show) on('get', (visit, leftMs) => read(visit, show, leftMs));
      if (file) on('get', (visit, leftMs) => sendFile(visit, file, leftMs));
      if (post) on('post', (visit, leftMs) => carry(visit, post, leftMs));
    }
  for (const mode of ['test', 'live'] as const)
    router.all(`${baseOf(mode)}{/*rest}`, handle({ deps, door }, mode, '', refuseUnknown(router)));
  return router.routes() as unknown as Middleware;
}

/** `leftMs` is what is left of the time in which a page is answered. */
type Work = (visit: Visit, leftMs: number) => Promise<void>;

function handle({ deps, door }: Handed, mode: Mode, path: string, work: Work) {
  return async (context: unknown): Promise<void> => {
    const ctx = context as Context;
    const endsAt = performance.now() + BUDGET_MS;
    let visit: Visit | undefined;
    try {
      const entering = () => enter({ deps, door, ctx, mode, path });
      visit = await withinTime({ limitMs: BUDGET_MS, answer: ctx.res }, entering, door.late);
      await work(visit, Math.max(0, endsAt - performance.now()));
    } catch (thrown) {
      if (thrown instanceof NotSignedIn) return signedOut(ctx, door, mode, path);
      sendProblem(ctx, visit, problemOf({ deps, door }, thrown));
    }
  };
}

/** A fault of our own is written down with its cause; the person gets a page all the same. */
function problemOf({ deps, door }: Handed, thrown: unknown): Problem {
  const problem = door.problemOf(thrown);
  if (problem.status >= 500)
    logFailure(deps.log, { err: thrown, code: problem.code }, 'a page could not be made');
  return problem;
}

async function read(visit: Visit, show: NonNullable<DashboardPage['show']>, limitMs: number): Promise<void> {
  const { ctx, door } = visit;
  sendScreen(visit, await withinTime({ limitMs, answer: ctx.res }, () => show(visit), door.late));
}

async function carry(visit: Visit, form: FormPost, leftMs: number): Promise<void> {
  const { ctx, door, owner, mode } = visit;
  const counting = async () => form.isTest && (await door.countTest(ctx, owner, mode, visit.params['id']));
  await withinTime({ limitMs: leftMs, answer: ctx.res }, counting, door.late);
  const posted = await postForm(visit, form, leftMs + (form.extraMs ?? 0));
  if ('screen' in posted) return sendScreen(visit, posted.screen);
  leadTo(ctx, posted.location, `Go on at ${posted.location}`);
}

/** 404, or for a path that there is the methods that it has. */
function refuseUnknown(router: Router) {
  return async ({ ctx, door }: Visit): Promise<void> => {
    const layers = router
      .match(ctx.path, ctx.method)
      .path.filter(({ path }) => !String(path).endsWith('{/*rest}'));
    const methods = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
    if (methods.length > 0) ctx.set('Allow', methods.join(', '));
    throw door.refusal(methods.length > 0 ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND');
  };
}

/** Leads to the login, and from there to where the person wanted to be. What a form held is not kept. */
function signedOut(ctx: Context, { prefix }: Door, mode: Mode, path: string): void {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  const isPage = PAGES.some((page) => page.path === path && page.show);
  const next = isRead ? `${ctx.path}${ctx.search}` : isPage ? ctx.path : baseOf(mode);
  ctx.state['code'] = 'UNAUTHORIZED';
  leadTo(ctx, `${prefix}/login?${new URLSearchParams({ next: prefix + next })}`, 'Sign in first');
}

function leadTo(ctx: Context, location: string, words: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.type = 'text/plain';
  ctx.body = words;
}
