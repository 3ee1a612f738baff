import type { Context } from 'koa';
import { chainOf } from '../../chains/index.ts';
import type { Mode } from '../../domain/assets.ts';
import { type SessionOwner, stepUpEnd } from '../../services/access/sessions.ts';
import { signedInAs } from '../../services/access/signed-in/standing.ts';
import type { Deps } from '../../services/deps.ts';
import {
  pendingWithdrawChanges,
  type WithdrawChangeView,
} from '../../services/merchants/withdraw-notices.ts';
import type { Door, Problem } from './door.ts';
import type { PendingWithdrawal, ReadPage, Standing, Visit } from './visit.ts';

/** Nobody is signed in, or not any more. */
export class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn';
}

/**
 * Looks at the password, and the code, that a form carries: this sign-in has then proven who it is for ten
 * minutes and goes on under another token, which the answer carries; or says what is wrong. Throws
 * {@link NotSignedIn} for a session that ended meanwhile, and what the door throws where it is full.
 */
export type Confirm = (
  visit: Visit,
  values: Readonly<Record<string, string>>,
) => Promise<{ readonly visit: Visit } | { readonly problem: Problem }>;

/** Where the pages of a mode begin. */
export function baseOf(mode: Mode): string {
  return mode === 'live' ? '/dashboard' : '/dashboard/test';
}

type Entering = {
  readonly deps: Deps;
  readonly door: Door;
  readonly ctx: Context;
  readonly mode: Mode;
  readonly page: Pick<ReadPage, 'withoutSubscription'>;
};

/**
 * Everything that is decided before the page itself, in the order of the API: who asks, whether one of our
 * own pages sent the form, whether the subscription is active, how often. Throws {@link NotSignedIn}, and
 * what the door refuses.
 */
export async function enter({ deps, door, ctx, mode, page }: Entering): Promise<Visit> {
  const owner = await door.findOwner(ctx);
  if (!owner) {
    await door.countPublic(ctx);
    throw new NotSignedIn();
  }
  ctx.state['caller'] = { ...owner, kind: 'session', mode };
  if (!door.isOwnOrigin(ctx.req)) throw door.refusal('CSRF');
  await door.countUser(ctx, owner, mode);
  const visit = await visitOf({ deps, door, ctx, mode }, owner);
  if (!owner.subscribed && !page.withoutSubscription) throw door.refusal('SUBSCRIPTION_REQUIRED');
  return visit;
}

async function visitOf(
  { deps, door, ctx, mode }: Omit<Entering, 'page'>,
  owner: SessionOwner,
): Promise<Visit> {
  const actor = { kind: 'user', userId: owner.userId, from: door.networkOf(ctx) } as const;
  const base = door.prefix + baseOf(mode);
  return {
    ctx,
    door,
    deps: { ...deps, actor },
    owner,
    mode,
    scope: { merchantId: owner.merchantId, mode },
    standing: await standingOf(deps, owner),
    params: ctx['params'] ?? {},
    query: door.readQuery(ctx.querystring),
    to: (path, query = {}) => {
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, `${value}`] as [string, string]],
      );
      return `${base}${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
    },
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
    pendingWithdrawals: withdrawals.pending.map(noticeOf),
    refusedWithdrawals: withdrawals.refused.map((change) => ({
      ...noticeOf(change),
      reason: change.reason ?? '',
    })),
  };
}

function noticeOf({ id, network, address, countsAt }: WithdrawChangeView): PendingWithdrawal {
  return { id, network: chainOf(network).label, address, countsAt: countsAt.toISOString() };
}
