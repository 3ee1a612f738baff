import type { Context } from 'koa';
import type { Mode } from '../../domain/assets.ts';
import { type SessionOwner, stepUpEnd } from '../../services/access/sessions.ts';
import { signedInAs } from '../../services/access/signed-in/standing.ts';
import type { Deps } from '../../services/deps.ts';
import { pendingWithdrawChanges } from '../../services/merchants/withdraw-notices.ts';
import type { Door } from './door.ts';
import type { Standing, Visit } from './visit.ts';

/** Nobody is signed in, or not any more. */
export class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn';
}

/** What stays open while the merchant's subscription has lapsed. */
const STAYS_OPEN = /^\/(settings|account)(\/|$)/;

/** Where the pages of a mode begin. */
export function baseOf(mode: Mode): string {
  return mode === 'live' ? '/dashboard' : '/dashboard/test';
}

type Entering = {
  readonly deps: Deps;
  readonly door: Door;
  readonly ctx: Context;
  readonly mode: Mode;
  readonly path: string;
};

/**
 * Everything that is decided before the page itself, in the order of the API: who asks, whether one of our
 * own pages sent the form, whether the subscription is active, how often. Throws {@link NotSignedIn}, and
 * what the door refuses.
 */
export async function enter({ deps, door, ctx, mode, path }: Entering): Promise<Visit> {
  const owner = await door.findOwner(ctx);
  if (!owner) {
    await door.countPublic(ctx);
    throw new NotSignedIn();
  }
  ctx.state['caller'] = { ...owner, kind: 'session', mode };
  if (!door.isOwnOrigin(ctx.req)) throw door.refusal('CSRF');
  await door.countUser(ctx, owner, mode);
  const visit = await visitOf({ deps, door, ctx, mode }, owner);
  if (!owner.subscribed && !STAYS_OPEN.test(path)) throw door.refusal('SUBSCRIPTION_REQUIRED');
  return visit;
}

async function visitOf(
  { deps, door, ctx, mode }: Omit<Entering, 'path'>,
  owner: SessionOwner,
): Promise<Visit> {
  const actor = { kind: 'user', userId: owner.userId, from: door.networkOf(ctx) } as const;
  const base = door.prefix + baseOf(mode);
  const scope = { merchantId: owner.merchantId, mode };
  const params: Visit['params'] = ctx['params'] ?? {};
  return {
    ctx,
    door,
    deps: { ...deps, actor },
    owner,
    mode,
    scope,
    standing: await standingOf(deps, owner),
    params,
    named: { ...scope, id: params['id'] ?? '' },
    query: door.readQuery(ctx.querystring),
    to: (path, query = {}) => {
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, `${value}`] as [string, string]],
      );
      return `${base}${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
    },
    inTurn: (work) => door.readList(owner.merchantId, work),
  };
}

async function standingOf(deps: Deps, owner: SessionOwner): Promise<Standing> {
  const [names, withdrawals] = await Promise.all([
    signedInAs(deps, owner),
    pendingWithdrawChanges(deps, owner.merchantId),
  ]);
  return {
    ...names,
    steppedUpUntil: stepUpEnd(owner.steppedUpAt, deps.now()) ?? null,
    withdrawals,
  };
}
