import type Router from '@koa/router';
import type { Context } from 'koa';
import type { SessionFinder, SessionOwner } from '../../services/access/sessions.ts';
import {
  endOtherSessions,
  endOwnSession,
  listOwnSessions,
} from '../../services/access/signed-in/own-sessions.ts';
import type { Deps } from '../../services/deps.ts';
import { ApiError } from '../errors.ts';
import { BUDGET_MS, withinBudget } from '../requests/deadline.ts';
import { type ClientAddress, siteOf } from './client-address.ts';
import { forgedRequest, type OriginRule } from './csrf.ts';
import { clearedCookie, sessionTokens } from './session-cookie.ts';

export type SessionRoutes = {
  readonly deps: Deps;
  readonly findSession: SessionFinder;
  readonly addressOf: ClientAddress;
  readonly isOwnOrigin: OriginRule;
  /** Counts a request by the client's address; throws 429. */
  readonly countPublic: (ctx: Context) => Promise<void>;
};

/**
 * `/sessions`, outside the API's base path: people see where they are signed in and
 * end what they do not know, also where the merchant's subscription has lapsed.
 */
export function addSessionRoutes(router: Router, options: SessionRoutes): void {
  const { deps, isOwnOrigin, countPublic } = options;

  const handle =
    (work: (acting: Deps, owner: SessionOwner, ctx: Context) => Promise<object>) =>
    async (context: unknown) => {
      const ctx = context as Context;
      await countPublic(ctx);
      const body = await withinBudget({ limitMs: BUDGET_MS, answer: ctx.res }, async () => {
        const owner = await ownerOf(options.findSession, ctx);
        if (!isOwnOrigin(ctx.req)) throw forgedRequest();
        const actor = {
          kind: 'user',
          userId: owner.userId,
          from: siteOf(options.addressOf(ctx.req)),
        } as const;
        return await work({ ...deps, actor }, owner, ctx);
      });
      ctx.status = 200;
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(body);
    };

  router.get(
    '/sessions',
    handle(async (acting, owner) => ({ data: await listOwnSessions(acting, owner) })),
  );
  router.delete(
    '/sessions',
    handle(async (acting, owner) => ({ ended: await endOtherSessions(acting, owner) })),
  );
  router.delete(
    '/sessions/:id',
    handle(async (acting, owner, ctx) => {
      const id = String(ctx['params'].id);
      await endOwnSession(acting, owner, id);
      if (id === owner.sessionId) ctx.set('Set-Cookie', clearedCookie());
      return { id, ended: true };
    }),
  );
}

async function ownerOf(findSession: SessionFinder, ctx: Context): Promise<SessionOwner> {
  const [token, ...others] = sessionTokens(ctx.req);
  const owner = token === undefined || others.length > 0 ? undefined : await findSession(token);
  if (!owner) throw new ApiError('UNAUTHORIZED', 'There is no session, or it has ended. Sign in again.');
  return owner;
}
