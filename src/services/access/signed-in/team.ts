import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { User } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { notFound, Refusal } from '../../refusal.ts';
import { addPasswordLink, endPasswordLinks } from '../password-links.ts';
import { decoyHash } from '../passwords.ts';
import type { Throttled } from '../proof.ts';
import type { SessionOwner } from '../sessions.ts';
import { type Counted, giveBack } from '../throttle.ts';
import { addUser, changeProof, checkEmail, listUsers, type UserView } from '../users.ts';
import { countTry, requireStepUp } from './step-up.ts';

/** Everybody of a team is locked where it changes. */
const MAX_TEAM = 100;

/** Somebody of the caller's team. */
export type TeamMember = UserView & {
  /** Until when the person may choose a password by a link that was not used; null without one. */
  readonly invitedUntil: Date | null;
  readonly isYou: boolean;
};

/** `path` is the link that the person is to be given, below the gateway's address. It is shown this once. */
export type Invited = { readonly userId: string; readonly path: string; readonly expiresAt: Date };

/** An invitation that was counted, and may be made. */
export type Invitation = { readonly kind: 'invitation'; readonly email: string; readonly counted: Counted };

/** Everybody who signs in for the caller's merchant, by email. */
export async function listTeam(deps: Deps, owner: SessionOwner): Promise<TeamMember[]> {
  const team = await listUsers(deps, { merchantId: owner.merchantId });
  const open = await rows(
    deps.orm.em.fork(),
    sql<{ userId: string; expiresAt: string }>`select user_id, expires_at from password_links
      where user_id = any(${team.map(({ id }) => id)}) and used_at is null and expires_at > ${deps.now()}`,
  );
  const until = new Map(open.map(({ userId, expiresAt }) => [userId, new Date(expiresAt)]));
  return team.map((user) => ({
    ...user,
    invitedUntil: until.get(user.id) ?? null,
    isYou: user.id === owner.userId,
  }));
}

/**
 * The URLs of endpoints to which this person of the team gave their address or their secret, by URL: they get
 * what happens also when the person is gone. At most the endpoints that there can be: 50 in each mode.
 */
export async function endpointsLeftBy(deps: Deps, owner: SessionOwner, userId: string): Promise<string[]> {
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ url: string }>`select url from webhook_endpoints e
      where merchant_id = ${owner.merchantId} and deleted_at is null and payment_link_id is null
        and exists (select 1 from operator_actions a where a.merchant_id = e.merchant_id
          and a.user_id = ${userId} and a.action in ('endpoint.create', 'endpoint.change')
          and a.subject = e.id::text
          and (a.after->>'url' is not null or a.after->>'secret_ends_with' is not null))
      order by url`,
  );
  return found.map(({ url }) => url);
}

/**
 * What {@link inviteUser} needs, outside of its transaction: each invitation is counted like a failed login
 * and given back where it is made, so that nobody asks of many emails whether they sign in here. Throws a
 * {@link Refusal}: STEP_UP_REQUIRED, which costs nobody anything, or INVALID for a text that is no email.
 */
export async function prepareInvitation(
  deps: Deps,
  owner: SessionOwner,
  input: { readonly email: string; readonly site: string },
): Promise<Invitation | Throttled> {
  const email = checkEmail(input.email);
  const counted = await countTry(deps, owner, input.site);
  return counted.kind === 'counted' ? { kind: 'invitation', email, counted } : counted;
}

/**
 * Makes a user of the caller's merchant, and a link by which that person, and nobody before, chooses a
 * password. An email is one user's in the whole gateway, so one that signs in for anybody is refused, with
 * one sentence for the own team and for other merchants. Throws a {@link Refusal}: STEP_UP_REQUIRED, or
 * INVALID for such an email and for a team of a hundred.
 */
export async function inviteUser(
  em: Em,
  deps: TxDeps,
  owner: SessionOwner,
  { email, counted }: Invitation,
): Promise<Invited> {
  await lockTeam(em, deps, owner);
  // Counted by a statement of its own: the one that waited for the locks does not see who came meanwhile.
  if ((await em.count(User, teamOf(owner))) >= MAX_TEAM) throw teamIsFull();
  const { merchantId } = owner;
  const userId = await addUser(em, deps, { merchantId, email, passwordHash: decoyHash() }).catch(
    (error: unknown) => {
      throw error instanceof UniqueConstraintViolationException ? signsInAlready(email) : error;
    },
  );
  const link = await addPasswordLink(em, deps, userId);
  const after = { link: link.id };
  await recordAction(em, deps, { action: 'user.invite', merchantId, subject: userId, after });
  await giveBack(em, counted.who, counted.at);
  return { userId, path: `/set-password#${link.token}`, expiresAt: link.expiresAt };
}

function signsInAlready(email: string): Refusal {
  return new Refusal(
    'INVALID',
    `${email} signs in at this gateway already and cannot be invited. Use another address of this person.`,
    'email',
  );
}

/**
 * Ends everything by which somebody of the caller's team signs in. The person stays in the audit list; the
 * email is free. Whoever removes stays, so a team never loses its last one. Throws a {@link Refusal}:
 * STEP_UP_REQUIRED, NOT_FOUND for who is not in the team, and INVALID for oneself.
 */
export async function removeUser(
  em: Em,
  deps: TxDeps,
  owner: SessionOwner,
  userId: string,
): Promise<{ readonly email: string }> {
  const team = await lockTeam(em, deps, owner);
  const user = team.find(({ id }) => id === userId);
  if (!user) throw notFound('user');
  if (user.id === owner.userId)
    throw new Refusal('INVALID', 'Nobody removes themselves: ask somebody else of the team.');
  await endPasswordLinks(em, user.id);
  await changeProof(em, deps, user, {
    action: 'user.remove',
    changes: { passwordHash: decoyHash(), totpSealed: null, totpLastStep: null, removedAt: deps.now() },
  });
  return { email: user.email };
}

/**
 * Everybody of the team, locked in one order: of two who remove each other one comes first, and
 * the other has no session any more. Throws a STEP_UP_REQUIRED {@link Refusal}.
 */
async function lockTeam(em: Em, deps: TxDeps, owner: SessionOwner): Promise<User[]> {
  const team = await em.find(User, teamOf(owner), {
    orderBy: { id: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
  });
  await requireStepUp(em, deps, owner);
  return team;
}

function teamOf({ merchantId }: SessionOwner) {
  return { merchantId, removedAt: null };
}

function teamIsFull(): Refusal {
  return new Refusal('INVALID', `A team has at most ${MAX_TEAM} people. Remove somebody first.`, 'email');
}
