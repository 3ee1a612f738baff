import {
  createWaitingLine,
  type InLine,
  LineIsFull,
  type LineLimits,
} from '../../base/async/waiting-line.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import { networksOf } from '../../domain/client-networks.ts';
import type { Deps } from '../deps.ts';
import {
  decoyHash,
  hashPassword,
  isOutdated,
  isPassword,
  PASSWORD_COST,
  type PasswordCost,
} from './passwords.ts';
import { addSession, endSessions } from './sessions.ts';
import { type Attempt, giveBack, takeAttempt } from './throttle.ts';
import { stepOfCode } from './totp.ts';
import { normaliseEmail } from './users.ts';

/**
 * Hashing takes 19 MiB and one of the four threads that files and
 * name lookups need too: so two at a time, however many come.
 */
const LINE: LineLimits = {
  running: 2,
  places: 256,
  placesKept: 32,
  placesOfKey: 32,
  placesOfKnownKey: 8,
  waitMs: 10_000,
};
const BUSY_RETRY_SECONDS = 2;
const MAX_SITES_OF_USER = 100;

export type LoginInput = {
  readonly email: string;
  readonly password: string;
  /** The code of an authenticator app; ignored for a user without one. */
  readonly totp?: string | undefined;
  /** Where the caller comes from: an IPv4 address, or the /64 of an IPv6 one. */
  readonly site: string;
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
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

export type LoginOptions = {
  /** Bounds each wait for the database. */
  readonly within?: <T>(work: () => Promise<T>) => Promise<T>;
  readonly cost?: PasswordCost;
  readonly line?: LineLimits;
};

/** Signs people in. Throws {@link LineIsFull} when more logins wait than this process takes. */
export type Login = (input: LoginInput) => Promise<LoginResult>;

type Candidate = {
  readonly id: string;
  readonly merchant_id: string;
  readonly password_hash: string;
  readonly totp_sealed: Buffer | null;
  readonly known: boolean;
};

/**
 * A login of one process. Each try is counted before its password is looked at, wrong ones
 * stay counted, and an account that does not exist takes the same time as one that does.
 */
export function createLogin(deps: Deps, options: LoginOptions = {}): Login {
  const { within = (work) => work(), cost = PASSWORD_COST } = options;
  const line = createWaitingLine(options.line ?? LINE);
  const decoy = decoyHash(cost);

  const attempt = async (
    input: LoginInput,
    email: string,
    user: Candidate | undefined,
  ): Promise<LoginResult> => {
    const who = { site: input.site, email, known: user?.known ?? false };
    const taken = await within(() => takeAttempt(deps, who));
    if (!taken.ok) return { kind: 'throttled', retryAfterSeconds: taken.retryAfterSeconds };
    const isRight = await isPassword(user?.password_hash ?? decoy, input.password);
    // Checked in any case: if the code were asked for only after
    // the right password, it would give the password away.
    const step = stepOf(deps, user, input.totp);
    if (!user || !isRight || step === 'wrong') return { kind: 'refused' };
    const newHash = isOutdated(user.password_hash, cost)
      ? await hashPassword(input.password, cost)
      : user.password_hash;
    const token = await within(() =>
      open(deps, { who, at: taken.at, user, step, newHash, previousTokens: input.previousTokens ?? [] }),
    );
    return token === undefined
      ? { kind: 'refused' }
      : { kind: 'signed-in', userId: user.id, merchantId: user.merchant_id, token };
  };

  return async (input) => {
    const email = normaliseEmail(input.email);
    const user = await within(() => findCandidate(deps, email, input.site));
    try {
      return await line(placeOf(input, user), () => attempt(input, email, user));
    } catch (error) {
      if (error instanceof LineIsFull && error.ofKey)
        return { kind: 'throttled', retryAfterSeconds: BUSY_RETRY_SECONDS };
      throw error;
    }
  };
}

/**
 * Strangers share the places of the network around their site, because a site is too easy to
 * get. An owner at a known site has places of the account's own, which no neighbour can take.
 */
function placeOf({ site }: LoginInput, user: Candidate | undefined): InLine {
  if (user?.known) return { key: user.id, known: true };
  const [own, next = own] = networksOf(site);
  return { key: next.network, known: false };
}

async function findCandidate(deps: Deps, email: string, site: string): Promise<Candidate | undefined> {
  const pool = await deps.orm.em.getConnection().getNativeClient();
  const { rows } = await pool.query<Candidate>({
    name: 'find-login',
    text: `select u.id, u.merchant_id, u.password_hash, u.totp_sealed,
             exists (select 1 from user_sites s where s.user_id = u.id and s.site = $2) as known
           from users u where u.email = $1`,
    values: [email, site],
  });
  return rows[0];
}

/** The step of the code, null for a user without one. */
function stepOf(deps: Deps, user: Candidate | undefined, code: string | undefined): number | null | 'wrong' {
  if (!user?.totp_sealed) return null;
  return stepOfCode(deps.secretBox.open(user.totp_sealed, user.id), code ?? '', deps.now()) ?? 'wrong';
}

type Opening = {
  readonly who: Attempt;
  readonly at: number;
  readonly user: Candidate;
  readonly step: number | null;
  readonly newHash: string;
  readonly previousTokens: readonly string[];
};

/**
 * Opens the session, unless the code was used by another login or the user's password has
 * changed since it was checked: both are decided by the one update that holds the user's row.
 */
async function open(
  deps: Deps,
  { who, at, user, step, newHash, previousTokens }: Opening,
): Promise<string | undefined> {
  const now = deps.now();
  return await deps.orm.em.fork().transactional(async (em) => {
    const updated = await run(
      em,
      sql`update users set last_login_at = ${now}, password_hash = ${newHash},
        totp_last_step = coalesce(${step}::int, totp_last_step)
        where id = ${user.id} and password_hash = ${user.password_hash}
          and totp_sealed is not distinct from ${user.totp_sealed}
          and (${step}::int is null or totp_last_step is null or totp_last_step < ${step}::int)`,
    );
    if (updated === 0) return undefined;
    await giveBack(em, who, at);
    await rememberSite(em, { userId: user.id, site: who.site, now });
    await endSessions(em, previousTokens);
    return await addSession(em, deps, user.id);
  });
}

/**
 * Remembers the site: an owner at a known site has a budget of its own, so
 * that strangers cannot lock the owner out. The latest hundred are kept.
 */
async function rememberSite(
  em: Em,
  { userId, site, now }: { userId: string; site: string; now: Date },
): Promise<void> {
  await run(
    em,
    sql`insert into user_sites (user_id, site, last_login_at) values (${userId}, ${site}, ${now})
      on conflict (user_id, site) do update set last_login_at = excluded.last_login_at`,
  );
  await run(
    em,
    sql`delete from user_sites where (user_id, site) in
      (select user_id, site from user_sites where user_id = ${userId} order by last_login_at desc, site
        offset ${MAX_SITES_OF_USER})`,
  );
}
