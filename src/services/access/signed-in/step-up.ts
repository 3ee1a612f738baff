import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import type { Deps } from '../../deps.ts';
import { stepUpRequired } from '../../refusal.ts';
import { holdUser } from '../../within.ts';
import { createProver, findAccount, type Proof, type ProofOptions, type Throttled } from '../proof.ts';
import { renewSession, type SessionOwner, STEP_UP_MS, stepUpEnd } from '../sessions.ts';
import { type Counted, takeAttempt } from '../throttle.ts';

/** `token` takes the place of the former one, `owner` is who has it; the step-up ends at `until`. */
export type SteppingUp =
  | {
      readonly kind: 'stepped-up';
      readonly token: string;
      readonly owner: SessionOwner;
      readonly until: Date;
    }
  | { readonly kind: 'refused' }
  | Throttled;

/**
 * Notes on a session that its user has shown password and code again. Throws a STEP_UP_REQUIRED
 * {@link Refusal} for a session that has ended, and {@link LineIsFull}.
 */
export type StepUp = (owner: SessionOwner, proof: Proof) => Promise<SteppingUp>;

/**
 * The step-ups of one process: the proof of a login, in its line and by its budgets, so that a stolen session
 * gives nobody one more guess. It counts for this session alone, whose token changes: a copy of
 * the cookie that was stolen before it does not get the owner's step-up, and has nothing any more.
 */
export function createStepUp(deps: Deps, options: ProofOptions = {}): StepUp {
  const { within = (work) => work() } = options;
  const prove = createProver(deps, options);
  return async (owner, { password, totp, site }) => {
    const account = await within(() => findAccount(deps, { userId: owner.userId }, site));
    if (!account) throw stepUpRequired();
    const proven = await prove({ password, totp, site, email: account.email, account }, async (em) => {
      const now = deps.now();
      const token = await renewSession(em, owner, now);
      return {
        token,
        owner: { ...owner, steppedUpAt: now },
        until: new Date(now.getTime() + STEP_UP_MS),
      };
    });
    return proven.kind === 'proven' ? { kind: 'stepped-up', ...proven.value } : proven;
  };
}

/**
 * Lets a change go on whose session was stepped up in the last ten minutes, and holds the session until the
 * transaction ends: one that ends at the same moment ends before the change or after it. Only a step-up
 * counts that the request's own token had: a request that came by a copy of the cookie and waits has nothing
 * of the one that the owner makes meanwhile. It is the first statement of the transaction, or comes right
 * after the locks of users. Throws a STEP_UP_REQUIRED {@link Refusal}.
 */
export async function requireStepUp(em: Em, deps: Pick<Deps, 'now'>, owner: SessionOwner): Promise<void> {
  await holdUser(em, owner.userId);
  if (!(await untilOf(em, deps, owner, true))) throw stepUpRequired();
}

/**
 * Until when this sign-in needs no other step-up; undefined where
 * it needs one. For pages: only {@link requireStepUp} decides.
 */
export async function steppedUpUntil(deps: Deps, owner: SessionOwner): Promise<Date | undefined> {
  return await untilOf(deps.orm.em.fork(), deps, owner, false);
}

/**
 * Counts a try of a session that was stepped up, before what it tries is looked at: the caller gives it back
 * where it was right. Throws a STEP_UP_REQUIRED {@link Refusal} for one that may not try, at nobody's cost.
 */
export async function countTry(deps: Deps, owner: SessionOwner, site: string): Promise<Counted | Throttled> {
  const account = await findAccount(deps, { userId: owner.userId }, site);
  if (!account || !(await steppedUpUntil(deps, owner))) throw stepUpRequired();
  const who = { site, email: account.email, known: account.known };
  const taken = await takeAttempt(deps, who);
  if (!taken.ok) return { kind: 'throttled', retryAfterSeconds: taken.retryAfterSeconds };
  return { kind: 'counted', who, at: taken.at };
}

async function untilOf(
  em: Em,
  { now }: Pick<Deps, 'now'>,
  { sessionId, userId, steppedUpAt: known }: SessionOwner,
  held: boolean,
): Promise<Date | undefined> {
  if (!known) return undefined;
  const row = await firstRow(
    em,
    sql<{ steppedUpAt: string | null }>`select stepped_up_at from sessions
      where id = ${sessionId} and user_id = ${userId} ${held ? sql`for key share` : sql``}`,
  );
  // The row's own may be a later one: of a second post of the same form, which was confirmed meanwhile.
  return row?.steppedUpAt && stepUpEnd(new Date(row.steppedUpAt), now())
    ? stepUpEnd(known, now())
    : undefined;
}
