import { User } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import type { Deps } from '../../deps.ts';
import { Refusal, stepUpRequired } from '../../refusal.ts';
import { endPasswordLinks } from '../password-links.ts';
import { checkNewPassword } from '../passwords.ts';
import { createLook, findAccount, type ProofOptions, type Throttled } from '../proof.ts';
import { renewSession, type SessionOwner } from '../sessions.ts';
import { changeProof } from '../users.ts';

export type OwnPasswordInput = {
  /** The password that counts until now. */
  readonly present: string;
  /** The code of an authenticator app; ignored for a user without one. */
  readonly totp?: string | undefined;
  /** The password that is to count from now on. */
  readonly password: string;
  /** Where the caller comes from: an IPv4 address, or the /64 of an IPv6 one. */
  readonly site: string;
};

/**
 * A change whose proof looked right. `apply` makes it in the caller's transaction: `token` takes the place of
 * the session's former one. It is refused where the code was used, or the password changed, meanwhile:
 * nothing changes then. Throws a STEP_UP_REQUIRED {@link Refusal} for a session that has ended.
 */
export type PreparedPassword = {
  readonly kind: 'right';
  readonly apply: (
    em: Em,
  ) => Promise<{ readonly kind: 'changed'; readonly token: string } | { readonly kind: 'refused' }>;
};

/**
 * Prepares a change of the password of a session's own user. Throws a {@link Refusal} for a weak or unchanged
 * password and for a session that has ended, and {@link LineIsFull}.
 */
export type OwnPasswordChange = (
  owner: SessionOwner,
  input: OwnPasswordInput,
) => Promise<PreparedPassword | { readonly kind: 'refused' } | Throttled>;

/**
 * The changes of own passwords in one process. The present password, and the code, are asked for by the form
 * itself and count like a login, so an earlier step-up is not needed. Every other session of the
 * user ends, and every link; this one goes on under another token, so that nobody goes on with a copy of it.
 * Its step-up ends, because it speaks of a password that is no more: the next one asks for the new one.
 */
export function createOwnPasswordChange(deps: Deps, options: ProofOptions = {}): OwnPasswordChange {
  const { within = (work) => work() } = options;
  const look = createLook(deps, options);
  return async (owner, { present, totp, password, site }) => {
    const account = await within(() => findAccount(deps, { userId: owner.userId }, site));
    if (!account) throw stepUpRequired();
    // What would be refused in any case comes first, so that a slip costs no try.
    const newPassword = checkNewPassword(password, account.email);
    if (newPassword === present.normalize('NFKC'))
      throw new Refusal('INVALID', 'The new password is the present one. Choose another.', 'password');
    const claim = { password: present, totp, site, email: account.email, account, newPassword };
    const seen = await look(claim);
    if (seen.kind !== 'right') return seen;
    const change = async (em: Em): Promise<string> => {
      const user = await em.findOneOrFail(User, account.id);
      await endPasswordLinks(em, user.id);
      await changeProof(em, { ...deps, actor: { kind: 'user', userId: user.id, from: site } }, user, {
        action: 'user.change-password',
        changes: {},
        kept: owner.sessionId,
      });
      return await renewSession(em, owner, null);
    };
    return {
      kind: 'right',
      apply: async (em) => {
        const proven = await seen.use(em, () => change(em));
        return proven.kind === 'proven' ? { kind: 'changed', token: proven.value } : proven;
      },
    };
  };
}
