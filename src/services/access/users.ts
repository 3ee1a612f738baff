import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { Merchant, User } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import { isUuid } from '../../domain/ids.ts';
import { type ActionName, type Facts, recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { noMerchant, requireKnownMerchant } from '../merchants/known.ts';
import { Refusal } from '../refusal.ts';
import { addPasswordLink, endPasswordLinks, type NewPasswordLink } from './password-links.ts';
import { checkNewPassword, decoyHash, hashPassword } from './passwords.ts';
import { endSessionsOf } from './sessions.ts';
import { type NewTotp, newTotp } from './totp.ts';

const MAX_EMAIL = 320;
const MAX_USERS_LISTED = 1_000;

/** A user as operators see it. */
export type UserView = {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string;
  readonly totp: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
};

/** The one spelling of an email under which a user is found: case and surrounding spaces do not count. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** What became of a user. `link` sets the password; it is null when the operator gave a password. */
export type UserChange = { readonly userId: string; readonly link: NewPasswordLink | null };

/**
 * Makes a user who signs in for the merchant; without a password, nobody can sign in as this user until
 * the link was used. Throws a {@link Refusal}: unknown merchant, bad or used email, weak password.
 */
export async function createUser(
  deps: Deps,
  input: { readonly merchantId: string; readonly email: string; readonly password?: string | undefined },
): Promise<UserChange> {
  const email = checkEmail(input.email);
  const passwordHash = await hashOf(input.password, email);
  try {
    return await deps.orm.em.fork().transactional(async (em) => {
      const merchant = isUuid(input.merchantId) ? await em.findOne(Merchant, input.merchantId) : null;
      if (!merchant) throw noMerchant(input.merchantId);
      const id = await addUser(em, deps, { merchantId: merchant.id, email, passwordHash });
      const link = input.password === undefined ? await addPasswordLink(em, deps, id) : null;
      await recordAction(em, deps, {
        action: 'user.create',
        merchantId: merchant.id,
        subject: id,
        after: linkFacts(link),
      });
      return { userId: id, link };
    });
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new Refusal(
      'INVALID',
      `There is a user ${email} already. Give the person a new password with "user reset-password".`,
      'email',
    );
  }
}

/**
 * Adds a user inside the caller's transaction and returns the id. Throws
 * {@link UniqueConstraintViolationException} where the email is another user's, of any merchant.
 */
export async function addUser(
  em: Em,
  deps: Pick<Deps, 'now' | 'newId'>,
  user: Pick<User, 'merchantId' | 'email' | 'passwordHash'>,
): Promise<string> {
  const { merchantId, email, passwordHash } = user;
  const id = deps.newId();
  const now = deps.now();
  em.create(User, {
    id,
    merchantId,
    email,
    passwordHash,
    totpSealed: null,
    totpLastStep: null,
    createdAt: now,
    updatedAt: now,
    lastLoginAt: null,
    removedAt: null,
  });
  await em.flush();
  return id;
}

/**
 * Ends the old password at once, with every session and every link of the user.
 * The new one is the given password, or whatever the user sets by the link that
 * is returned. Throws a {@link Refusal} for an unknown email or a weak password.
 */
export async function resetPassword(
  deps: Deps,
  input: { readonly email: string; readonly password?: string | undefined },
): Promise<UserChange> {
  const email = checkEmail(input.email);
  const passwordHash = await hashOf(input.password, email);
  return await deps.orm.em.fork().transactional(async (em) => {
    const user = await lockUser(em, email);
    const link = input.password === undefined ? await addPasswordLink(em, deps, user.id) : null;
    if (!link) await endPasswordLinks(em, user.id);
    await changeProof(em, deps, user, {
      action: 'user.reset-password',
      changes: { passwordHash },
      facts: linkFacts(link),
    });
    return { userId: user.id, link };
  });
}

/**
 * From now on the user is asked for a code at every login. It comes from a new
 * secret, which is returned and shown this once. Ends every session: they were
 * opened without the code. Throws a {@link Refusal} for an unknown email.
 */
export async function enableTotp(deps: Deps, input: { readonly email: string }): Promise<NewTotp> {
  const email = checkEmail(input.email);
  const totp = newTotp(email);
  await changeTotp(deps, email, (user) => ({
    totpSealed: deps.secretBox.seal(totp.secret, user.id),
    totpLastStep: null,
  }));
  return totp;
}

/** From now on no code is asked for. Ends every session. Throws a {@link Refusal} for an unknown email. */
export async function disableTotp(deps: Deps, input: { readonly email: string }): Promise<UserView> {
  return await changeTotp(deps, checkEmail(input.email), () => ({ totpSealed: null, totpLastStep: null }));
}

/**
 * The users of one merchant, or of all, by email, at most
 * 1,000. Throws a {@link Refusal} for an unknown merchant.
 */
export async function listUsers(
  deps: Deps,
  filter: { readonly merchantId?: string | undefined } = {},
): Promise<UserView[]> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, filter.merchantId);
  const where = {
    removedAt: null,
    ...(filter.merchantId === undefined ? {} : { merchantId: filter.merchantId }),
  };
  const rows = await em.find(User, where, { orderBy: { email: 'asc' }, limit: MAX_USERS_LISTED });
  return rows.map(viewOf);
}

type Changes = Partial<Pick<User, 'passwordHash' | 'totpSealed' | 'totpLastStep' | 'removedAt'>>;

export type ProofChange = {
  readonly action: ActionName;
  readonly changes: Changes;
  /** What the audit row says besides the change itself. */
  readonly facts?: Facts;
  /** The session that goes on, of a user who changes it; all others end. */
  readonly kept?: string;
};

/**
 * Changes how a user proves who they are, and ends what was proven before: sessions, and the networks
 * that count as the owner's. Runs inside the caller's transaction, which holds the user's row.
 */
export async function changeProof(
  em: Em,
  deps: TxDeps,
  user: User,
  { action, changes, facts, kept }: ProofChange,
): Promise<void> {
  const before = factsOf(user);
  Object.assign(user, changes, { updatedAt: deps.now() });
  await em.flush();
  const { merchantId, id: subject } = user;
  await recordAction(em, deps, {
    action,
    merchantId,
    subject,
    before,
    after: { ...factsOf(user), ...facts },
  });
  await endSessionsOf(em, user.id, kept);
  // The network that a thief came from must not keep the budget of an owner's own network.
  await run(em, sql`delete from user_sites where user_id = ${user.id}`);
}

async function changeTotp(deps: Deps, email: string, changesOf: (user: User) => Changes): Promise<UserView> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const user = await lockUser(em, email);
    await changeProof(em, deps, user, { action: 'user.totp', changes: changesOf(user) });
    return viewOf(user);
  });
}

/**
 * The hash of the password; without a password, one that no
 * password has: at a login it takes the same time as any other.
 */
async function hashOf(password: string | undefined, email: string): Promise<string> {
  return password === undefined ? decoyHash() : await hashPassword(checkNewPassword(password, email));
}

/** The id of a link opens nothing; it ties the use of the link to the person who asked for it. */
function linkFacts(link: NewPasswordLink | null): Facts {
  return link ? { link: link.id } : {};
}

async function lockUser(em: Em, email: string): Promise<User> {
  const user = await em.findOne(User, { email, removedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!user) throw new Refusal('NOT_FOUND', `There is no user ${email}. List the users with "list users".`);
  return user;
}

/**
 * The one spelling of an email. Throws a {@link Refusal} for what has not one @ with something on
 * both sides and no space: whether the address exists is for whoever gives it to know.
 */
export function checkEmail(given: string): string {
  const email = normaliseEmail(given);
  if (
    email.length > MAX_EMAIL ||
    !email.isWellFormed() ||
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused here
    !/^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/.test(email)
  ) {
    throw new Refusal(
      'INVALID',
      `The email must be an address such as name@example.com of at most ${MAX_EMAIL} characters.`,
      'email',
    );
  }
  return email;
}

/** Facts without anything of a password and without the email, which is in the user's own row. */
function factsOf(user: User): Facts {
  return { totp: Boolean(user.totpSealed) };
}

function viewOf(user: User): UserView {
  return {
    id: user.id,
    merchantId: user.merchantId,
    email: user.email,
    totp: Boolean(user.totpSealed),
    createdAt: user.createdAt,
    lastLoginAt: user.lastLoginAt ?? null,
  };
}
