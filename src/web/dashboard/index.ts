import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { logFailure } from '../../base/errors.ts';
import { MODES, type Mode } from '../../domain/assets.ts';
import type { Deps } from '../../services/deps.ts';
import { withinTime } from '../../services/time-limit.ts';
import { sendProblem, sendScreen } from './answers.ts';
import type { Door, Problem } from './door.ts';
import { baseOf, type Confirm, enter, NotSignedIn } from './enter.ts';
import { postForm } from './forms.ts';
import { PAGES } from './pages.ts';
import { createFiles } from './pieces.ts';
import type { FormPage, ReadPage, Visit } from './visit.ts';

/** An answer leaves within 2 s when the database is unreachable, like every other one. */
const BUDGET_MS = 1_800;

type Handed = { readonly deps: Deps; readonly door: Door; readonly confirm: Confirm };
type Restricted = Pick<ReadPage, 'path' | 'only' | 'withoutSubscription'>;

/**
 * The merchant's pages at `/dashboard`, and those of test mode at `/dashboard/test`: a navigation sends no
 * header that could name the mode. Each page is let in, counted and refused by the rules of the API, and
 * every failure is a page too.
 */
export function dashboardPages(deps: Deps, door: Door, confirm: Confirm): Middleware {
  const router = new Router({ sensitive: true });
  const handed = { deps, door, confirm };
  const sendFile = createFiles();
  for (const mode of MODES) {
    const base = baseOf(mode);
    const ofMode = ({ only }: Restricted) => only === undefined || only === mode;
    for (const page of PAGES.reads.filter(ofMode))
      router.get(
        base + page.path,
        handle(handed, mode, page, (visit, leftMs) => read(visit, page, leftMs)),
      );
    for (const form of PAGES.forms.filter(ofMode))
      router.post(
        base + form.path,
        handle(handed, mode, form, (visit, leftMs) => post(visit, form, { confirm, leftMs })),
      );
    for (const file of PAGES.downloads)
      router.get(
        base + file.path,
        handle(handed, mode, file, (visit, leftMs) => sendFile(visit, file, leftMs)),
      );
  }
  for (const mode of ['test', 'live'] as const)
    router.all(`${baseOf(mode)}{/*rest}`, handle(handed, mode, { path: '' }, refuseUnknown(router)));
  return router.routes() as unknown as Middleware;
}

/** `leftMs` is what is left of the time in which a page is answered. */
type Work = (visit: Visit, leftMs: number) => Promise<void>;

function handle(handed: Handed, mode: Mode, page: Restricted, work: Work) {
  return async (context: unknown): Promise<void> => {
    const ctx = context as Context;
    const endsAt = performance.now() + BUDGET_MS;
    let visit: Visit | undefined;
    try {
      const entering = () => enter({ ...handed, ctx, mode, page });
      visit = await withinTime({ limitMs: BUDGET_MS, answer: ctx.res }, entering, handed.door.late);
      await work(visit, Math.max(0, endsAt - performance.now()));
    } catch (thrown) {
      if (thrown instanceof NotSignedIn) return signedOut(ctx, handed.door, mode, page);
      sendProblem(ctx, visit, problemOf(handed, thrown));
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

async function read(visit: Visit, page: ReadPage, limitMs: number): Promise<void> {
  const { ctx, door } = visit;
  const screen = await withinTime({ limitMs, answer: ctx.res }, () => page.show(visit), door.late);
  sendScreen(visit, screen);
}

type Posting = { readonly confirm: Confirm; readonly leftMs: number };

async function post(visit: Visit, form: FormPage, { confirm, leftMs }: Posting): Promise<void> {
  const { ctx, door, owner, mode } = visit;
  const counting = async () => form.isTest && (await door.countTest(ctx, owner, mode, visit.params['id']));
  await withinTime({ limitMs: leftMs, answer: ctx.res }, counting, door.late);
  const posted = await postForm(visit, form, { confirm, limitMs: leftMs + (form.extraMs ?? 0) });
  if ('screen' in posted) return sendScreen(visit, posted.screen);
  ctx.status = 303;
  ctx.set('Location', posted.location);
  ctx.type = 'text/plain';
  ctx.body = `Go on at ${posted.location}`;
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
function signedOut(ctx: Context, door: Door, mode: Mode, page: Restricted): void {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  const isPage = PAGES.reads.some(({ path }) => path === page.path);
  const next = isRead ? `${ctx.path}${ctx.search}` : isPage ? ctx.path : baseOf(mode);
  const login = `${door.prefix}/login?${new URLSearchParams({ next: door.prefix + next })}`;
  ctx.state['code'] = 'UNAUTHORIZED';
  ctx.status = 303;
  ctx.set('Location', login);
  ctx.type = 'text/plain';
  ctx.body = 'Sign in first';
}
