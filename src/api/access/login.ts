import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { LineIsFull, type WaitingLine } from '../../base/async/waiting-line.ts';
import { accountHash } from '../../services/access/account-hash.ts';
import { createLogin, type LoginResult } from '../../services/access/login.ts';
import { endSessions, type SessionFinder } from '../../services/access/sessions.ts';
import { ApiError, unavailable } from '../errors.ts';
import { MAX_OPEN_BODY_BYTES, refuseLarge } from '../requests/body.ts';
import { BUDGET_MS, withinBudget } from '../requests/deadline.ts';
import {
  answerJson,
  fieldsOf,
  readFields,
  readsPages,
  redirect,
  shownRefusal,
  spoken,
  wantsPage,
} from '../requests/form.ts';
import { check, readQuery, refuseDetails } from '../validation.ts';
import { siteOf } from './client-address.ts';
import { forgedRequest } from './csrf.ts';
import type { PublicForm } from './public-form.ts';
import { clearedCookie, sessionCookie, sessionTokens } from './session-cookie.ts';

const MAX_NEXT = 2_048;
/** Where people go on who did not say where they wanted to be. */
const SIGNED_IN_PATH = '/dashboard';

/** The pages around a login; each sets the whole answer. `next` was checked to be a path of this gateway. */
export type LoginPages = {
  signIn(
    ctx: Context,
    view: {
      readonly status: number;
      readonly problem?: string;
      readonly email?: string;
      readonly next?: string;
    },
  ): void;
  signedIn(ctx: Context, view: { readonly prefix: string }): void;
};

export type LoginRoutes = PublicForm & {
  readonly pages: LoginPages;
  readonly findSession: SessionFinder;
  readonly publicUrl: string | undefined;
  readonly passwordLine?: WaitingLine | undefined;
};

const credentials = z.object({
  email: z.string().min(1).max(320, { abort: true }),
  password: z.string().min(1).max(1_024, { abort: true }),
  totp: z.string().max(20, { abort: true }).nullish(),
});
type Credentials = z.output<typeof credentials>;

/** `/login` and `/logout`, outside the API's base path: JSON for programs, pages for browsers. */
export function addLoginRoutes(router: Router, options: LoginRoutes): void {
  const { deps, pages, isOwnOrigin } = options;
  const prefix = prefixOf(options.publicUrl);
  const signIn = createSignIn(options);

  router.get('/login', async (context) => {
    const ctx = context as unknown as Context;
    const next = nextOf(readQuery(ctx.querystring)['next'], prefix);
    try {
      await options.countPublic(ctx);
      if (await isSignedIn(ctx, options)) return pages.signedIn(ctx, { prefix });
      pages.signIn(ctx, { status: 200, ...next });
    } catch (thrown) {
      if (!readsPages(ctx)) throw thrown;
      const { status, message } = shownRefusal(ctx, thrown);
      pages.signIn(ctx, { status, problem: message, ...next });
    }
  });
  router.post('/login', async (context) => {
    const ctx = context as unknown as Context;
    if (!wantsPage(ctx)) {
      const { userId, merchantId } = await signIn(ctx);
      return answerJson(ctx, { user_id: userId, merchant_id: merchantId });
    }
    try {
      await signIn(ctx);
      redirect(ctx, nextOf(fieldsOf(ctx)['next'], prefix).next ?? `${prefix}${SIGNED_IN_PATH}`);
    } catch (thrown) {
      const { status, message } = shownRefusal(ctx, thrown);
      const { email, next } = fieldsOf(ctx);
      const shown = typeof email === 'string' ? { email } : {};
      pages.signIn(ctx, { status, problem: message, ...shown, ...nextOf(next, prefix) });
    }
  });
  router.post('/logout', async (context) => {
    const ctx = context as unknown as Context;
    if (!isOwnOrigin(ctx.req)) throw forgedRequest();
    refuseLarge(ctx, MAX_OPEN_BODY_BYTES);
    const tokens = sessionTokens(ctx.req);
    if (tokens.length > 0)
      await withinBudget({ limitMs: BUDGET_MS, answer: ctx.res }, () =>
        endSessions(deps.orm.em.fork(), tokens),
      );
    ctx.set('Set-Cookie', clearedCookie());
    if (wantsPage(ctx)) return redirect(ctx, `${prefix}/login`);
    answerJson(ctx, { signed_out: true });
  });
}

async function isSignedIn(ctx: Context, { findSession }: LoginRoutes): Promise<boolean> {
  const [token, ...others] = sessionTokens(ctx.req);
  if (token === undefined || others.length > 0) return false;
  const found = await withinBudget({ limitMs: BUDGET_MS, answer: ctx.res }, () => findSession(token));
  return found !== undefined;
}

/** The path that stands before ours where the public URL has one; otherwise empty. */
export function prefixOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

type SignedIn = Extract<LoginResult, { kind: 'signed-in' }>;

/** Signs in with what a request carries, and sets the cookie of the session. Throws where it is refused. */
function createSignIn(options: LoginRoutes): (ctx: Context) => Promise<SignedIn> {
  const { deps, isOwnOrigin } = options;
  const login = createLogin(deps, {
    within: (work) => withinBudget({ limitMs: BUDGET_MS }, work),
    ...(options.passwordLine ? { line: options.passwordLine } : {}),
  });
  return async (ctx) => {
    if (!isOwnOrigin(ctx.req)) throw forgedRequest();
    // Before the body is read: reading it is work that anybody could make us do.
    await withinBudget({ limitMs: BUDGET_MS }, () => options.countPublic(ctx));
    const { email, password, totp } = await readCredentials(ctx);
    const site = siteOf(options.addressOf(ctx.req));
    const result = await login({
      email,
      password,
      totp: totp ?? undefined,
      site,
      previousTokens: sessionTokens(ctx.req),
    }).catch(overload);
    if (result.kind === 'signed-in') {
      deps.log.info({ userId: result.userId, merchantId: result.merchantId, site }, 'signed in');
      ctx.set('Set-Cookie', sessionCookie(result.token));
      return result;
    }
    // Goes into the request's log line, beside its code: it tells whose
    // account somebody tries, without a name.
    ctx.state['account'] = accountHash(deps.secretBox, email);
    if (result.kind === 'refused')
      throw new ApiError('UNAUTHORIZED', 'The email, the password or the code is not right.');
    const seconds = result.retryAfterSeconds;
    const headers = { 'Retry-After': `${seconds}` };
    throw new ApiError('RATE_LIMITED', `Too many failed logins. Try again in ${spoken(seconds)}.`, {
      headers,
    });
  };
}

/**
 * A path of our own with its query, or nothing: anything that a browser would read as another origin is no
 * path, and what does not lie below `prefix` belongs to somebody else of this host.
 */
export function nextOf(given: unknown, prefix = ''): { readonly next?: string } {
  if (typeof given !== 'string' || given.length > MAX_NEXT || !given.startsWith('/')) return {};
  // Browsers take a backslash for a slash and drop tabs and line feeds; a parser with an origin of our own as
  // its base does the same and shows what the browser would see.
  const base = 'http://own.invalid';
  if (!URL.canParse(given, base)) return {};
  const url = new URL(given, base);
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === base && path.startsWith(`${prefix}/`) && !path.startsWith('//') ? { next: path } : {};
}

async function readCredentials(ctx: Context): Promise<Credentials> {
  const { value, details } = check(credentials, await readFields(ctx));
  refuseDetails(details);
  return value as Credentials;
}

function overload(error: unknown): never {
  throw error instanceof LineIsFull ? unavailable(error) : error;
}
