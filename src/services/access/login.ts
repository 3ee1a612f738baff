import { run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';
import { createProver, findAccount, type Proof, type ProofOptions, type Throttled } from './proof.ts';
import { addSession, endSessions } from './sessions.ts';
import { normaliseEmail } from './users.ts';

export type LoginInput = Proof & {
  readonly email: string;
  /** Tokens of sessions that the request carried; they end when this login succeeds. */
  readonly previousTokens?: readonly string[];
};

/** `refused` is the same for everything that can be wrong, so that nobody learns which it was. */
export type LoginResult =
  | {
      readonly kind: 'signed-in';
      readonly userId: string;
      readonly merchantId: string;
      readonly token: string;
    }
  | { readonly kind: 'refused' }
  | Throttled;

/** Signs people in. Throws {@link LineIsFull} when more proofs wait than this process takes. */
export type Login = (input: LoginInput) => Promise<LoginResult>;

/** The logins of one process: whoever proves to be the user of an email gets a session. */
export function createLogin(deps: Deps, options: ProofOptions = {}): Login {
  const { within = (work) => work() } = options;
  const prove = createProver(deps, options);
  return async (input) => {
    const email = normaliseEmail(input.email);
    const account = await within(() => findAccount(deps, { email }, input.site));
    const proven = await prove({ ...input, email, account }, async (em, { id }) => {
      await run(em, sql`update users set last_login_at = ${deps.now()} where id = ${id}`);
      await endSessions(em, input.previousTokens ?? []);
      return await addSession(em, deps, { userId: id, site: input.site });
    });
    if (proven.kind !== 'proven') return proven;
    const { id: userId, merchantId } = proven.account;
    return { kind: 'signed-in', userId, merchantId, token: proven.value };
  };
}
