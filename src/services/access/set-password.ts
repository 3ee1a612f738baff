import { LockMode } from '@mikro-orm/core';
import { createWaitingLine, LineIsFull, type LineLimits } from '../../base/async/waiting-line.ts';
import { User } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Deps } from '../deps.ts';
import { findOpenLink, type OpenLink, takePasswordLink } from './password-links.ts';
import { checkNewPassword, hashPassword } from './passwords.ts';
import { giveBack, takeAttempt } from './throttle.ts';
import { changeProof } from './users.ts';

/**
 * Only callers with a link get here, and each link has one
 * place: this bounds how many passwords are hashed at once.
 */
const LINE: LineLimits = {
  running: 1,
  places: 64,
  placesKept: 0,
  placesOfKey: 1,
  placesOfKnownKey: 1,
  waitMs: 10_000,
};
const BUSY_RETRY_SECONDS = 2;

export type SettingPassword = {
  readonly token: string;
  readonly password: string;
  /** Where the caller comes from: an IPv4 address, or the /64 of an IPv6 one. */
  readonly site: string;
};

/** `refused` is one answer for a link that is unknown, used, replaced or expired. */
export type PasswordSetting =
  | { readonly kind: 'set'; readonly userId: string; readonly merchantId: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

/** Sets a password by a link. Throws a {@link Refusal} for a weak password, and {@link LineIsFull}. */
export type PasswordSetter = (input: SettingPassword) => Promise<PasswordSetting>;

/**
 * Sets passwords by the links of this process. Each try is counted for the networks that it comes from,
 * together with logins, before the link is looked up; wrong ones stay counted. Using a link does not
 * sign the user in: the next login asks for the code too. `within` bounds each wait for the database.
 */
export function createPasswordSetter(
  deps: Deps,
  within: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): PasswordSetter {
  const line = createWaitingLine(LINE);

  const attempt = async ({ token, password, site }: SettingPassword): Promise<PasswordSetting> => {
    // What would be refused for any link comes first, so that a slip costs neither the link nor the budget.
    checkNewPassword(password, '');
    const who = { site, email: null, known: false };
    const taken = await within(() => takeAttempt(deps, who));
    if (!taken.ok) return { kind: 'throttled', retryAfterSeconds: taken.retryAfterSeconds };
    const link = await within(() => findOpenLink(deps, token));
    if (!link) return { kind: 'refused' };
    const text = checkNewPassword(password, link.email);
    const passwordHash = await line({ key: link.id, known: false }, () => hashPassword(text));
    const merchantId = await within(() =>
      take(deps, link, { passwordHash, site }, (em) => giveBack(em, who, taken.at)),
    );
    return merchantId === undefined ? { kind: 'refused' } : { kind: 'set', userId: link.userId, merchantId };
  };

  return async (input) => {
    try {
      return await attempt(input);
    } catch (error) {
      if (error instanceof LineIsFull && error.ofKey)
        return { kind: 'throttled', retryAfterSeconds: BUSY_RETRY_SECONDS };
      throw error;
    }
  };
}

/**
 * The user's row is locked first, as by everything that changes how
 * users prove who they are. Returns the merchant if the link was open.
 */
async function take(
  deps: Deps,
  { id, userId }: OpenLink,
  { passwordHash, site }: { passwordHash: string; site: string },
  giveBackOf: (em: Em) => Promise<void>,
): Promise<string | undefined> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const user = await em.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!user || user.removedAt || !(await takePasswordLink(em, deps, id))) return undefined;
    const acting = { ...deps, actor: { kind: 'user', userId, from: site } as const };
    await changeProof(em, acting, user, {
      action: 'user.set-password',
      changes: { passwordHash },
      facts: { link: id },
    });
    await giveBackOf(em);
    return user.merchantId;
  });
}
