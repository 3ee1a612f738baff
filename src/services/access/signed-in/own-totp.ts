import { LockMode } from '@mikro-orm/core';
import { User } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, run, sql } from '../../../db/sql.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { notFound, stepUpRequired } from '../../refusal.ts';
import { openedIfKnown } from '../../secrets/sealed.ts';
import { renewSession, type SessionOwner } from '../sessions.ts';
import { type Counted, giveBack } from '../throttle.ts';
import { type NewTotp, newTotp, shownTotp, stepOfCode } from '../totp.ts';
import { changeProof } from '../users.ts';
import { requireStepUp, steppedUpUntil } from './step-up.ts';

const PENDING_MS = 10 * 60_000;

/** A secret that counts once a code of it was given; until then the user signs in as before. */
export type PendingTotp = NewTotp & { readonly expiresAt: Date };

export type ConfirmingTotp =
  | { readonly kind: 'confirmed'; readonly token: string }
  /** The code is not one of the new secret. */
  | { readonly kind: 'refused' }
  /** There is nothing to confirm, or it has expired: begin again. */
  | { readonly kind: 'none' };

/**
 * A new secret for the caller's authenticator app. It is kept sealed on the session for ten minutes, is
 * shown to nobody else, and takes the place of one that was not confirmed. Throws a STEP_UP_REQUIRED
 * {@link Refusal}.
 */
export async function beginTotp(em: Em, deps: TxDeps, owner: SessionOwner): Promise<PendingTotp> {
  await requireStepUp(em, deps, owner);
  const totp = newTotp(await emailOf(em, owner));
  const expiresAt = new Date(deps.now().getTime() + PENDING_MS);
  await run(
    em,
    sql`update sessions set totp_pending = ${deps.secretBox.seal(totp.secret, owner.sessionId)},
      totp_pending_until = ${expiresAt} where id = ${owner.sessionId}`,
  );
  return { ...totp, expiresAt };
}

/**
 * The secret that {@link beginTotp} made, to be shown again; undefined where there is
 * none, where it has expired, and where this sign-in is not stepped up any more.
 */
export async function pendingTotp(deps: Deps, owner: SessionOwner): Promise<PendingTotp | undefined> {
  if (!(await steppedUpUntil(deps, owner))) return undefined;
  const em = deps.orm.em.fork();
  const pending = await findPending(em, deps, owner);
  return pending && { ...shownTotp(pending.secret, await emailOf(em, owner)), expiresAt: pending.expiresAt };
}

/**
 * From now on the caller is asked for codes of the new secret, if this is one: an app that was set up wrongly
 * locks nobody out. The code is used by that. Wrong ones count like those of a login. Every other session
 * ends; this one goes on under another token, without its step-up. Throws a STEP_UP_REQUIRED {@link Refusal}.
 */
export async function confirmTotp(
  em: Em,
  deps: TxDeps,
  owner: SessionOwner,
  { code, counted }: { readonly code: string; readonly counted: Counted },
): Promise<ConfirmingTotp> {
  const user = await lockOwn(em, deps, owner);
  const pending = await findPending(em, deps, owner);
  if (!pending) return { kind: 'none' };
  const step = stepOfCode(pending.secret, code, deps.now());
  if (step === undefined) return { kind: 'refused' };
  const totpSealed = deps.secretBox.seal(pending.secret, user.id);
  const token = await change(em, deps, { owner, user }, { totpSealed, totpLastStep: step });
  await giveBack(em, counted.who, counted.at);
  return { kind: 'confirmed', token };
}

/**
 * From now on the caller is asked for no code. Every other session ends; this one goes on under another
 * token, which is returned, without its step-up. Throws a {@link Refusal}: STEP_UP_REQUIRED, whose step-up
 * asks for a code, and NOT_FOUND where no code is asked for anyway.
 */
export async function endOwnTotp(
  em: Em,
  deps: TxDeps,
  owner: SessionOwner,
): Promise<{ readonly token: string }> {
  const user = await lockOwn(em, deps, owner);
  if (!user.totpSealed) throw notFound('authenticator app');
  const changes = { totpSealed: null, totpLastStep: null };
  return { token: await change(em, deps, { owner, user }, changes) };
}

type Changed = { readonly owner: SessionOwner; readonly user: User };

async function change(
  em: Em,
  deps: TxDeps,
  { owner, user }: Changed,
  changes: Pick<User, 'totpSealed' | 'totpLastStep'>,
): Promise<string> {
  await changeProof(em, deps, user, { action: 'user.totp', changes, kept: owner.sessionId });
  await run(
    em,
    sql`update sessions set totp_pending = null, totp_pending_until = null where id = ${owner.sessionId}`,
  );
  return await renewSession(em, owner, null);
}

/** The caller's own row, locked before the session as everywhere. */
async function lockOwn(em: Em, deps: TxDeps, owner: SessionOwner): Promise<User> {
  const user = await em.findOne(User, owner.userId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  await requireStepUp(em, deps, owner);
  if (!user) throw stepUpRequired();
  return user;
}

type Pending = { readonly secret: string; readonly expiresAt: Date };

async function findPending(
  em: Em,
  { secretBox, now }: TxDeps,
  { sessionId, userId }: SessionOwner,
): Promise<Pending | undefined> {
  const row = await firstRow(
    em,
    sql<{
      totpPending: Buffer;
      totpPendingUntil: string;
    }>`select totp_pending, totp_pending_until from sessions
      where id = ${sessionId} and user_id = ${userId} and totp_pending_until > ${now()}
        and totp_pending_until <= ${new Date(now().getTime() + PENDING_MS)}`,
  );
  // One that was sealed under a key that is gone is begun again.
  const secret = row && openedIfKnown(secretBox, row.totpPending, sessionId);
  return secret === undefined ? undefined : { secret, expiresAt: new Date(row?.totpPendingUntil ?? 0) };
}

async function emailOf(em: Em, { userId }: SessionOwner): Promise<string> {
  const row = await firstRow(em, sql<{ email: string }>`select email from users where id = ${userId}`);
  return row?.email ?? '';
}
